//! What a simulated core's trace of retired instructions says: how long interrupts are off, how soon after
//! reset components run.

use super::trace::{Lengths, interruptible};
use crate::build::{self, Parts};
use crate::cycle_trace::{self, Event, Events, What};
use anyhow::{Context, Result, bail};
use cairn_abi::address::REGION_SIZE;
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
    cycle_trace::with(&image, 0..CYCLES, Stdio::null(), passes, |events| {
        count(events, &on, lengths)
    })
}

/// Cycles from reset to the first instruction of any instance of `bench/systems/hello.toml`, and of the one that says hello.
pub fn boot(board: &str) -> Result<[u64; 2]> {
    let parts = Parts::new("bench/systems/hello.toml", Some(board))?;
    let regions: Vec<u64> =
        parts.system.instances.iter().map(|instance| instance.start_address()).collect();
    let hello =
        parts.system.instance("hello").context("the system `hello` has no such instance")?;
    let image = build::image(parts, Some(board))?;
    let mut first = None;
    cycle_trace::with(&image, 0..BOOT_CYCLES, Stdio::null(), passes, |events| {
        for event in events {
            let Some((cycle, region)) = retired(event?) else { continue };
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

/// Whether a system that ended by itself ended well.
fn passes(status: i32) -> bool {
    status == 0
}

/// When an instruction retired, and where the region begins in which it lies.
fn retired(event: Event) -> Option<(u64, u64)> {
    let What::Retires(address) = event.what else { return None };
    Some((event.cycle, address & !(REGION_SIZE - 1)))
}

/// How long it took from each instruction in one of the regions `on` to the next one there, if others came
/// between.
fn count(events: Events, on: &[u64], lengths: &mut Lengths) -> Result<()> {
    let (mut last, mut between) = (None, false);
    for event in events {
        let Some((cycle, region)) = retired(event?) else { continue };
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
    use cairn_abi::RegionId;
    use cairn_abi::address::region;

    #[test]
    fn times_between_interruptible_instructions_are_counted() {
        let (user, scheduler, kernel) =
            (region(RegionId(3)), region(RegionId(1)), 0xffff_ffc0_0000_0000);
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
        let retires = |(cycle, region)| Ok(Event { cycle, what: What::Retires(region + 4) });
        let mut trace = trace.into_iter().map(retires);
        count(&mut trace, &[user], &mut lengths).unwrap();
        assert_eq!(lengths, Lengths::from([(39, 1)]));
        assert!(count(&mut std::iter::empty(), &[user], &mut lengths).is_err());
    }
}
