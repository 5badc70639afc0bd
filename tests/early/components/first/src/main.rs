//! Calls system components before their own threads have run: it is more urgent than all of them, and its first call comes
//! before it has waited for anything.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[path = "../../../../scheduler/components/exercise/src/report.rs"]
mod report;

use cairn::Error;
use cairn_interfaces::{Memory, MemoryStatistics, Names, Portals};
use report::{check, end};

cairn::component! {
    name: "first",
    imports: { memory: Memory, usage: MemoryStatistics, names: Names, portals: Portals },
    main: main,
}

fn main() {
    // One call each: an operation that fails is not repeated.
    check("memory", memory());
    check("names", names());
    check("portals", portals());
    end();
}

/// Its part is as the description says, from the first page on.
fn memory() -> Result<bool, Error> {
    let first = imports::MEMORY.allocate(2)?;
    let (free, all) = imports::USAGE.usage()?;
    imports::MEMORY.free(first, 2)?;
    let (free_again, _) = imports::USAGE.usage()?;
    Ok(free < all && free_again == free + 2)
}

fn names() -> Result<bool, Error> {
    let mut line = [0; 128];
    let (length, _) = imports::NAMES.list(0, &mut line)?;
    Ok(length > 0)
}

fn portals() -> Result<bool, Error> {
    let semaphore = imports::PORTALS.make_semaphore(1)?;
    Ok(semaphore > 0)
}
