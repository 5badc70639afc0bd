//! The time interrupts are off, from a trace of every executed instruction.
//!
//! They are off in privileged mode, in the scheduler and in the interrupt dispatcher, and on in
//! every other instance (`sie`). So a run of instructions outside the other instances is a time
//! during which no interrupt is taken. It also ends with a trap at an instruction of those instances that is not
//! executed any more: an interrupt that was pending there, or a fault, before which an interrupt would have come.

use super::results::Measured;
use crate::build::{self, Parts};
use crate::machine::{self, Console, Options};
use crate::paths;
use crate::qemu;
use anyhow::{Context, Result, bail};
use cairn_abi::RegionId;
use cairn_abi::address::{IMAGE_OFFSET, KERNEL, REGION_SIZE, image_spread};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::thread;

/// Instructions that are traced in each system, from the first one with interrupts on.
const INSTRUCTIONS: u64 = 1_000_000;
/// Every instruction is a translated block of its own.
const STEPS: [&str; 3] = ["-singlestep", "-icount", "shift=0,sleep=off"];
/// Each block is logged, but for those of the firmware.
const WITHOUT_FIRMWARE: [&str; 4] =
    ["-d", "exec,nochain,int", "-dfilter", "0..0x7fffffff,0x80020000..0xffffffffffffffff"];
/// The same for all blocks, as QEMU's monitor understands it: from the first fault on, since the firmware's own boot
/// takes 12 million instructions.
const WITH_FIRMWARE: &[u8] = b"log exec,nochain\n";
/// Where the firmware's code lies. An instance whose region that is has its code behind it.
const FIRMWARE: Range<u64> = 0x8000_0000..0x8002_0000;
const _: () = {
    let region = RegionId((FIRMWARE.start / REGION_SIZE) as u16);
    assert!(FIRMWARE.end - FIRMWARE.start <= IMAGE_OFFSET + image_spread(region));
};
/// What the supervisor prints at a fault.
const FAULT: &str = "illegal or privileged instruction";

/// How often each length of time occurred, in instructions or cycles.
pub type Lengths = BTreeMap<u64, u64>;

/// Adds the times of the system `bench/systems/NAME.toml`; with `firmware`, of a system that prints a fault,
/// those in which the firmware executes; from so many instructions, if `length` says.
pub fn add(name: &str, firmware: bool, length: Option<u64>, lengths: &mut Lengths) -> Result<()> {
    let length = length.unwrap_or(INSTRUCTIONS);
    let path = format!("bench/systems/{name}.toml");
    let image = build::build(&path, None)?;
    let on = interruptible(&Parts::new(&path, None)?);
    let monitor = paths::temporary(&std::env::temp_dir().join("cairn-monitor"));
    let mut further = STEPS.map(str::to_owned).to_vec();
    if firmware {
        let place = format!("unix:{},server=on,wait=off", monitor.display());
        further.extend(["-monitor".to_owned(), place]);
    } else {
        further.extend(WITHOUT_FIRMWARE.map(str::to_owned));
    }
    let options = Options { further, ..Options::default() };
    let mut child = machine::command(&image, &options, Console::Program)?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", qemu::PROGRAM))?;
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let stderr = BufReader::with_capacity(1 << 20, child.stderr.take().expect("stderr is piped"));
    // The log ends when the connection does.
    let begun = if firmware { log_from_fault(&mut stdout, &monitor).map(Some) } else { Ok(None) };
    // What the guest prints is read to its end, else it would wait.
    let rest = thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
    let counted = begun.and_then(|_connection| count(stderr, &on, firmware, length, lengths));
    // It may have ended by itself; then there is nothing to end.
    let _ = child.kill();
    let _ = child.wait();
    let _ = rest.join();
    let _ = std::fs::remove_file(&monitor);
    if counted? == 0 {
        bail!("the trace of system `{name}` shows no instruction with interrupts on");
    }
    Ok(())
}

/// Has QEMU log from the first fault that the guest prints on.
fn log_from_fault(stdout: &mut impl BufRead, monitor: &Path) -> Result<UnixStream> {
    let mut line = Vec::new();
    while !String::from_utf8_lossy(&line).contains(FAULT) {
        line.clear();
        if stdout.read_until(b'\n', &mut line)? == 0 {
            bail!("the system ended before it printed `{FAULT}`");
        }
    }
    let mut connection = UnixStream::connect(monitor)
        .with_context(|| format!("cannot reach QEMU's monitor at {}", monitor.display()))?;
    connection.write_all(WITH_FIRMWARE)?;
    Ok(connection)
}

/// Where the regions of the instances that run with interrupts on begin.
pub fn interruptible(parts: &Parts) -> Vec<u64> {
    let roles = &parts.system.roles;
    let off = [Some(roles.scheduler), roles.interrupts];
    let instances = parts.system.instances.iter().enumerate();
    instances
        .filter(|(index, _)| !off.contains(&Some(*index)))
        .map(|(_, instance)| instance.start_address())
        .collect()
}

