//! Where a component calls: every call instruction in its machine code. Those that are in the one form can be written anew
//! by the layout, as a jump, when the component shares a domain with what it calls.

use crate::{Component, Rights};
use alloc::vec::Vec;
use cairn_abi::arch::call::{CALL, END, STUB_SIZE, index, length};

/// A call instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Address of its first instruction, as linked.
    pub offset: u64,
    /// Which portal.
    pub portal: Portal,
}

/// What the instructions around a call say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portal {
    /// The one at this index, which the instruction before loads.
    Index(u16),
    /// Of an index that is known only when it is called.
    Given,
    /// It has not the form: nobody but the component knows.
    Unknown,
}

impl Call {
    /// Whether it is a stub, which many calls share; else it stands where it is executed.
    pub fn is_stub(&self) -> bool {
        self.offset.is_multiple_of(STUB_SIZE)
    }
}

impl<File: AsRef<[u8]>> Component<File> {
    /// All calls, in the order of their addresses. Machine code is read from its first instruction on, one after the
    /// other: what compilers make has nothing else between.
    pub fn calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for segment in self.segments.iter().filter(|segment| segment.rights == Rights::Code) {
            let code = &self.file()[segment.content.clone()];
            find(code, segment.offset + segment.content_at, &mut calls);
        }
        calls
    }

    /// Those of which nobody knows which portal they call: of machine code that no library of Cairn's made.
    pub fn unknown_calls(&self) -> impl Iterator<Item = Call> {
        self.calls().into_iter().filter(|call| call.portal == Portal::Unknown)
    }
}

/// Adds the calls of `code`, which begins at address `start`.
fn find(code: &[u8], start: u64, calls: &mut Vec<Call>) {
    let word = |at: usize| Some(u32::from_le_bytes(*code.get(at..)?.first_chunk()?));
    let (mut at, mut before) = (0, None);
    while let Some(first) = code.get(at..).and_then(<[u8]>::first_chunk) {
        let length = length(u16::from_le_bytes(*first));
        if length == 4 && word(at) == Some(CALL) {
            let is_in_form = word(at + 4) == Some(END);
            let (offset, portal) = match before {
                _ if !is_in_form => (at, Portal::Unknown),
                Some(index) => (at - 4, Portal::Index(index)),
                None => (at, Portal::Given),
            };
            calls.push(Call { offset: start + offset as u64, portal });
        }
        before = word(at).filter(|_| length == 4).and_then(index);
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD_17: u32 = 0x0110_0293;
    const NOTHING: u32 = 0x0000_0013;

    fn found(code: &[u32], lead: &[u8]) -> Vec<Call> {
        let bytes = lead.iter().copied().chain(code.iter().flat_map(|word| word.to_le_bytes()));
        let (bytes, mut calls) = (bytes.collect::<Vec<u8>>(), Vec::new());
        find(&bytes, 0x10000, &mut calls);
        calls
    }

    #[test]
    fn calls_are_found_and_told_apart() {
        let call = |offset, portal| Call { offset, portal };
        let stubs = [LOAD_17, CALL, END, NOTHING, CALL, END, NOTHING, NOTHING];
        let expected = [call(0x10000, Portal::Index(17)), call(0x10010, Portal::Given)];
        assert_eq!(found(&stubs, &[]), expected);
        assert!(expected.iter().all(Call::is_stub));
        // Behind a compressed instruction.
        let [inline] = found(&stubs[..3], &[1, 0])[..] else { panic!("one call") };
        assert_eq!((inline, inline.is_stub()), (call(0x10002, Portal::Index(17)), false));
        // Without the jump behind it, cut off, or with something between: not the form, or not this index.
        assert_eq!(found(&[LOAD_17, CALL, NOTHING], &[]), [call(0x10004, Portal::Unknown)]);
        assert_eq!(found(&[LOAD_17, CALL], &[]), [call(0x10004, Portal::Unknown)]);
        assert_eq!(found(&[LOAD_17, NOTHING, CALL, END], &[]), [call(0x10008, Portal::Given)]);
        // The halves of two instructions are no call.
        assert_eq!(found(&[0x0073_0013, 0x0013_0000], &[]), []);
    }
}
