//! A recording as lines, each of which the shell takes behind `replay NAME`. So a file of them is a script that brings it back.
//!
//! ```text
//! new
//! call greeter.echo say cr
//! with 12
//! data 676f6f64206d6f726e696e67
//! gave 0,0
//! call greeter.echo fill cw
//! with 64
//! gave 0,12
//! data 676f6f64206d6f726e696e67
//! end 2
//! ```

use crate::call::{Call, Shape};
use crate::store::Store;
use core::fmt::{Display, Formatter, Result};

/// Bytes of a buffer in a line.
pub const BYTES: usize = 64;
/// Longest line: the digits of so many bytes, or seven words.
pub const LINE: usize = 8 + 2 * BYTES;

/// One line of a call.
pub enum Part<'call> {
    /// Which method.
    Name(&'call str),
    /// The arguments.
    Arguments(&'call Shape, &'call Call),
    /// What was answered.
    Answer(&'call Shape, &'call Call),
    /// Bytes of a buffer.
    Data([u8; BYTES], usize),
    /// So many bytes of it are not recorded.
    Missing(u64),
}

/// The `wanted`th line of a call, from 0 on.
pub fn part<'call, const CALLS: usize, const WORDS: usize>(
    store: &Store<CALLS, WORDS>,
    (name, shape, call): (&'call str, &'call Shape, &'call Call),
    wanted: usize,
) -> Option<Part<'call>> {
    let mut left = match wanted {
        0 => return Some(Part::Name(name)),
        1 => return Some(Part::Arguments(shape, call)),
        _ => wanted - 2,
    };
    for is_filled in [false, true] {
        if is_filled {
            match left.checked_sub(1) {
                None => return Some(Part::Answer(shape, call)),
                Some(rest) => left = rest,
            }
        }
        for (place, _) in shape.buffers(is_filled) {
            let bytes = call.buffers[place];
            let lines = (bytes.count as usize).div_ceil(BYTES);
            if left < lines {
                let mut data = [0; BYTES];
                let count = store.read(bytes, left * BYTES, &mut data);
                return Some(Part::Data(data, count));
            }
            left -= lines;
            let missing = shape.missing(call, place);
            if missing > 0 {
                match left.checked_sub(1) {
                    None => return Some(Part::Missing(missing)),
                    Some(rest) => left = rest,
                }
            }
        }
    }
    None
}

/// Small numbers as people write them, others in hexadecimal.
struct Number(u64);

impl Display for Number {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self.0 {
            0..0x1_0000_0000 => write!(out, "{}", self.0),
            _ => write!(out, "{:#x}", self.0),
        }
    }
}

impl Display for Part<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Part::Name(name) => write!(out, "call {name}"),
            Part::Arguments(shape, call) => {
                let words = shape.words.iter().zip(call.arguments).filter(|(is_one, _)| **is_one);
                out.write_str("with")?;
                words.enumerate().try_for_each(|(position, (_, word))| {
                    write!(out, "{}{}", if position == 0 { ' ' } else { ',' }, Number(word))
                })
            }
            Part::Answer(shape, call) => {
                write!(out, "gave {}", call.status)?;
                let count = if call.status == 0 { shape.reply } else { 0 };
                call.words.iter().take(count).try_for_each(|word| write!(out, ",{}", Number(*word)))
            }
            Part::Data(data, count) => {
                out.write_str("data ")?;
                data.iter().take(*count).try_for_each(|byte| write!(out, "{byte:02x}"))
            }
            Part::Missing(count) => write!(out, "missing {count}"),
        }
    }
}
