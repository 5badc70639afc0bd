//! Writes anything into the queue of a disk: indexes, requests, answers, while the driver works on it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_queue::blocks::{ANSWERS, DATA, REQUESTS};
use cairn_random::Random;
// Relaxed: a count for people.
use core::sync::atomic::Ordering::Relaxed;

cairn::component! {
    name: "hostile-queue-client",
    imports: {
        threads: interfaces::Threads,
        queue: cairn_driver_interfaces::BlockQueue,
    },
    main: main,
}

/// Words of the other section: what was served, and what was refused as malformed.
const SERVED: usize = 0;
const REFUSED: usize = 1;

fn random() -> Random {
    Random::of_seed(environment::startup().generation ^ cairn::time::now() << 8)
}

fn main() {
    static STACKS: [Stack<8192>; 2] = [const { Stack::new() }; 2];
    let section = environment::section("queue").expect("the description has a section `queue`");
    // One is there while the driver waits for the disk, the other comes in between.
    for (stack, priority) in STACKS.iter().zip([30, 40]) {
        spawn(imports::THREADS, stack, scribbler, priority, priority as u8).expect("spawn");
    }
    let counts = environment::section("counts").expect("the description has a section `counts`");
    let counts = counts.words(2);
    let mut random = random();
    let mut beginning = 0;
    loop {
        scribble(&section, &mut random);
        match imports::QUEUE.submit(beginning) {
            Ok(served) => drop(counts[SERVED].fetch_add(served as i64, Relaxed)),
            Err(error) => {
                let is_malformed = error == Error::Malformed;
                counts[REFUSED].fetch_add(is_malformed.into(), Relaxed);
                beginning = imports::QUEUE.begin().unwrap_or(0);
            }
        }
    }
}

fn scribbler(priority: u64) {
    let section = environment::section("queue").expect("the description has a section `queue`");
    let mut random = random();
    loop {
        (0..random.below(20)).for_each(|_| scribble(&section, &mut random));
        if priority == 40 {
            let pause = cairn::time::ticks(random.below(200));
            let _ = imports::THREADS.sleep_until(cairn::time::now() + pause);
        }
    }
}

fn scribble(section: &Section, random: &mut Random) {
    let word = |number: usize| number * 8;
    match random.below(8) {
        // Requests that are some, or nearly.
        0..4 => {
            let published = section.load(word(REQUESTS.first));
            let entry = REQUESTS.first + 8 + (published % REQUESTS.capacity) as usize * 4;
            let kind = random.below(4) | random.below(34) << 41;
            let request = [random.next(), kind, random.below(32_800), random.below(140_000)];
            for (number, value) in request.into_iter().enumerate() {
                section.store(word(entry + number), value);
            }
            section.store(word(REQUESTS.first), published.wrapping_add(1));
        }
        4 => section.store(word(ANSWERS.first + 1), section.load(word(ANSWERS.first))),
        5 => {
            let index = [REQUESTS.first, REQUESTS.first + 1, REQUESTS.first + 2, ANSWERS.first];
            section.store(word(index[random.index(4)]), random.below(64));
        }
        6 => section.store(word(random.index(DATA / 8)), random.next()),
        _ => section.store(word(random.index(section.size() / 8)), random.next()),
    }
}
