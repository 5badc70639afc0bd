//! `ps -m`: what of its memory each component used.

use crate::imports;
use crate::listing::each_instance;
use crate::screen::Screen;
use cairn::abi::record::{CONTENT_TEXT, CONTENT_THREAD_STACK};
use cairn::{Error, InstanceId};
use cairn_interfaces::MemoryContent;
use cairn_shell::table::Row;
use cairn_shell::used::{COLUMNS, HEADER, Line, Usage};
use core::fmt::{self, Write};

// Their numbers are those of the record.
const _: () = assert!(MemoryContent::Text as u16 == CONTENT_TEXT);
const _: () = assert!(MemoryContent::ThreadStack as u16 == CONTENT_THREAD_STACK);

fn usage_of(instance: InstanceId) -> Result<Usage, Error> {
    let mut usage = Usage::default();
    let mut at = 0;
    loop {
        let part = match imports::MEMORY.measure(instance, at) {
            Ok(part) => part,
            Err(Error::NotFound) => return Ok(usage),
            Err(error) => return Err(error),
        };
        match part.content {
            MemoryContent::RunTime => usage.run_time += part.used,
            content => usage.add(content as u16, part.size, part.used),
        }
        if part.next <= at {
            return Err(Error::Malformed);
        }
        at = part.next;
    }
}

/// Prints the table.
pub fn run(screen: &mut Screen) -> fmt::Result {
    writeln!(screen, "{}", Row { columns: COLUMNS, text: HEADER })?;
    let mut result = Ok(());
    each_instance(|number, name| {
        let instance = InstanceId(number as u16);
        let portals = imports::PORTALS_LISTING;
        let opened = portals.usage_of(instance).ok().map(|(used, _)| used);
        let code = [portals.described_code(instance).ok(), opened];
        result = result.and_then(|()| match usage_of(instance) {
            Ok(usage) => {
                let line =
                    cairn::text::Line::<160>::of(format_args!("{}", Line(name, &usage, &code)));
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
