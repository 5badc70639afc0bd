//! The trace that a simulated core writes: what retires, and what its buses begin, with the cycle.

use crate::build::BuiltImage;
use crate::machine::{self, Console, Options};
use crate::paths;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::process::Stdio;

/// A line of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The cycle, from reset.
    pub cycle: u64,
    /// What happens.
    pub what: What,
}

/// What happens in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The instruction at this virtual address retires or traps.
    Retires(u64),
    /// So many bytes are read from this physical address on.
    Read(u64, u64),
    /// They are written.
    Write(u64, u64),
    /// A walk of the page tables for this virtual address ends.
    Walk(u64),
}

/// Events, in the order of their cycles.
pub type Events<'a> = &'a mut dyn Iterator<Item = Result<Event>>;

/// The simulator's status at the limit of cycles.
pub const AT_THE_LIMIT: i32 = 124;

/// Boots `image`, ends it at the end of `cycles` if it has not ended before with a status that `may_end` accepts, and
/// has `read` look at what happened in these cycles. Its output is not shown.
pub fn with<T>(
    image: &BuiltImage,
    cycles: Range<u64>,
    input: Stdio,
    may_end: impl Fn(i32) -> bool,
    read: impl FnOnce(Events) -> Result<T>,
) -> Result<T> {
    if !image.machine.is_cycle_exact() {
        bail!(
            "only a simulated core says what happens in each cycle: add --board rocket-rtl or --board cva6-rtl"
        );
    }
    let file = paths::temporary(&image.file);
    let shown = file.display().to_string();
    let [from, to] = [cycles.start, cycles.end].map(|cycle| cycle.to_string());
    let further = ["--trace", &shown, "--trace-from", &from, "--limit", &to];
    let options = Options { further: further.map(str::to_owned).into(), ..Options::default() };
    let status = machine::command(image, &options, Console::Program)?
        .stdin(input)
        .stdout(Stdio::null())
        .status()
        .context("cannot start the simulator")?;
    if !status.code().is_some_and(|code| code == AT_THE_LIMIT || may_end(code)) {
        bail!("the simulator ended with {status}");
    }
    let lines = BufReader::new(File::open(&file).with_context(|| shown.clone())?).lines();
    let result = read(&mut lines.map(|line| parse(&line?)));
    std::fs::remove_file(&file).with_context(|| shown)?;
    result
}

/// Reads a line such as `1234 pc ffffffc000001234` or `1234 read 80201000 64`.
fn parse(line: &str) -> Result<Event> {
    let words: Vec<&str> = line.split(' ').collect();
    let explain = || {
        format!(
            "\"{line}\": expected a cycle, `pc`, `walk`, `read` or `write`, a hexadecimal address, bytes"
        )
    };
    let hexadecimal = |word: &str| u64::from_str_radix(word, 16).with_context(explain);
    let decimal = |word: &str| word.parse::<u64>().with_context(explain);
    let (cycle, what) = match words[..] {
        [cycle, "pc", address] => (cycle, What::Retires(hexadecimal(address)?)),
        [cycle, "walk", address] => (cycle, What::Walk(hexadecimal(address)?)),
        [cycle, "read", address, bytes] => {
            (cycle, What::Read(hexadecimal(address)?, decimal(bytes)?))
        }
        [cycle, "write", address, bytes] => {
            (cycle, What::Write(hexadecimal(address)?, decimal(bytes)?))
        }
        _ => bail!(explain()),
    };
    Ok(Event { cycle: decimal(cycle)?, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let event = |what| Event { cycle: 12, what };
        let retires = event(What::Retires(0xffff_ffc0_0000_1234));
        assert_eq!(parse("12 pc ffffffc000001234").unwrap(), retires);
        assert_eq!(parse("12 read 80001000 64").unwrap(), event(What::Read(0x8000_1000, 64)));
        assert_eq!(parse("12 write 10000000 1").unwrap(), event(What::Write(0x1000_0000, 1)));
        for wrong in ["12 pc what", "x pc 12", "12 pc", "12 fetch 12", "12 read 80001000", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
