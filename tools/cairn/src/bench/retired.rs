//! What a simulated core's trace of retired instructions says: how long interrupts are off, how soon after
//! reset components run.

use super::trace::{Lengths, interruptible};
use crate::build::{self, BuiltImage, Parts};
use crate::machine::{self, Console, Options};
use anyhow::{Context, Result, bail};
use cairn_abi::address::{REGION_SIZE, region};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Cycles of each system in which the time interrupts are off is looked for: the boot and as much of the
/// benchmark's.
const CYCLES: u64 = 1_200_000;
/// Cycles in which a system has to boot.
const BOOT_CYCLES: u64 = 1_000_000;

/// Adds the times during which no interrupt is taken to those of others, for the system `bench/systems/NAME.toml`.
pub fn add(name: &str, board: &str, lengths: &mut Lengths) -> Result<()> {
    let mut parts = Parts::new(&format!("bench/systems/{name}.toml"), Some(board))?;
    // Not the image that measures in the same run.
    parts.system.name.value = format!("{name}-traced");
    let on = interruptible(&parts);
    let image = build::image(parts, Some(board))?;
    with_trace(&image, CYCLES, |trace| count(trace, &on, lengths))
}

/// Cycles from reset to the first instruction of any instance of `systems/hello.toml`, and of the one that says hello.
pub fn boot(board: &str) -> Result<[u64; 2]> {
    let parts = Parts::new("hello", Some(board))?;
    let regions: Vec<u64> =
        parts.system.instances.iter().map(|instance| region(instance.number)).collect();
    let hello =
        parts.system.instance("hello").context("the system `hello` has no such instance")?;
    let image = build::image(parts, Some(board))?;
    let mut first = None;
    with_trace(&image, BOOT_CYCLES, |trace| {
        for retired in trace {
            let Retired { cycle, region } = retired?;
            if regions.contains(&region) {
                let any = *first.get_or_insert(cycle);
                if region == regions[hello] {
                    return Ok([any, cycle]);
                }
            }
        }
        bail!("hello did not run in {BOOT_CYCLES} cycles")
    })
}

/// An instruction: when it retired, and the beginning of the region in which it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Retired {
    cycle: u64,
    region: u64,
}

/// Runs `image` for so many cycles and reads what retired.
fn with_trace<T>(
    image: &BuiltImage,
    cycles: u64,
    read: impl FnOnce(&mut dyn Iterator<Item = Result<Retired>>) -> Result<T>,
) -> Result<T> {
    let file = image.file.with_extension("trace");
    let shown = file.display().to_string();
    let further = ["--trace", &shown, "--limit", &cycles.to_string()].map(str::to_owned).into();
    let status =
        machine::command(image, &Options { further, ..Options::default() }, Console::Program)?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .context("cannot start the simulator")?;
    // At the limit the status is 124; the system may have ended before.
    if !matches!(status.code(), Some(0 | 124)) {
        bail!("the simulator ended with {status}");
    }
    let lines = BufReader::new(File::open(&file).with_context(|| shown.clone())?).lines();
    let result = read(
        &mut lines
            .filter_map(|line| line.map_err(Into::into).and_then(|line| parse(&line)).transpose()),
    );
    std::fs::remove_file(&file).with_context(|| shown)?;
    result
}

/// Reads lines such as `1234 pc ffffffc000001234`; what the buses do has lines of its own.
fn parse(line: &str) -> Result<Option<Retired>> {
    let Some((cycle, address)) = line.split_once(" pc ") else { return Ok(None) };
    let explain = || format!("\"{line}\": expected a cycle, `pc` and a hexadecimal address");
    let cycle = cycle.parse().with_context(explain)?;
    let address = u64::from_str_radix(address, 16).with_context(explain)?;
    Ok(Some(Retired { cycle, region: address & !(REGION_SIZE - 1) }))
}

/// How long it took from each instruction in one of the regions `on` to the next one there, if others came
/// between.
fn count(
    trace: &mut dyn Iterator<Item = Result<Retired>>,
    on: &[u64],
    lengths: &mut Lengths,
) -> Result<()> {
    let (mut last, mut between) = (None, false);
    for retired in trace {
        let Retired { cycle, region } = retired?;
        if !on.contains(&region) {
            between = true;
            continue;
        }
        if let Some(last) = last.filter(|_| between) {
            *lengths.entry(cycle - last).or_default() += 1;
        }
        (last, between) = (Some(cycle), false);
    }
    if last.is_none() {
        bail!("the trace shows no instruction with interrupts on");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let expected = Retired { cycle: 12, region: 0xffff_ffc0_0000_0000 };
        assert_eq!(parse("12 pc ffffffc000001234").unwrap(), Some(expected));
        assert_eq!(parse("12 read 80001000 64").unwrap(), None);
        assert!(parse("12 pc what").is_err());
        assert!(parse("x pc 12").is_err());
    }

    #[test]
    fn times_between_interruptible_instructions_are_counted() {
        let (user, scheduler, kernel) = (region(3), region(1), 0xffff_ffc0_0000_0000);
        let trace = [
            (5, kernel),
            (10, user),
            (11, user),
            (12, kernel),
            (40, scheduler),
            (50, user),
            (53, user),
        ];
        let mut lengths = Lengths::new();
        let mut trace = trace.into_iter().map(|(cycle, region)| Ok(Retired { cycle, region }));
        count(&mut trace, &[user], &mut lengths).unwrap();
        assert_eq!(lengths, Lengths::from([(39, 1)]));
        assert!(count(&mut std::iter::empty(), &[user], &mut lengths).is_err());
    }
}
