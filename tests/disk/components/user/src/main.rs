//! Writes and reads a disk from several threads, also while its driver ends (`ends`, so many times): what was acknowledged is there.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::text::Line;
use cairn::thread::Stack;
use cairn_driver_interfaces::BLOCK_SIZE;
use cairn_interfaces::{self as interfaces, spawn};
use core::fmt::Arguments;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "disk-user",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        blocks: cairn_driver_interfaces::Blocks,
        random: Option<cairn_driver_interfaces::Random>,
    },
    arguments: {
        ends: u64 = 8,
    },
    main: main,
}

/// Writers beside each other, each with a part of the disk.
const WRITERS: u64 = 3;
/// Blocks of a part.
const PART: u64 = 64;
/// How often each is written at least.
const TIMES: u64 = 2;
/// Where lengths are tried: an odd block.
const FIRST: u64 = 1001;
/// Bytes of the longest buffer of a call.
const LONGEST: usize = 16 << 10;

fn say(text: Arguments) {
    let _ = imports::CONSOLE.write(Line::<96>::of(format_args!("{text}\n")).bytes());
}

/// What block `block` has after it was written for the `time`th time: its number and the time in every word.
fn fill(buffer: &mut [u8], first: u64, time: u64) {
    for (number, word) in buffer.chunks_exact_mut(8).enumerate() {
        let block = first + number as u64 * 8 / BLOCK_SIZE;
        word.copy_from_slice(&(block << 32 | time).to_le_bytes());
    }
}

fn main() {
    let (size, writable) = retried(|| imports::BLOCKS.size());
    say(format_args!("ok: a disk of {size} blocks, writable: {writable}"));
    errors(size);
    lengths();
    random();
    under_load();
    let _ = imports::SUPERVISOR.halt(0);
}

/// Until the driver has begun, and begun again.
fn retried<R>(mut operation: impl FnMut() -> Result<R, Error>) -> R {
    loop {
        match operation() {
            Ok(result) => return result,
            Err(Error::Busy | Error::Dead | Error::NoPortal | Error::Cancelled) => {
                let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100));
            }
            Err(error) => panic!("{}", error.text()),
        }
    }
}

fn errors(size: u64) {
    let mut buffer = [0; 1024];
    let bad = Err(Error::BadArgument);
    assert_eq!(imports::BLOCKS.read(size - 1, &mut buffer), bad, "one block too many");
    assert_eq!(imports::BLOCKS.read(size, &mut buffer[..512]), bad);
    assert_eq!(imports::BLOCKS.read(u64::MAX, &mut buffer), bad);
    assert_eq!(imports::BLOCKS.write(u64::MAX - 1, &buffer), bad);
    assert_eq!(imports::BLOCKS.read(0, &mut buffer[..511]), bad, "no whole block");
    assert_eq!(imports::BLOCKS.write(0, &[]), bad);
    say(format_args!("ok: what is not on the disk is refused"));
}

/// Every number of blocks that a call can have, there and back.
fn lengths() {
    let mut buffer = [0; LONGEST];
    for blocks in 1..=LONGEST / BLOCK_SIZE as usize {
        let part = &mut buffer[..blocks * BLOCK_SIZE as usize];
        fill(part, FIRST, blocks as u64);
        retried(|| imports::BLOCKS.write(FIRST, part));
        part.fill(0);
        imports::BLOCKS.read(FIRST, part).expect("read");
        let mut expected = [0; BLOCK_SIZE as usize];
        for (number, block) in part.chunks_exact(BLOCK_SIZE as usize).enumerate() {
            fill(&mut expected, FIRST + number as u64, blocks as u64);
            assert_eq!(block, expected, "block {number} of {blocks}");
        }
    }
    imports::BLOCKS.flush().expect("flush");
    say(format_args!("ok: up to 16 KiB there and back"));
}

fn random() {
    let Some(source) = imports::RANDOM.get() else { return };
    let (mut first, mut second) = ([0; 64], [0; 64]);
    let count = retried(|| source.fill(&mut [0; 8]));
    assert!((1..=8).contains(&count));
    source.fill(&mut first).expect("random bytes");
    source.fill(&mut second).expect("random bytes");
    assert!(first != second && first.iter().any(|byte| *byte != 0));
    say(format_args!("ok: random bytes"));
}

/// How often a writer's blocks were written, all of them, with the answer that they were.
static ACKNOWLEDGED: [AtomicU64; WRITERS as usize] =
    [const { AtomicU64::new(0) }; WRITERS as usize];
static ENDED: AtomicU64 = AtomicU64::new(0);

fn write(number: u64) {
    let first = number * PART;
    let mut buffer = [0; 1024];
    let mut time = 0;
    while time < TIMES || ENDED.load(Relaxed) < arguments::ends() {
        time += 1;
        for block in (first..first + PART).step_by(2) {
            fill(&mut buffer, block, time);
            retried(|| imports::BLOCKS.write(block, &buffer));
        }
        retried(|| imports::BLOCKS.flush());
        ACKNOWLEDGED[number as usize].store(time, Relaxed);
    }
}

/// The driver is killed again and again; it starts again, and its device with it.
fn under_load() {
    static STACKS: [Stack<8192>; WRITERS as usize] = [const { Stack::new() }; WRITERS as usize];
    let writers: [_; WRITERS as usize] = core::array::from_fn(|number| {
        spawn(imports::THREADS, &STACKS[number], write, number as u64, 40).expect("spawn")
    });
    for _ in 0..arguments::ends() {
        let before = ACKNOWLEDGED[0].load(Relaxed);
        while ACKNOWLEDGED[0].load(Relaxed) < before + 2 {
            let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100));
        }
        imports::SUPERVISOR.restart("disk").expect("restart");
        ENDED.fetch_add(1, Relaxed);
    }
    for writer in writers {
        writer.join().expect("join");
    }
    for (number, times) in (0..WRITERS).zip(&ACKNOWLEDGED) {
        let mut expected = [0; BLOCK_SIZE as usize];
        for block in number * PART..(number + 1) * PART {
            let mut found = [0; BLOCK_SIZE as usize];
            retried(|| imports::BLOCKS.read(block, &mut found));
            fill(&mut expected, block, times.load(Relaxed));
            assert_eq!(found, expected, "block {block}");
        }
    }
    let ends = arguments::ends();
    say(format_args!("ok: the driver ended {ends} times, and nothing acknowledged is lost"));
}
