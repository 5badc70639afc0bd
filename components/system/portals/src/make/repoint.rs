//! Portals that lead to an instance which runs to completion, and lead elsewhere from now on: to another version of it.
//!
//! Threads wait in no such portal, and there is no table of all of them: upcalls of each domain and the end of each thread are among them. But every
//! address of a method, a return stub or a stack is a word of portal code, a literal, and addresses are unique in the whole system: no other word of portal code
//! has such a value, since instructions are none that high. So all words are looked at.

use super::Maker;
use crate::machine::Machine;
use cairn_abi::address::PORTAL_CODE;
// Relaxed: one hart; a literal is loaded anew by each call.
use core::sync::atomic::Ordering::Relaxed;

/// Words that a step looks at.
const WORDS_OF_STEP: u64 = 1024;

impl Maker {
    /// Writes the second of a pair wherever the first is, among some words of portal code from the number `at` on; where the next step begins, if there is one.
    pub fn repoint<M: Machine>(
        &self,
        machine: &M,
        pairs: impl Iterator<Item = (u64, u64)> + Clone,
        at: u64,
    ) -> Option<u64> {
        let words = (machine.layout().header.free_portal_code.end - PORTAL_CODE) / 8;
        let end = words.min(at + WORDS_OF_STEP);
        let firsts = pairs.clone().map(|(from, _)| from);
        let (least, most) = (firsts.clone().min()?, firsts.max()?);
        for word in machine.code(PORTAL_CODE + at * 8, (end - at) as usize * 8) {
            let now = word.load(Relaxed) as u64;
            if (least..=most).contains(&now)
                && let Some((_, to)) = pairs.clone().find(|(from, _)| *from == now)
            {
                word.store(to as i64, Relaxed);
            }
        }
        (end < words).then_some(end)
    }
}
