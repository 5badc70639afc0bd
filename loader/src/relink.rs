//! Writing noted calls anew: the layout decides for each how it reaches what it calls.

use crate::calls::Call;
use crate::{Component, Segment};
use alloc::format;
use alloc::string::String;
use cairn_abi::Error;
use cairn_abi::arch::call::{BREAK, INTERRUPTS_OFF, RETURN, link, load_control_word, load_index};

/// How a noted call reaches what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By a trap: the portal at this index; none: the index is in its register already.
    Trap(Option<u16>),
    /// By a jump to the address in the word at this address.
    Link {
        /// Address of the word.
        word: u64,
        /// What is done before.
        first: Option<First>,
    },
    /// Not at all: a stub answers that there is no portal, and where a call stands that does not come back is a breakpoint.
    Absent,
}

/// What is done before such a jump, an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// A portal's index is loaded.
    Index(u16),
    /// A method finds the control word, which no portal fills in.
    ControlWord(i16),
    /// A portal that is called in the kernel domain finds interrupts off, as behind a trap.
    InterruptsOff,
}

impl First {
    fn instruction(self) -> Result<u32, String> {
        match self {
            First::Index(index) => load_index(index),
            First::ControlWord(word) => load_control_word(word),
            First::InterruptsOff => Some(INTERRUPTS_OFF),
        }
        .ok_or_else(|| format!("no instruction loads {self:?}"))
    }
}

impl<File: AsRef<[u8]>> Component<File> {
    /// Writes the noted calls in `memory`, which [`Component::fill`] has made the segment's content for the same
    /// `image`, in the forms that `choose` says, and nothing else. The error is for people.
    pub fn relink(
        &self,
        segment: &Segment,
        image: u64,
        memory: &mut [u8],
        mut choose: impl FnMut(&Call) -> Form,
    ) -> Result<(), String> {
        for call in self.calls.iter().filter(|call| segment.range().contains(&call.offset)) {
            let at = (call.offset - segment.offset) as usize;
            let place = memory.get_mut(at..at + call.size() as usize);
            let place = place.ok_or("the memory is not the segment's")?;
            write(call, image.wrapping_add(call.offset), choose(call), place)
                .map_err(|error| format!("the call at {:#x} in the file: {error}", call.offset))?;
        }
        Ok(())
    }
}

/// Writes a call at `address`; `place` has the bytes that are its own. What stays of the former one is never executed.
fn write(call: &Call, address: u64, form: Form, place: &mut [u8]) -> Result<(), String> {
    let (words, count) = match (form, call.portal) {
        (Form::Trap(None), None) => ([0; 4], 0),
        (Form::Trap(Some(index)), Some(_)) => ([First::Index(index).instruction()?, 0, 0, 0], 1),
        (Form::Trap(_), Some(_)) => return Err("it has an index, expected the new one".into()),
        (Form::Absent, _) if call.is_stub => {
            let status = First::ControlWord(Error::NoPortal.status() as i16).instruction()?;
            ([status, RETURN, 0, 0], 2)
        }
        (Form::Absent, _) => ([BREAK, 0, 0, 0], 1),
        (Form::Trap(_), None) => return Err("it has no index, expected none".into()),
        (Form::Link { word, first }, _) => {
            let from = address + if first.is_some() { 4 } else { 0 };
            let [upper, lower, jump] = link(word.wrapping_sub(from) as i64).ok_or_else(|| {
                format!("the word at {word:#x} is out of reach from {address:#x}")
            })?;
            match first {
                Some(first) => ([first.instruction()?, upper, lower, jump], 4),
                None => ([upper, lower, jump, 0], 3),
            }
        }
    };
    if place.len() < 4 * count {
        return Err(format!("it has {} bytes, expected {} for {form:?}", place.len(), 4 * count));
    }
    put(place, &words[..count]);
    Ok(())
}

