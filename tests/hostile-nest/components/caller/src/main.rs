//! Calls links that call each other, and holds them to their answers.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;
use cairn_test_nest_link::Link;
use core::hint::black_box;

cairn::component! {
    name: "nest-caller",
    imports: { console: interfaces::Console, threads: interfaces::Threads, left: Link, right: Link },
    main: main,
}

static STACK: Stack<8192> = Stack::new();
/// Deeper than any stack.
const DEPTH: u64 = 60;

fn main() {
    let own: u64 = environment::argument()[..1].parse().unwrap_or(0);
    let _second = spawn(imports::THREADS, &STACK, attack, own + 100, 20 + own as u8);
    attack(own);
}

fn attack(seed: u64) {
    let mut random = Random::of_seed(seed);
    loop {
        let kept: [u64; 10] = core::array::from_fn(|at| black_box(seed + at as u64));
        let link = if random.below(2) == 0 { imports::LEFT } else { imports::RIGHT };
        let most = if random.below(8) == 0 { DEPTH } else { 8 };
        let (depth, path) = (random.below(most), random.next());
        let mut bytes = [0; 64];
        let found = match random.below(3) {
            0 => link.pass(depth, path, &mut bytes),
            _ => link.down(depth, path),
        };
        let is_right = match found {
            Ok(reached) => reached == depth,
            Err(Error::Dead) => {
                let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(200));
                true
            }
            // What there is not room for, and what was called home.
            Err(error) => !matches!(error, Error::Malformed | Error::Unknown | Error::BadPointer),
        };
        let is_kept = kept.iter().enumerate().all(|(at, word)| *word == seed + at as u64);
        if !is_right || !is_kept {
            let _ = imports::CONSOLE
                .print(format_args!("FAILED: {depth} {path:#x} {found:?} {is_kept}\n"));
        }
    }
}
