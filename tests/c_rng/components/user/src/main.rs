//! Reads random bytes with several threads, also while their driver ends.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn_driver_interfaces::Random;
use cairn_interfaces::{Console, Supervisor, Threads, spawn};
use core::fmt::Arguments;
// Relaxed: a counter and a flag, which order nothing else.
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "c-rng-user",
    imports: { console: Console, threads: Threads, supervisor: Supervisor, random: Random },
    main: main,
}

/// One more than the driver has places, so that one waits for a place.
const READERS: usize = 5;
/// How often the driver ends.
const ENDS: u64 = 8;
/// Answers to each reader in each life of the driver, at least.
const ANSWERS: u64 = 3;
/// Most bytes of an answer of the driver.
const MOST: usize = 512;

static ANSWERED: [AtomicU64; READERS] = [const { AtomicU64::new(0) }; READERS];
static IS_OVER: AtomicBool = AtomicBool::new(false);
/// Calls that the end of the driver, or its new beginning, turned away.
static TURNED_AWAY: AtomicU64 = AtomicU64::new(0);

fn say(text: Arguments) {
    let _ = imports::CONSOLE.print(format_args!("{text}\n"));
}

fn pause() {
    let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100));
}

/// Until the driver has begun, and begun again.
fn fill(buffer: &mut [u8]) -> usize {
    loop {
        match imports::RANDOM.fill(buffer) {
            Ok(count) => return count,
            Err(Error::Busy | Error::Dead | Error::NoPortal | Error::Cancelled) => {
                TURNED_AWAY.fetch_add(1, Relaxed);
                pause();
            }
            Err(error) => panic!("{}", error.text()),
        }
    }
}

fn main() {
    assert_eq!(imports::RANDOM.fill(&mut []), Ok(0));
    let mut bytes = [0; 2 * MOST];
    let count = fill(&mut bytes[..1]);
    assert!(count == 1 && bytes[1..].iter().all(|byte| *byte == 0), "no more than was asked for");
    let count = fill(&mut bytes);
    assert!((1..=MOST).contains(&count));
    assert!(bytes[count..].iter().all(|byte| *byte == 0), "no more than it says");
    say(format_args!("ok: no more than what fits"));
    under_load();
    let _ = imports::SUPERVISOR.halt(0);
}

fn read(number: u64) {
    let mut last = [0; 64];
    while !IS_OVER.load(Relaxed) {
        let mut bytes = [0; 64];
        let count = fill(&mut bytes);
        // That 8 bytes come twice, or are all zero, happens once in 2^64 times.
        assert!(count < 8 || bytes[..8] != last[..8] && bytes[..8] != [0; 8], "the same again");
        last = bytes;
        ANSWERED[number as usize].fetch_add(1, Relaxed);
    }
}

fn answered_again() {
    for answered in &ANSWERED {
        let before = answered.load(Relaxed);
        while answered.load(Relaxed) < before + ANSWERS {
            pause();
        }
    }
}

fn under_load() {
    static STACKS: [Stack<8192>; READERS] = [const { Stack::new() }; READERS];
    let readers: [_; READERS] = core::array::from_fn(|number| {
        spawn(imports::THREADS, &STACKS[number], read, number as u64, 40).expect("spawn")
    });
    for _ in 0..ENDS {
        answered_again();
        imports::SUPERVISOR.restart("rng").expect("restart");
    }
    answered_again();
    IS_OVER.store(true, Relaxed);
    for reader in readers {
        reader.join().expect("join");
    }
    assert!(TURNED_AWAY.load(Relaxed) > 0, "it ended under load");
    say(format_args!("ok: the driver ended {ENDS} times, and answers again"));
}
