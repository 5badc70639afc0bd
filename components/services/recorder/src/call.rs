//! A call with its answer, and what of its registers and memory that takes.

use cairn::text::Line;
use cairn_interposer::portal::{BUFFERS, Parameter, Portal, REGISTERS};

/// Longest name of a method, with its export and its letters.
pub const NAME: usize = 112;
/// Bytes of a buffer that are recorded.
pub const CONTENT: u64 = 4096;
/// Words of an answer.
pub const REPLY: usize = 4;

/// `EXPORT METHOD LETTERS`: what two calls have in common that may be answered the same.
pub type Name = Line<NAME>;

/// Recorded bytes: where they lie in the [`Store`](crate::store::Store), and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The first word.
    pub place: u32,
    /// Bytes, of which the last word may have fewer than eight.
    pub count: u32,
}

/// A call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Its words and the lengths of its buffers. Addresses, and what the portal fills in, are zeros.
    pub arguments: [u64; REGISTERS],
    /// What it was answered.
    pub status: i64,
    /// The value: as many words as the method's has, and zeros.
    pub words: [u64; REPLY],
    /// Of each buffer, in order, what was in it: when it was called, or, if the callee fills it, when it was answered.
    pub buffers: [Bytes; BUFFERS],
}

/// What calls by a portal take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Registers that are compared.
    pub words: [bool; REGISTERS],
    /// Of each buffer: the register with its address, before that of its length, and whether the callee fills it.
    pub buffers: [Option<(usize, bool)>; BUFFERS],
    /// Words of the value.
    pub reply: usize,
}

impl Shape {
    /// From a portal's letters. Nothing if not all of a call can be known: of registered types nobody but their server knows what they
    /// take.
    pub fn of(portal: &Portal) -> Option<Shape> {
        let mut shape = Shape { reply: portal.reply(), ..Shape::default() };
        let mut found = 0;
        for (register, parameter) in portal.parameters() {
            match parameter {
                Parameter::Word => *shape.words.get_mut(register)? = true,
                Parameter::Read | Parameter::Write => {
                    *shape.words.get_mut(register + 1)? = true;
                    *shape.buffers.get_mut(found)? =
                        Some((register, parameter == Parameter::Write));
                    found += 1;
                }
                Parameter::Filled => {}
                Parameter::Unknown => return None,
            }
        }
        Some(shape)
    }

    /// The same from a name.
    pub fn of_name(name: &str) -> Option<Shape> {
        let mut words = name.split(' ');
        let (export, method, letters) = (words.next()?, words.next()?, words.next()?);
        let is_one = letters.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'=');
        (words.next().is_none() && letters.starts_with('c') && is_one)
            .then(|| Shape::of(&Portal { letters, export, method, client: "" }))?
    }

    /// Of a call's registers what is compared.
    pub fn arguments(&self, registers: [u64; REGISTERS]) -> [u64; REGISTERS] {
        core::array::from_fn(|register| if self.words[register] { registers[register] } else { 0 })
    }

    /// The places of the buffers that the callee fills, or of the others.
    pub fn buffers(&self, filled: bool) -> impl Iterator<Item = (usize, usize)> + use<> {
        let of = move |(place, buffer): (usize, Option<(usize, bool)>)| match buffer {
            Some((register, is_filled)) if is_filled == filled => Some((place, register)),
            _ => None,
        };
        self.buffers.into_iter().enumerate().filter_map(of)
    }

    /// How many bytes of a buffer mean something. Of one that is filled: none after an error; as many as the value says, since by the rule of the interfaces it is the length; all of
    /// them if it can be none, or nothing.
    pub fn length(&self, call: &Call, place: usize) -> u64 {
        let Some((register, is_filled)) = self.buffers.get(place).copied().flatten() else {
            return 0;
        };
        let room = call.arguments.get(register + 1).copied().unwrap_or(0);
        match call.words[0] {
            _ if !is_filled => room,
            _ if call.status != 0 => 0,
            value @ 1.. if value <= room => value,
            _ => room,
        }
    }

    /// Bytes of a buffer that were not recorded.
    pub fn missing(&self, call: &Call, place: usize) -> u64 {
        self.length(call, place).saturating_sub(call.buffers[place].count.into())
    }

    /// Whether all that the callee filled was recorded: then it can be answered so.
    pub fn is_whole(&self, call: &Call) -> bool {
        self.buffers(true).all(|(place, _)| self.missing(call, place) == 0)
    }
}
