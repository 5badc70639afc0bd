//! The time interrupts are off, from a trace of every executed block of instructions.
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
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::thread;

/// Instructions that are traced in each system, from the first one with interrupts on.
const INSTRUCTIONS: u64 = 1_000_000;
const COUNTED: [&str; 2] = ["-icount", "shift=0,sleep=off"];
/// Each block is logged, and its instructions when it is translated, but for those of the firmware.
const WITHOUT_FIRMWARE: [&str; 4] =
    ["-d", "exec,nochain,int,in_asm", "-dfilter", "0..0x7fffffff,0x80020000..0xffffffffffffffff"];
/// Every instruction is a translated block of its own: what was translated before the log begins is not in it.
const STEPS: &str = "-singlestep";
/// All of them are logged, as QEMU's monitor understands it: from the first fault on, since the firmware's own boot
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
    let mut further = COUNTED.map(str::to_owned).to_vec();
    if firmware {
        let place = format!("unix:{},server=on,wait=off", monitor.display());
        further.extend([STEPS.to_owned(), "-monitor".to_owned(), place]);
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

/// The times without interrupts in what was executed so far.
struct Runs<'a> {
    /// Where the regions of the instances that run with interrupts on begin.
    on: &'a [u64],
    /// Whether only times with instructions of the firmware are of interest.
    firmware: bool,
    lengths: &'a mut Lengths,
    /// Instructions, from the first one with interrupts on.
    counted: u64,
    /// Those since interrupts are off, and whether that time is of interest.
    off: u64,
    wanted: bool,
    /// The nucleus begins at a physical address, where an instance's region may be later.
    is_virtual: bool,
}

impl Runs<'_> {
    fn is_on(&self, address: u64) -> bool {
        self.on.contains(&(address & !(REGION_SIZE - 1)))
    }

    /// Interrupts are on.
    fn end(&mut self) {
        if self.off > 0 && self.counted > 0 && self.wanted {
            *self.lengths.entry(self.off).or_default() += 1;
        }
        (self.off, self.wanted) = (0, !self.firmware);
    }

    /// A block was executed to its end, if there was one. Without its instructions it is a single one.
    fn execute_all(&mut self, blocks: &HashMap<u64, Vec<u64>>, block: Option<(u64, u64)>) {
        let Some((block, begin)) = block else { return };
        self.execute(begin, blocks.get(&block).map_or(1, |all| all.len() as u64));
    }

    /// So many instructions of a block at `address` were executed.
    fn execute(&mut self, address: u64, instructions: u64) {
        self.is_virtual |= address >= KERNEL;
        if !self.is_virtual || instructions == 0 {
            return;
        }
        if self.is_on(address) {
            self.end();
            self.counted += instructions;
            return;
        }
        self.off += instructions;
        self.wanted |= FIRMWARE.contains(&address);
        if self.counted > 0 {
            self.counted += instructions;
        }
    }
}

/// Reads lines such as `Trace 0: 0x7f... [00000000/ffffffc000001234/00000101/ff000201] name`, those of traps, and the instructions of blocks,
/// `0xffffffc000001234:  00008067  ret`, which come before a block is executed first. Returns how many instructions it counted.
fn count(
    mut log: impl BufRead,
    on: &[u64],
    firmware: bool,
    length: u64,
    lengths: &mut Lengths,
) -> Result<u64> {
    let mut runs =
        Runs { on, firmware, lengths, counted: 0, off: 0, wanted: !firmware, is_virtual: false };
    let mut blocks: HashMap<u64, Vec<u64>> = HashMap::new();
    let (mut translated, mut line) = (Vec::new(), String::new());
    // The last one: only what comes behind it tells whether it was executed, and how far.
    let mut last: Option<(u64, u64)> = None;
    while runs.counted < length {
        line.clear();
        if log.read_line(&mut line)? == 0 {
            break;
        }
        if let Some(address) = line.strip_prefix("0x") {
            translated.extend(hexadecimal(address.split(':').next()));
        } else if line.starts_with("Stopped execution of TB chain before") {
            last = None;
        } else if let Some((_, address)) = line.split_once("rewound execution of TB to ") {
            // What it was stopped by, an access to a device, begins a block of its own.
            let Some((block, begin)) = last.take() else { continue };
            let address = hexadecimal(Some(address.trim_end())).unwrap_or(begin);
            let all = blocks.get(&block).map_or(&[][..], Vec::as_slice);
            runs.execute(begin, all.iter().filter(|one| **one < address).count() as u64);
        } else {
            let trapped = trapped(&line);
            let begun = block(&line);
            if trapped.is_none() && begun.is_none() {
                continue;
            }
            runs.execute_all(&blocks, last.take());
            if trapped.is_some_and(|address| runs.is_on(address)) {
                runs.end();
            }
            if let Some((block, address)) = begun {
                if !translated.is_empty() {
                    blocks.insert(block, std::mem::take(&mut translated));
                }
                last = Some((block, address));
            }
        }
    }
    runs.execute_all(&blocks, last);
    Ok(runs.counted)
}

