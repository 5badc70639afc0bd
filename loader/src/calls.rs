//! Where a component calls. Its file notes each call that a library of Cairn's made; the layout can write those anew
//! (`relink.rs`), as a jump, when the component shares a domain with what it calls. Every other call instruction is foreign.

use crate::{Component, Rights, Segment, notes};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn_abi::arch::call::{
    CALL, CALLS, END, INSTRUCTION_ALIGNMENT, ROOM, STUB_SIZE, STUBS, index,
};

/// A call that the file notes: it has the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Address of its first instruction, as linked.
    pub offset: u64,
    /// The portal at this index, which the first instruction loads; none: an index that is known only when it is called.
    pub portal: Option<u16>,
    /// Whether it is a stub, which many calls share and which has its 16 bytes for itself; else it is executed where it
    /// stands.
    pub is_stub: bool,
}

impl Call {
    /// Address of its call instruction.
    pub fn instruction(&self) -> u64 {
        self.offset + if self.portal.is_some() { 4 } else { 0 }
    }

    /// Bytes that are the call's alone: those of a jump through a word. Where the index is known before, what it
    /// calls needs none.
    pub(crate) fn size(&self) -> u64 {
        if !self.is_stub && self.portal.is_some() { 12 } else { STUB_SIZE }
    }
}

impl<File: AsRef<[u8]>> Component<File> {
    /// Addresses of call instructions that are not noted: of machine code that no library of Cairn's made, so that
    /// nobody knows which portal they call. Every place where an instruction can begin is looked at, whatever the file's
    /// symbols say: a jump may lead into the middle of what they make an instruction. So data among the code, and halves of
    /// two instructions, may look like one.
    pub fn foreign_calls(&self) -> Vec<u64> {
        let mut foreign = Vec::new();
        for segment in self.segments.iter().filter(|segment| segment.rights == Rights::Code) {
            let code = &self.file()[segment.content.clone()];
            find(code, segment.offset + segment.content_at, &mut foreign);
        }
        // What else stands in the 16 bytes of a stub is foreign, too.
        foreign.retain(|at| self.calls.binary_search_by_key(at, Call::instruction).is_err());
        foreign
    }
}

/// Adds the addresses of the call instructions in `code`, which begins at address `start` and has zeros behind it.
fn find(code: &[u8], start: u64, calls: &mut Vec<u64>) {
    let first = (start % INSTRUCTION_ALIGNMENT) as usize;
    for at in (first..code.len()).step_by(INSTRUCTION_ALIGNMENT as usize) {
        let bytes = CALL.to_le_bytes();
        let found = &code[at..code.len().min(at + bytes.len())];
        let (same, behind) = bytes.split_at(found.len());
        if same == found && behind.iter().all(|byte| *byte == 0) {
            calls.push(start + at as u64);
        }
    }
}

fn word(code: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*code.get(at..)?.first_chunk()?))
}

/// The calls that `elf`, which is `file`, notes, in the order of their addresses.
pub(crate) fn noted(
    elf: &object::File,
    file: &[u8],
    segments: &[Segment],
) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    for (section, is_stub) in [(STUBS, true), (CALLS, false)] {
        for offset in notes::addresses(elf, section)? {
            let code = notes::code(file, segments, offset);
            calls.push(code.and_then(|code| call(code, offset, is_stub)).ok_or_else(|| {
                format!("`{section}` names {offset:#x}, where no call in the form is")
            })?);
        }
    }
    calls.sort_by_key(|call| call.offset);
    match calls.windows(2).find(|pair| pair[1].offset - pair[0].offset < pair[0].size()) {
        Some(pair) => Err(format!("the noted calls at {:#x} overlap", pair[1].offset)),
        None => Ok(calls),
    }
}

/// The call that `code` begins with, if it has the form.
fn call(code: &[u8], offset: u64, is_stub: bool) -> Option<Call> {
    let first = word(code, 0)?;
    let portal = index(first);
    let at = if portal.is_some() { 4 } else { 0 };
    let is_in_form = word(code, at) == Some(CALL) && word(code, at + 4) == Some(END);
    let call = Call { offset, portal, is_stub };
    let room = code.get(at + 8..call.size() as usize)?;
    let has_room = match is_stub {
        true => offset.is_multiple_of(STUB_SIZE),
        false => room.chunks(4).all(|word| *word == ROOM.to_le_bytes()),
    };
    (is_in_form && has_room).then_some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD_17: u32 = 0x0110_0293;

    fn bytes(code: &[u32], lead: &[u8]) -> Vec<u8> {
        lead.iter().copied().chain(code.iter().flat_map(|word| word.to_le_bytes())).collect()
    }

    fn found(code: &[u32], lead: &[u8]) -> Vec<u64> {
        let mut calls = Vec::new();
        find(&bytes(code, lead), 0x10000, &mut calls);
        calls
    }

    #[test]
    fn call_instructions_are_found() {
        assert_eq!(found(&[LOAD_17, CALL, END, ROOM, CALL], &[]), [0x10004, 0x10010]);
        // Behind a compressed instruction.
        assert_eq!(found(&[LOAD_17, CALL], &[1, 0]), [0x10006]);
        // In the middle of what is read as two instructions: a jump can lead there.
        assert_eq!(found(&[0x0073_0013, 0x0013_0000], &[]), [0x10002]);
        // What begins with half of an instruction shifts nothing.
        assert_eq!(found(&[LOAD_17, CALL], &[0x13, 0]), [0x10006]);
        // The code ends within it, and zeros follow; where no instruction begins there is none.
        assert_eq!(found(&[LOAD_17], &[0x73, 0, 0x73, 0]), []);
        assert_eq!(found(&[0x0073_0013], &[]), [0x10002]);
        assert_eq!(found(&[CALL << 8, ROOM], &[]), []);
    }

    #[test]
    fn a_noted_call_has_the_form() {
        let is_call = |code: &[u32], offset, is_stub| call(&bytes(code, &[]), offset, is_stub);
        let stub = [LOAD_17, CALL, END, ROOM];
        let expected = Call { offset: 0x10000, portal: Some(17), is_stub: true };
        assert_eq!(is_call(&stub, 0x10000, true), Some(expected));
        let given = is_call(&[CALL, END, ROOM, ROOM], 0x10000, true);
        assert_eq!(given, Some(Call { portal: None, ..expected }));
        let in_place = Call { offset: 0x10002, is_stub: false, ..expected };
        assert_eq!(is_call(&stub[..3], 0x10002, false), Some(in_place));
        let given = is_call(&[CALL, END, ROOM, ROOM], 0x10002, false);
        assert_eq!(given, Some(Call { portal: None, ..in_place }));
        // Not aligned, without room.
        assert_eq!(is_call(&stub, 0x10008, true), None);
        assert_eq!(is_call(&stub[..3], 0x10000, true), None);
        // Without the jump behind it, cut off, with something between, of another register; without room for a jump, or
        // with something in it.
        for code in [
            &[LOAD_17, CALL, ROOM, ROOM][..],
            &[LOAD_17, CALL],
            &[LOAD_17, ROOM, CALL, END],
            &[LOAD_17 ^ 0x80, CALL, END, ROOM],
            &[CALL, END, ROOM],
            &[CALL, END, ROOM, LOAD_17],
        ] {
            assert_eq!(is_call(code, 0x10000, false), None, "{code:x?}");
        }
    }
}
