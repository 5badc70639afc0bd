//! Replaces drivers while a disk, random bytes and a network are used, by themselves and by others, some of which do not serve.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment;
use cairn::thread::Stack;
use cairn_driver_interfaces::{Blocks, Frames, Random};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
// Relaxed: counts.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-drivers-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        memory: interfaces::MemoryStatistics,
        replacement: interfaces::Replacement,
        loader: interfaces::Loader,
        blocks: Blocks,
        random: Random,
        frames: Frames,
    },
    arguments: { rounds: u64 },
    main: main,
}

use imports::{BLOCKS, CONSOLE, FRAMES, LOADER, MEMORY, RANDOM, REPLACEMENT, SUPERVISOR, THREADS};

const LIMIT_MILLISECONDS: u64 = 500;
/// Words of the section that the writers of the disk have: it is over; how many are done.
const OVER: usize = 0;
const DONE: usize = 8;
const WRITERS: u64 = 3;

/// A question for the gateway's address, as `tests/network` asks it.
const QUESTION: usize = 60;
const GATEWAY: [u8; 4] = [10, 0, 2, 2];
const SELF: [u8; 4] = [10, 0, 2, 15];
const ARP: [u8; 2] = [8, 6];

static STACKS: [Stack<8192>; 3] = [const { Stack::new() }; 3];
static STOP: AtomicU64 = AtomicU64::new(0);
/// Of random bytes, of questions, of answers: how often, and how often with an error.
static ANSWERED: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
static LOST: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
static PAUSE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn count(place: usize, is_right: bool) {
    let counts = if is_right { &ANSWERED } else { &LOST };
    counts[place].fetch_add(1, Relaxed);
}

fn draw(place: u64) {
    let mut before = [0; 64];
    while STOP.load(Relaxed) == 0 {
        let mut bytes = [0; 64];
        let filled = RANDOM.fill(&mut bytes);
        let is_right = filled.is_ok_and(|count| (1..=64).contains(&count)) && bytes != before;
        count(place as usize, is_right);
        before = bytes;
        judge::pause(THREADS, 200);
    }
}

fn ask(place: u64) {
    let address = FRAMES.address().unwrap_or(0).to_le_bytes();
    let mut question = [0; QUESTION];
    question[..6].fill(0xff);
    question[6..12].copy_from_slice(&address[..6]);
    question[12..14].copy_from_slice(&ARP);
    question[14..22].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, 1]);
    question[22..28].copy_from_slice(&address[..6]);
    question[28..32].copy_from_slice(&SELF);
    question[38..42].copy_from_slice(&GATEWAY);
    while STOP.load(Relaxed) == 0 {
        count(place as usize, FRAMES.send(&question).is_ok());
        judge::pause(THREADS, 500);
    }
}

/// A frame that comes while the device is reset is lost, as one is for which there is no buffer; but who waits here gets no error, and never
/// another's bytes.
fn hear(place: u64) {
    let mut frame = [0; 1514];
    while STOP.load(Relaxed) == 0 {
        let length = FRAMES.receive(&mut frame);
        let is_answer = frame[12..14] != ARP || frame[28..32] == GATEWAY && frame[38..42] == SELF;
        count(place as usize, length.is_ok_and(|length| length >= QUESTION) && is_answer);
    }
}

fn replace(place: usize, name: &str, package: &str) -> Result<(), Error> {
    let replaced = REPLACEMENT.replace(name, package, LIMIT_MILLISECONDS);
    PAUSE[place].fetch_max(replaced.unwrap_or(0), Relaxed);
    replaced.map(drop).inspect_err(|_| {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("replaced: {package}: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    })
}

fn under_load() {
    let load: [_; 3] = [draw, ask, hear];
    for (place, body) in load.into_iter().enumerate() {
        spawn(THREADS, &STACKS[place], body, place as u64, 60).expect("a thread");
    }
    let mut before = Err(Error::Unknown);
    for round in 0..arguments::rounds() {
        let disk = ["disk2", "large"][round as usize % 2];
        for (place, (name, package)) in
            [("disk", disk), ("rng", "rng2"), ("card", "card2")].into_iter().enumerate()
        {
            let answered = ANSWERED.each_ref().map(|count| count.load(Relaxed));
            expect(package, replace(place, name, package), Ok(()));
            // All go on.
            let go_on = judge::wait_until(THREADS, || {
                ANSWERED.iter().zip(answered).all(|(now, then)| now.load(Relaxed) > then)
            });
            if !go_on {
                expect("all go on", ANSWERED.each_ref().map(|now| now.load(Relaxed)), answered);
            }
        }
        if round == 0 {
            // All content is of packages now.
            before = MEMORY.usage();
        }
        // What does not serve, with requests on their way.
        expect("broken", replace(0, "disk", "broken"), Err(Error::Dead));
    }
    // The disk is not the larger one.
    expect("to the first", replace(0, "disk", "disk2"), Ok(()));
    expect("nothing is left", MEMORY.usage(), before);
    STOP.store(1, Relaxed);
    expect("errors", LOST.each_ref().map(|count| count.load(Relaxed)), [0; 3]);
    let pauses = PAUSE.each_ref().map(|pause| pause.load(Relaxed));
    say!("replaced-drivers: callers waited for {pauses:?} ticks at most");
    say!("ok: replaced under load");
}

fn hostile() {
    let fill = || RANDOM.fill(&mut [0; 8]);
    // What it gave its device is in the memory that the next one has.
    expect("leaves", replace(1, "rng", "leaves"), Ok(()));
    for _ in 0..3 {
        expect("it offers all", fill(), Ok(0));
    }
    expect("looks", replace(1, "rng", "looks"), Ok(()));
    expect("no word was written", fill(), Ok(0));
    say!("ok: what a device was given before is not done after");
    for (package, error) in [("faults", Error::Dead), ("sleeps", Error::NotReady)] {
        expect(package, replace(1, "rng", package), Err(error));
        expect("the old goes on, and finds nothing", fill(), Ok(0));
    }
    expect("the driver again", replace(1, "rng", "rng2"), Ok(()));
    expect("bytes", fill(), Ok(8));
    expect("lies", replace(1, "rng", "lies"), Ok(()));
    expect("it cannot be replaced", replace(1, "rng", "rng2"), Err(Error::Malformed));
    expect("it goes on", fill(), Ok(0));
    say!("ok: rolled back");
}

fn main() {
    judge::wait_until(THREADS, || {
        BLOCKS.size().is_ok() && RANDOM.fill(&mut [0; 8]).is_ok() && FRAMES.address().is_ok()
    });
    under_load();
    hostile();
    let shared = environment::section("deaths").expect("the description has a section `deaths`");
    shared.store(OVER, 1);
    judge::wait_until(THREADS, || shared.load(DONE) == WRITERS);
    // Below the console, which has said everything when this thread goes on.
    static STACK: Stack<8192> = Stack::new();
    let _ = spawn(THREADS, &STACK, end, 0, 40).and_then(|last| last.join());
}

fn end(_: u64) {
    say!("replaced-drivers: done");
    let _ = SUPERVISOR.halt(0);
}