/// Writes instructions where there is room for them.
pub(crate) fn put(place: &mut [u8], instructions: &[u32]) {
    for (place, instruction) in place.chunks_exact_mut(4).zip(instructions) {
        place.copy_from_slice(&instruction.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use cairn_abi::arch::call::{CALL, END, ROOM};
    use cairn_isa::riscv64::decode::{Arithmetic, Instruction, decode};

    const ADDRESS: u64 = 0x4_0401_0000;
    const T0: u8 = 5;
    const T1: u8 = 6;
    const A0: u8 = 10;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn stub(portal: Option<u16>) -> (Call, Vec<u8>) {
        let code = match portal {
            Some(index) => [load_index(index).unwrap(), CALL, END, ROOM],
            None => [CALL, END, ROOM, ROOM],
        };
        (Call { offset: 0x10000, portal, is_stub: true }, bytes(&code))
    }

    /// The stub in a form.
    fn written(portal: Option<u16>, form: Form) -> Result<Vec<u8>, String> {
        let (call, mut place) = stub(portal);
        write(&call, ADDRESS, form, &mut place)?;
        Ok(place)
    }

    fn decoded(place: &[u8]) -> Vec<Instruction> {
        let words = place.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        words.map(|word| decode(word).expect("an instruction")).collect()
    }

    fn load(to: u8, value: i64) -> Instruction {
        let (operation, right) = (Arithmetic::Add, value as u64);
        Instruction::ComputeImmediate { operation, word: false, to, left: 0, right }
    }

    #[test]
    fn a_trap_is_what_was_there_but_for_its_index() {
        assert_eq!(written(Some(17), Form::Trap(Some(17))), Ok(stub(Some(17)).1));
        assert_eq!(written(Some(17), Form::Trap(Some(300))), Ok(stub(Some(300)).1));
        assert_eq!(written(None, Form::Trap(None)), Ok(stub(None).1));
        let place = written(Some(0), Form::Trap(Some(2047))).unwrap();
        assert_eq!(decoded(&place)[..2], [load(T0, 2047), Instruction::EnvironmentCall]);
        for (portal, form) in [(Some(17), None), (None, Some(17)), (Some(17), Some(2048))] {
            let error = written(portal, Form::Trap(form)).unwrap_err();
            assert!(error.contains("expected") || error.contains("no instruction loads"));
        }
    }

    #[test]
    fn a_call_that_is_taken_out_answers_or_breaks() {
        for portal in [Some(17), None] {
            let place = written(portal, Form::Absent).unwrap();
            let back = Instruction::JumpRegister { to: 0, base: 1, offset: 0 };
            assert_eq!(decoded(&place)[..2], [load(A0, Error::NoPortal.status()), back]);
            let (call, mut place) = stub(portal);
            write(&Call { is_stub: false, ..call }, ADDRESS, Form::Absent, &mut place).unwrap();
            assert_eq!(decoded(&place)[0], Instruction::Breakpoint);
        }
    }

    #[test]
    fn a_link_loads_its_word_and_jumps_there() {
        let loads = [
            (None, None),
            (Some(First::Index(300)), Some(load(T0, 300))),
            (Some(First::ControlWord(-2048)), Some(load(A0, -2048))),
            (Some(First::ControlWord(2047)), Some(load(A0, 2047))),
        ];
        let distances = [0, 8, 0x7f8, 0x800, 0xff8, 0x1000, -8, -0x800, -0x808, 0x0123_4568];
        let ends = [i64::from(i32::MAX) - 0x807, i64::from(i32::MIN) - 0x7f8];
        for distance in distances.into_iter().chain(ends) {
            for (given, expected) in loads {
                for portal in [Some(17), None] {
                    let word = ADDRESS.wrapping_add_signed(distance);
                    let place = written(portal, Form::Link { word, first: given }).unwrap();
                    let found = decoded(&place);
                    let (before, found) = found.split_at(expected.iter().len());
                    assert_eq!(before.first(), expected.as_ref());
                    check_jump(found, ADDRESS + 4 * before.len() as u64, word);
                    assert!(!place.as_chunks().0.contains(&CALL.to_le_bytes()));
                }
            }
        }
    }

    /// Instructions at `address` that jump to where a word says.
    fn check_jump(found: &[Instruction], address: u64, word: u64) {
        let Instruction::AddUpperImmediate { to: T1, value } = found[0] else {
            panic!("{found:?}")
        };
        let Instruction::Load { size: 8, signed: true, to: T1, base: T1, offset } = found[1] else {
            panic!("{found:?}")
        };
        assert_eq!(address.wrapping_add(value).wrapping_add(offset), word);
        assert_eq!(found[2], Instruction::JumpRegister { to: 0, base: T1, offset: 0 });
    }

    #[test]
    fn a_call_of_the_kernel_domain_turns_interrupts_off_first() {
        let form = Form::Link { word: ADDRESS - 0x4000, first: Some(First::InterruptsOff) };
        let place = written(Some(17), form).unwrap();
        let (first, jump) = place.split_at(4);
        assert_eq!(first, INTERRUPTS_OFF.to_le_bytes());
        check_jump(&decoded(jump), ADDRESS + 4, ADDRESS - 0x4000);
    }

    #[test]
    fn what_cannot_be_written_is_an_error_and_changes_nothing() {
        let (call, before) = stub(Some(17));
        let word = |distance| ADDRESS.wrapping_add_signed(distance);
        let beyond = [i64::from(i32::MAX) - 0x7ff, i64::from(i32::MIN) - 0x801, i64::MAX, i64::MIN];
        let far =
            beyond.map(|distance| (Form::Link { word: word(distance), first: None }, "reach"));
        let loads = [First::Index(2048), First::ControlWord(2048), First::ControlWord(-2049)];
        let loads = loads.map(|first| Form::Link { word: ADDRESS, first: Some(first) });
        for (form, message) in far.into_iter().chain(loads.map(|form| (form, "no instruction"))) {
            let mut place = before.clone();
            let error = write(&call, ADDRESS, form, &mut place).unwrap_err();
            assert!(error.contains(message), "{form:?}: {error}");
            assert_eq!(place, before);
        }
        // Where it stands, a call of a known index has room for the jump alone.
        let in_place = Call { is_stub: false, ..call };
        assert_eq!(in_place.size(), 12);
        let (own, behind) = before.split_at(12);
        let mut place = own.to_vec();
        let link = |first| Form::Link { word: ADDRESS, first };
        let error = write(&in_place, ADDRESS, link(Some(First::Index(17))), &mut place);
        assert!(error.unwrap_err().contains("it has 12 bytes, expected 16"));
        assert_eq!(place, own);
        write(&in_place, ADDRESS, link(None), &mut place).unwrap();
        assert_eq!(decoded(&place).len(), 3);
        assert_eq!(behind, ROOM.to_le_bytes());
    }
}
