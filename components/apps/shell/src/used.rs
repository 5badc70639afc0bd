//! What a component used of its memory, as a line of a table. `ps -m` adds up what the memory manager says, and `./cairn run --report`
//! what that says in the memory that a machine left.

use crate::table::Column::{self, Number, Text};
use cairn_abi::record::{
    CONTENT_CLIENT_STACK, CONTENT_CONSTANTS, CONTENT_DATA, CONTENT_HEAP, CONTENT_STACK,
    CONTENT_TEXT, CONTENT_THREAD_STACK,
};
use core::fmt::{self, Display, Formatter};

/// The columns. A machine that has ended has not the last.
pub const COLUMNS: &[Column] = &[
    Text(14),
    Number(5),
    Number(5),
    Number(11),
    Number(9),
    Number(9),
    Number(6),
    Number(9),
    Number(8),
    Number(7),
    Number(6),
];
/// What they are called.
pub const HEADER: &str =
    "component text data heap stack calls' stacks threads' run-time portals opened";

/// Bytes used of so many.
#[derive(Clone, Copy, Default)]
struct Part {
    used: u64,
    size: u64,
}

impl Part {
    fn add(&mut self, part: Part) {
        self.used += part.used;
        self.size += part.size;
    }

    /// The one of which the smaller part is left; without a division.
    fn fuller(self, other: Part) -> Part {
        let left = |part: Part| u128::from(part.size - part.used.min(part.size));
        let (own, others) =
            (left(self) * u128::from(other.size), left(other) * u128::from(self.size));
        if self.size == 0 || others < own { other } else { self }
    }
}

impl Display for Part {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self.size {
            0 => out.write_str("-"),
            size => write!(out, "{}K/{}K", kibibytes(self.used), kibibytes(size)),
        }
    }
}

fn kibibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}

/// What an instance has and used.
#[derive(Default)]
pub struct Usage {
    text: Part,
    data: Part,
    heap: Part,
    stack: Part,
    /// The deepest of the stacks on which clients' threads run.
    calls: Part,
    /// How many of these were ever used, of all.
    stacks: (u64, u64),
    /// The fullest of the stacks of threads that it started.
    threads: Part,
    /// Bytes that it got at run time.
    pub run_time: u64,
}

impl Usage {
    /// One more part of its memory, by what it is for (`CONTENT_*`).
    pub fn add(&mut self, content: u16, size: u64, used: u64) {
        let part = Part { used, size };
        match content {
            _ if size == 0 => {}
            CONTENT_TEXT | CONTENT_CONSTANTS => self.text.add(part),
            CONTENT_DATA => self.data.add(part),
            CONTENT_HEAP => self.heap.add(part),
            CONTENT_STACK => self.stack.add(part),
            CONTENT_THREAD_STACK => {
                self.threads = self.threads.fuller(part);
            }
            CONTENT_CLIENT_STACK => {
                self.calls = Part { used: self.calls.used.max(used), size };
                self.stacks.0 += u64::from(used > 0);
                self.stacks.1 += 1;
            }
            _ => {}
        }
    }
}

/// The words of a line: bytes of portals, of the description and opened since, come last.
pub struct Line<'a>(pub &'a str, pub &'a Usage, pub &'a [Option<u64>]);

impl Display for Line<'_> {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        let Line(name, usage, code) = self;
        write!(out, "{name} {}K {}K", kibibytes(usage.text.size), kibibytes(usage.data.size))?;
        write!(out, " {} {} {}", usage.heap, usage.stack, usage.calls)?;
        match usage.stacks {
            (_, 0) => out.write_str(" -")?,
            (used, all) => write!(out, " {used}/{all}")?,
        }
        write!(out, " {}", usage.threads)?;
        match usage.run_time {
            0 => out.write_str(" -")?,
            used => write!(out, " {}K", kibibytes(used))?,
        }
        code.iter().try_for_each(|code| match code {
            None | Some(0) => out.write_str(" -"),
            Some(bytes) => write!(out, " {bytes}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn parts_become_a_line() {
        let mut usage = Usage::default();
        for (content, size, used) in [
            (CONTENT_TEXT, 4096, 0),
            (CONTENT_CONSTANTS, 4096, 0),
            (CONTENT_HEAP, 8192, 1025),
            (CONTENT_CLIENT_STACK, 16384, 4096),
            (CONTENT_CLIENT_STACK, 16384, 0),
            // Of equal stacks the deepest is the fullest, and a small one before a large one that has more left.
            (CONTENT_THREAD_STACK, 65536, 16384),
            (CONTENT_THREAD_STACK, 8192, 4096),
            (CONTENT_THREAD_STACK, 8192, 2048),
            (CONTENT_THREAD_STACK, 0, 0),
        ] {
            usage.add(content, size, used);
        }
        usage.run_time = 4096;
        let line = format!("{}", Line("one", &usage, &[Some(1234), None]));
        assert_eq!(line, "one 8K 0K 2K/8K - 4K/16K 1/2 4K/8K 4K 1234 -");
        assert_eq!(format!("{}", Line("two", &Usage::default(), &[])), "two 0K 0K - - - - - -");
    }
}
