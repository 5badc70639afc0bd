//! Ends the drivers of a disk and of a source of random bytes, together and one by one, at instants of chance while both have requests; behind each
//! end both serve again, and what the disk reads is what is on it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_driver_interfaces::BLOCK_SIZE;
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

cairn::component! {
    name: "judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        blocks: cairn_driver_interfaces::Blocks,
        random: cairn_driver_interfaces::Random,
    },
    main: main,
}

const DEATHS: u64 = 100;
/// Looks until both serve again, so many microseconds apart.
const LOOKS: u64 = 3000;
const LOOK: u64 = 1000;
const BYTES: usize = 16 * BLOCK_SIZE as usize;

/// What came from the disk, or from the source, that cannot have.
static WRONG: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

fn note(is_right: bool) {
    DONE.fetch_add(1, SeqCst);
    WRONG.fetch_add(u64::from(!is_right), SeqCst);
}

/// Each block says everywhere which it is.
fn is_block(bytes: &[u8], first: u64) -> bool {
    let blocks = bytes.chunks_exact(BLOCK_SIZE as usize).zip(first..);
    blocks.into_iter().all(|(block, number)| block.iter().all(|byte| *byte == number as u8 | 1))
}

fn reads(_: u64) {
    let mut random = Random::of_seed(2);
    let mut buffer = [0; BYTES];
    loop {
        let first = random.below(64);
        match imports::BLOCKS.read(first, &mut buffer) {
            Ok(()) => note(is_block(&buffer, first)),
            Err(_) => pause(100),
        }
    }
}

fn fills(_: u64) {
    let mut buffer = [0; 256];
    loop {
        buffer.fill(0);
        match imports::RANDOM.fill(&mut buffer) {
            // The source's memory of before has nothing of the disk, and no zeros.
            Ok(count) => note(count < 64 || buffer[..count].iter().any(|byte| *byte != buffer[0])),
            Err(_) => pause(100),
        }
    }
}

fn serve() -> bool {
    let mut bytes = [0; BLOCK_SIZE as usize];
    let mut served =
        || imports::BLOCKS.read(3, &mut bytes).is_ok() && imports::RANDOM.fill(&mut bytes).is_ok();
    (0..LOOKS).any(|_| {
        let is_served = served();
        if !is_served {
            pause(LOOK);
        }
        is_served
    })
}

fn main() {
    static STACKS: [Stack<16384>; 2] = [const { Stack::new() }; 2];
    let mut random = Random::of_seed(1);
    let mut all = serve();
    let mut block = [0; BLOCK_SIZE as usize];
    for number in 0..64 + 16 {
        block.fill(number as u8 | 1);
        imports::BLOCKS.write(number, &block).expect("write");
    }
    spawn(imports::THREADS, &STACKS[0], reads, 0, 40).expect("spawn");
    spawn(imports::THREADS, &STACKS[1], fills, 0, 40).expect("spawn");
    for _ in 0..DEATHS {
        pause(random.below(3000));
        let which = random.below(3);
        if which != 1 {
            let _ = imports::SUPERVISOR.restart("disk");
        }
        if which != 0 {
            let _ = imports::SUPERVISOR.restart("rng");
        }
        all &= serve();
    }
    let (done, wrong) = (DONE.load(SeqCst), WRONG.load(SeqCst));
    let word = if all && wrong == 0 && done > DEATHS { "ok:" } else { "FAILED:" };
    let _ = imports::CONSOLE.print(format_args!(
        "{word} {DEATHS} deaths, {done} requests, {wrong} wrong, all served: {all}\n"
    ));
    let _ = imports::SUPERVISOR.halt(0);
}
