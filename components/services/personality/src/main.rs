//! Runs static programs of Linux, each a process, without any kernel of Linux: what they call is answered here, over Cairn's console and time
//! and an archive of files. The Pebble paper runs programs of another system in this way, as an emulation.
//!
//! `argument` of the description is the first program with its arguments, as `/bin/busybox sh`; the section `root` is a tar archive of files.
//! When the first program ends, so does the component's main function.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

mod arch;
mod calls;
mod clock;
mod frames;
mod limits;
mod memory;
mod node;
mod open;
mod process;
mod program;
mod signals;
mod system;
mod terminal;
mod tree;

use alloc::rc::Rc;
use alloc::vec::Vec;
use cairn::abi::upcall::Fault;
use cairn::environment::{argument, section};
use cairn::process::{Carrier, Exit, FloatingPoint, Tables, carry};
use cairn::thread::{Stack, spawn};
use cairn::time::Instant;
use cairn_personality::errno::Errno;
use cairn_random::Random;
// Relaxed: each is one flag, and what it announces is read after a call of the scheduler.
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;
use frames::Frames;
use linux_raw_sys::general::{SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
use memory::Machine;
use node::Store;
use process::State;
use program::Texts;
use signals::Cause;
use system::System;
use tree::Tree;

cairn::component! {
    name: "personality",
    imports: {
        console: cairn_interfaces::Console,
        threads: cairn_interfaces::Threads,
        portals: cairn_interfaces::Portals,
        wall_clock: Option<cairn_driver_interfaces::WallClock>,
        random: Option<cairn_driver_interfaces::Random>,
    },
    main: main,
}

/// How long a process computes before others do.
const SLICE: Duration = Duration::from_millis(10);
/// The code in `siginfo` that nothing is mapped at an address.
const NOT_MAPPED: i32 = 1;

static CARRIER: Stack<98304> = Stack::new();
static LISTENER: Stack<16384> = Stack::new();
/// A process runs, so that the clock has something to interrupt.
static RUNS: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicBool = AtomicBool::new(false);

/// The clock: who computes without end is left for others.
fn main() {
    let _listener = spawn(&LISTENER, 30, terminal::listen).expect("`threads` is at least 3");
    let _carrier = spawn(&CARRIER, 29, || {
        let error = carry(|carrier| serve(carrier));
        panic!("`processes` in the description: {}", error.text())
    });
    while !ENDED.load(Relaxed) {
        let _ = cairn::thread::sleep(SLICE);
        if RUNS.load(Relaxed) {
            let _ = cairn::process::interrupt();
        }
    }
}

/// Says something of the personality itself.
fn say(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.print(format_args!("personality: {text}\n"));
}

fn serve(carrier: Carrier) -> ! {
    clock::set();
    let status = match begin() {
        Ok(mut system) => run(&mut system, carrier),
        Err(error) => {
            say(format_args!("`{}` does not begin: {error:?}", argument()));
            127 << 8
        }
    };
    match status & 0x7f {
        0 => say(format_args!("the first process has ended with {}", status >> 8)),
        signal => say(format_args!("the first process was ended by signal {signal}")),
    }
    ENDED.store(true, Relaxed);
    loop {
        let _ = cairn::thread::sleep(Duration::from_secs(3600));
    }
}

/// The tree of files, and the first process.
fn begin() -> Result<System, Errno> {
    let tables = Tables::new().expect("`processes` in the description");
    let frames = Rc::new(Frames::new(*tables.memory()));
    let return_frame = frames.take_zero()?;
    for (place, word) in (0..).zip(arch::WAY_BACK) {
        frames.write(return_frame, place * 4, &word.to_le_bytes());
    }
    let store = Store::new(Rc::clone(&frames));
    let root = section("root").expect("a section `root`, a tar archive");
    let tree = Tree::read(root, store)?;
    let machine = Machine { tables, frames, return_frame };
    let mut system = System::new(machine, tree, Random::new(seed()));
    let words = argument().split_whitespace();
    let arguments: Vec<Vec<u8>> = words.map(|word| word.as_bytes().to_vec()).collect();
    let environment = ["PATH=/sbin:/usr/sbin:/bin:/usr/bin", "HOME=/root", "TERM=linux"];
    let environment = environment.map(|text| text.as_bytes().to_vec()).to_vec();
    system.begin(Texts { arguments, environment })?;
    Ok(system)
}

/// Where chance begins: the description's source of it, or the time.
fn seed() -> u64 {
    let mut bytes = [0; 8];
    let source = imports::RANDOM.get();
    match source.map(|source| source.fill(&mut bytes)) {
        Some(Ok(8)) => u64::from_le_bytes(bytes),
        _ => cairn::time::counter(),
    }
}

/// Until the first process has ended: its status.
fn run(system: &mut System, carrier: Carrier) -> u32 {
    let mut runner = Runner { carrier, last: 0 };
    loop {
        if let Some(status) = system.has_ended() {
            return status;
        }
        system.look();
        if system.choose() {
            runner.run(system);
        } else {
            RUNS.store(false, Relaxed);
            let _ = match system.first_time() {
                Some(time) => terminal::EVENTS.acquire_before(Instant::from_ticks(time)),
                None => terminal::EVENTS.acquire(),
            };
        }
    }
}

struct Runner {
    carrier: Carrier,
    /// Whose registers the floating-point unit has; 0: nobody's.
    last: u32,
}

impl Runner {
    /// Goes on with the process whose turn it is until it is left, and does what it was left for.
    fn run(&mut self, system: &mut System) {
        let process = system.me();
        let is_repeated = calls::is_repeated(&process.registers);
        if process.signals.has_come() && !system.take_signals(is_repeated) {
            return;
        }
        let process = system.me();
        if let State::Waits(_) = process.state {
            process.state = State::Ready;
            return calls::answer(system);
        }
        let Some(space) = process.memory.as_ref().map(|memory| memory.space) else { return };
        if self.last != process.number {
            // A process is the last one only with what it has had there itself.
            let _ = self.carrier.set_float(process.float.as_ref());
            self.last = process.number;
        }
        RUNS.store(true, Relaxed);
        let begin = cairn::time::counter();
        let exit = self.carrier.run(space, &mut process.registers);
        process.computed += cairn::time::counter() - begin;
        if process.float.is_some() {
            process.float = self.carrier.float().ok();
            // What it is answered, and signals, may change them.
            self.last = 0;
        }
        match exit {
            Ok(Exit::Called) => calls::answer(system),
            Ok(Exit::Fault(fault)) => self.fault(system, fault),
            Ok(Exit::Interrupted) => {}
            Err(error) => panic!("a space that is there: {}", error.text()),
        }
    }

    fn fault(&mut self, system: &mut System, fault: Fault) {
        let (process, machine) = system.parts();
        let (signal, cause) = match fault {
            Fault::FloatingPoint if process.float.is_none() => {
                let first = FloatingPoint::default();
                if self.carrier.set_float(Some(&first)).is_ok() {
                    process.float = Some(first);
                    return;
                }
                (SIGILL, Cause::default())
            }
            Fault::Denied(access, address) => {
                let memory = process.memory.as_mut();
                match memory.map(|memory| memory.fault(machine, access, address)) {
                    Some(Ok(())) => return,
                    Some(Err(Errno::ENOMEM)) => {
                        system.make_room();
                        return;
                    }
                    _ => (SIGSEGV, Cause { code: NOT_MAPPED, word: address }),
                }
            }
            Fault::Misaligned(_, address) | Fault::Absent(_, address) => {
                (SIGBUS, Cause { code: NOT_MAPPED, word: address })
            }
            Fault::Breakpoint => (SIGTRAP, Cause { code: 1, word: process.registers.counter }),
            Fault::Illegal | Fault::FloatingPoint => {
                (SIGILL, Cause { code: 1, word: process.registers.counter })
            }
            Fault::Other(_) => (SIGFPE, Cause { code: 1, word: process.registers.counter }),
        };
        signals::fault(process, signal, cause);
    }
}