/// Reads lines such as `Trace 0: 0x7f... [00000000/ffffffc000001234/00000101/ff000201] name`, and
/// those of traps. Returns how many instructions it counted. With `firmware` only runs with instructions of the firmware are of interest.
fn count(
    mut log: impl BufRead,
    on: &[u64],
    firmware: bool,
    length: u64,
    lengths: &mut Lengths,
) -> Result<u64> {
    let (mut counted, mut off, mut line, mut last) = (0, 0, String::new(), 0);
    let mut wanted = !firmware;
    // The nucleus begins at a physical address, where an instance's region may be later.
    let mut is_virtual = false;
    while counted < length {
        line.clear();
        if log.read_line(&mut line)? == 0 {
            break;
        }
        if trapped(&line).is_some_and(|address| on.contains(&(address & !(REGION_SIZE - 1)))) {
            if off > 0 && counted > 0 && wanted {
                *lengths.entry(off).or_default() += 1;
            }
            (off, wanted) = (0, !firmware);
            continue;
        }
        let Some(address) = address(&line) else { continue };
        // An instruction before which QEMU did something else is logged twice; none of ours jumps to
        // itself.
        if address == last {
            continue;
        }
        last = address;
        is_virtual |= address >= KERNEL;
        if !is_virtual {
            continue;
        }
        if on.contains(&(address & !(REGION_SIZE - 1))) {
            if off > 0 && counted > 0 && wanted {
                *lengths.entry(off).or_default() += 1;
            }
            (off, wanted) = (0, !firmware);
            counted += 1;
        } else {
            off += 1;
            wanted |= FIRMWARE.contains(&address);
            counted += u64::from(counted > 0);
        }
    }
    Ok(counted)
}

/// Where it happened, if the line tells of a trap: `riscv_cpu_do_interrupt: hart:0, async:1, cause:..., epc:0x...,
/// ...`.
fn trapped(line: &str) -> Option<u64> {
    let fields = line.strip_prefix("riscv_cpu_do_interrupt:")?.split_once("epc:0x")?.1;
    u64::from_str_radix(fields.split(',').next()?, 16).ok()
}

fn address(line: &str) -> Option<u64> {
    let fields = line.strip_prefix("Trace ")?.split_once('[')?.1;
    u64::from_str_radix(fields.split('/').nth(1)?, 16).ok()
}

/// The benchmark's result: the longest time.
pub fn result(name: &str, lengths: &Lengths) -> Option<Measured> {
    let (minimum, _) = lengths.first_key_value()?;
    let (longest, _) = lengths.last_key_value()?;
    let longest = *longest as f64;
    Some(Measured {
        name: name.to_owned(),
        minimum: *minimum as f64,
        median: longest,
        p99: longest,
        max: longest,
        samples: lengths.values().sum(),
        ..Measured::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::address::region;

    fn log(addresses: &[u64]) -> String {
        addresses
            .iter()
            .map(|pc| format!("Trace 0: 0x7f00 [00000000/{pc:016x}/00000101/ff000201] \n"))
            .collect()
    }

    #[test]
    fn a_trap_ends_a_run_before_the_next_instruction() {
        let (user, scheduler, kernel) =
            (region(RegionId(3)), region(RegionId(1)), 0xffff_ffc0_0000_0000);
        let trap = |address: u64| {
            format!(
                "riscv_cpu_do_interrupt: hart:0, async:0, cause:0c, epc:0x{address:016x}, tval:0x0\n"
            )
        };
        let run = [log(&[kernel, user, kernel]), trap(scheduler), log(&[kernel + 4])];
        let text = [run.concat(), trap(user + 8), log(&[kernel, user])];
        let mut lengths = Lengths::new();
        count(text.concat().as_bytes(), &[user], false, 100, &mut lengths).unwrap();
        assert_eq!(lengths, Lengths::from([(1, 1), (2, 1)]));
    }

    #[test]
    fn runs_between_interruptible_instructions_are_counted() {
        let (user, scheduler, kernel) =
            (region(RegionId(3)), region(RegionId(1)), 0xffff_ffc0_0000_0000);
        let next = scheduler + 4;
        let mut lengths = Lengths::new();
        // What comes before the first instruction with interrupts on is the boot.
        let log =
            log(&[kernel, user, kernel, scheduler, scheduler, next, kernel, user, kernel, user]);
        assert_eq!(count(log.as_bytes(), &[user], false, 100, &mut lengths).unwrap(), 8);
        assert_eq!(lengths, Lengths::from([(1, 1), (4, 1)]));
        let result = result("x", &lengths).unwrap();
        assert_eq!((result.minimum, result.median, result.max, result.samples), (1.0, 4.0, 4.0, 2));
    }

    #[test]
    fn runs_through_the_firmware_are_counted_alone() {
        let (user, kernel) = (region(RegionId(3)), 0xffff_ffc0_0000_0000);
        let mut lengths = Lengths::new();
        let log = log(&[
            kernel,
            user,
            kernel,
            kernel + 4,
            user,
            FIRMWARE.start,
            kernel,
            kernel + 4,
            user,
        ]);
        count(log.as_bytes(), &[user], true, 100, &mut lengths).unwrap();
        assert_eq!(lengths, Lengths::from([(3, 1)]));
    }
}