/// Where it happened, if the line tells of a trap: `riscv_cpu_do_interrupt: hart:0, async:1, cause:..., epc:0x...,
/// ...`.
fn trapped(line: &str) -> Option<u64> {
    let fields = line.strip_prefix("riscv_cpu_do_interrupt:")?.split_once("epc:0x")?.1;
    u64::from_str_radix(fields.split(',').next()?, 16).ok()
}

/// Which block, by where QEMU has it, and where it begins, if the line tells of one that is executed.
fn block(line: &str) -> Option<(u64, u64)> {
    let (before, fields) = line.strip_prefix("Trace ")?.split_once('[')?;
    let place = before.split_whitespace().last();
    Some((hexadecimal(place)?, hexadecimal(fields.split('/').nth(1))?))
}

fn hexadecimal(digits: Option<&str>) -> Option<u64> {
    u64::from_str_radix(digits?.trim_start_matches("0x"), 16).ok()
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
        // One before which QEMU did something else is logged twice.
        let stopped = format!("Stopped execution of TB chain before 0x7f00 [{scheduler:016x}] \n");
        let log = [
            log(&[kernel, user, kernel, scheduler]),
            stopped,
            log(&[scheduler, next, kernel, user, kernel, user]),
        ]
        .concat();
        assert_eq!(count(log.as_bytes(), &[user], false, 100, &mut lengths).unwrap(), 8);
        assert_eq!(lengths, Lengths::from([(1, 1), (4, 1)]));
        let result = result("x", &lengths).unwrap();
        assert_eq!((result.minimum, result.median, result.max, result.samples), (1.0, 4.0, 4.0, 2));
    }

    #[test]
    fn blocks_have_the_instructions_that_they_were_translated_from() {
        let (user, kernel) = (region(RegionId(3)), 0xffff_ffc0_0000_0000);
        let translated = |first: u64, count: u64| -> String {
            let lines = (0..count).map(|at| format!("0x{:016x}:  00000013  nop\n", first + 4 * at));
            ["IN: \nPriv: 1; Virt: 0\n".to_owned()].into_iter().chain(lines).collect()
        };
        let executed = |block: u64, first: u64| {
            format!("Trace 0: 0x7f0{block} [00000000/{first:016x}/00000101/ff000201] \n")
        };
        let rewound = format!("cpu_io_recompile: rewound execution of TB to {:016x}\n", kernel + 8);
        let text = [
            translated(kernel + 64, 1) + &executed(4, kernel + 64),
            translated(user, 2) + &executed(1, user),
            translated(kernel, 5) + &executed(2, kernel) + &executed(1, user),
            // An access to a device stops it behind two.
            executed(2, kernel) + &rewound + &translated(kernel + 8, 1) + &executed(3, kernel + 8),
            executed(1, user),
        ];
        let mut lengths = Lengths::new();
        let counted = count(text.concat().as_bytes(), &[user], false, 100, &mut lengths).unwrap();
        assert_eq!((counted, lengths), (14, Lengths::from([(3, 1), (5, 1)])));
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
