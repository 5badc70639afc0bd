//! `ps -m`: what of its memory each component used.

use crate::imports;
use crate::listing::each_instance;
use crate::screen::Screen;
use cairn::{Error, InstanceId};
use cairn_interfaces::{MemoryContent, MemoryPart};
use cairn_shell::table::Column::{self, Number, Text};
use cairn_shell::table::Row;
use core::fmt::{self, Display, Formatter, Result, Write};

const COLUMNS: &[Column] = &[
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

/// Bytes used of so many.
#[derive(Clone, Copy, Default)]
struct Part {
    used: u64,
    size: u64,
}

impl Part {
    fn add(&mut self, part: &MemoryPart) {
        self.used += part.used;
        self.size += part.size;
    }
}

impl Display for Part {
    fn fmt(&self, out: &mut Formatter) -> Result {
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
struct Usage {
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
    run_time: Part,
}

impl Usage {
    fn of(instance: InstanceId) -> core::result::Result<Usage, Error> {
        let mut usage = Usage::default();
        let mut at = 0;
        loop {
            let part = match imports::MEMORY.measure(instance, at) {
                Ok(part) => part,
                Err(Error::NotFound) => return Ok(usage),
                Err(error) => return Err(error),
            };
            if part.size > 0 || part.content == MemoryContent::RunTime {
                usage.add(&part);
            }
            if part.next <= at {
                return Err(Error::Malformed);
            }
            at = part.next;
        }
    }

    fn add(&mut self, part: &MemoryPart) {
        match part.content {
            MemoryContent::Text | MemoryContent::Constants => self.text.add(part),
            MemoryContent::Data => self.data.add(part),
            MemoryContent::Heap => self.heap.add(part),
            MemoryContent::Stack => self.stack.add(part),
            MemoryContent::ThreadStack => {
                let free = |used: u64, size: u64| u128::from(size - used.min(size));
                // Without a division: which has the smaller part left.
                let left = free(part.used, part.size) * u128::from(self.threads.size);
                let most = free(self.threads.used, self.threads.size) * u128::from(part.size);
                if self.threads.size == 0 || left < most {
                    self.threads = Part { used: part.used, size: part.size };
                }
            }
            MemoryContent::RunTime => self.run_time.add(part),
            MemoryContent::ClientStack => {
                self.calls.used = self.calls.used.max(part.used);
                self.calls.size = part.size;
                self.stacks.0 += u64::from(part.used > 0);
                self.stacks.1 += 1;
            }
        }
    }
}

/// Fills a line of the table: bytes of portals, of the description and opened since, come last.
struct Line<'a>(&'a str, Usage, [Option<u64>; 2]);

impl Display for Line<'_> {
    fn fmt(&self, out: &mut Formatter) -> Result {
        let Line(name, usage, code) = self;
        write!(out, "{name} {}K {}K", kibibytes(usage.text.size), kibibytes(usage.data.size))?;
        write!(out, " {} {} {}", usage.heap, usage.stack, usage.calls)?;
        match usage.stacks {
            (_, 0) => out.write_str(" -")?,
            (used, all) => write!(out, " {used}/{all}")?,
        }
        write!(out, " {}", usage.threads)?;
        match usage.run_time.used {
            0 => out.write_str(" -")?,
            used => write!(out, " {}K", kibibytes(used))?,
        }
        code.iter().try_for_each(|code| match code {
            None | Some(0) => out.write_str(" -"),
            Some(bytes) => write!(out, " {bytes}"),
        })
    }
}

/// Prints the table.
pub fn run(screen: &mut Screen) -> fmt::Result {
    let header = "component text data heap stack calls' stacks threads' run-time portals opened";
    writeln!(screen, "{}", Row { columns: COLUMNS, text: header })?;
    let mut result = Ok(());
    each_instance(|number, name| {
        let instance = InstanceId(number as u16);
        let portals = imports::PORTALS_LISTING;
        let opened = portals.usage_of(instance).ok().map(|(used, _)| used);
        let code = [portals.described_code(instance).ok(), opened];
        result = result.and_then(|()| match Usage::of(instance) {
            Ok(usage) => {
                let line =
                    cairn::text::Line::<160>::of(format_args!("{}", Line(name, usage, code)));
                writeln!(screen, "{}", Row { columns: COLUMNS, text: line.text() })
            }
            Err(error) => writeln!(screen, "{name}: {}", error.text()),
        });
    });
    result?;
    writeln!(
        screen,
        "used at most/of all since each started; `calls'`: the deepest of the `stacks` that clients' calls run on,\n\
         and how many of them were ever written to; `threads'`: the fullest of those of threads that it started;\n\
         `portals`: bytes of code that the description gives it, and of those `opened` at run time"
    )
}
