//! Calls the component in the kernel domain with whatever words, makes it fault, and holds it to its answers.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod memory;

use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;
use cairn_test_kernel_inside::{Inside, mixed};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "caller",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        memory: interfaces::Memory,
        inside: Inside,
        #[minimal] minimal: Inside,
    },
    main: main,
}

static STACK: Stack<8192> = Stack::new();
static GIVER: Stack<4096> = Stack::new();
/// Deeper than its stack.
const BEYOND: u64 = 1000;

/// Calls that were made.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// When it says so.
const MANY: u64 = 50_000;

fn main() {
    let own: u64 = environment::argument()[..1].parse().unwrap_or(0);
    let _second = spawn(imports::THREADS, &STACK, attack, own + 100, 20 + own as u8);
    let _giver = spawn(imports::THREADS, &GIVER, memory::give_and_take, own, 30);
    attack(own);
}

fn attack(seed: u64) {
    let mut random = Random::of_seed(seed);
    loop {
        let proxy = if random.below(2) == 0 { imports::INSIDE } else { imports::MINIMAL };
        let answer = match random.below(40_000) {
            0 => proxy.deep(BEYOND).map(drop),
            1 => proxy.fail(),
            2..1000 => proxy.deep(random.below(20)).map(drop),
            1000..2000 => proxy.spin(random.below(20_000)),
            2000..20_000 => memory::attack(&mut random, proxy),
            _ => {
                let [first, second, third] = [(); 3].map(|()| random.next());
                let found = proxy.mix(first, second, third);
                if found.is_ok_and(|words| words != mixed(first, second, third)) {
                    complain(found);
                }
                found.map(drop)
            }
        };
        if CALLS.fetch_add(1, Relaxed) + 1 == MANY {
            let _ = imports::CONSOLE.print(format_args!("caller: {MANY} calls\n"));
        }
        match answer {
            Ok(()) => {}
            // It starts again, in a while.
            Err(Error::Dead) => pause(),
            Err(error) => complain(error),
        }
    }
}

fn pause() {
    let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(300));
}

fn complain(found: impl core::fmt::Debug) {
    let _ = imports::CONSOLE.print(format_args!("FAILED: {found:?}\n"));
}
