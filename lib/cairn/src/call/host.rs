//! On the host there are no portals: a test sets what answers instead.

extern crate std;

use super::REGISTERS;
use crate::Error;
use cairn_abi::descriptor::Reply;
use std::boxed::Box;
use std::cell::RefCell;

/// Answers a call: index of the portal, the argument registers.
pub type Answer = Box<dyn Fn(u64, [u64; REGISTERS]) -> Reply>;

std::thread_local! {
    static ANSWER: RefCell<Option<Answer>> = const { RefCell::new(None) };
}

/// Lets `answer` stand for all portals of this thread.
pub fn answer_with(answer: impl Fn(u64, [u64; REGISTERS]) -> Reply + 'static) {
    ANSWER.with(|slot| *slot.borrow_mut() = Some(Box::new(answer)));
}

pub(super) fn invoke<const WORDS: usize>(index: u64, words: &[u64; REGISTERS]) -> Reply {
    // What the method has no register for arrives as garbage, as on the machine.
    let mut passed = [0xdead_beef_dead_beef; REGISTERS];
    passed[1..WORDS.max(1)].copy_from_slice(&words[1..WORDS.max(1)]);
    ANSWER.with(|slot| match &*slot.borrow() {
        Some(answer) => answer(index, passed),
        None => Reply { status: Error::NoPortal.status(), value: 0 },
    })
}

pub(super) fn invoke_minimal<const WORDS: usize>(index: u64, words: &[u64; REGISTERS]) -> Reply {
    invoke::<WORDS>(index, words)
}
