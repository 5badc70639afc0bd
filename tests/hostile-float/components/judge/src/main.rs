//! Calls users of the floating-point unit in chains by several threads, and ends them by chance.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use cairn_random::Random;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        first: cairn_app_interfaces::Echo,
        second: cairn_app_interfaces::Echo,
        third: cairn_app_interfaces::Echo,
    },
    main: main,
}

use imports::{CONSOLE, FIRST, SECOND, SUPERVISOR, THIRD, THREADS};

const ENDS: u64 = 200;
const NAMES: [&str; 6] = ["first", "second", "third", "between", "kernel", "last"];

static CALLS: AtomicU64 = AtomicU64::new(0);
static ANSWERS: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicU64 = AtomicU64::new(0);

fn call(seed: u64) {
    let mut random = Random::of_seed(seed);
    loop {
        let server = [FIRST, SECOND, THIRD][random.below(3) as usize];
        CALLS.fetch_add(1, Relaxed);
        match server.add(random.below(9), random.next()) {
            Ok(wrong) => {
                ANSWERS.fetch_add(1, Relaxed);
                WRONG.fetch_add(wrong, Relaxed);
            }
            // It may be starting again.
            Err(_) => pause(50),
        }
        if random.below(8) == 0 {
            pause(random.below(300));
        }
    }
}

fn pause(microseconds: u64) {
    let _ = THREADS.sleep_until(now() + ticks(microseconds));
}

fn main() {
    static STACKS: [Stack<8192>; 3] = [const { Stack::new() }; 3];
    for (stack, priority) in STACKS.iter().zip([20, 20, 30]) {
        spawn(THREADS, stack, call, priority + stack as *const _ as u64, priority as u8)
            .expect("a thread");
    }
    let mut random = Random::of_seed(11);
    for _ in 0..ENDS {
        pause(random.below(3000));
        for server in [FIRST, SECOND, THIRD] {
            WRONG.fetch_add(server.fill(&mut []).unwrap_or(0) as u64, Relaxed);
        }
        let name = NAMES[random.below(NAMES.len() as u64) as usize];
        let _ = SUPERVISOR.restart(name);
    }
    let (calls, answers, wrong) = (CALLS.load(Relaxed), ANSWERS.load(Relaxed), WRONG.load(Relaxed));
    let word = if wrong == 0 && answers > ENDS { "ok:" } else { "FAILED:" };
    let _ = CONSOLE.print(format_args!("{word} {answers} of {calls} calls, {wrong} registers\n"));
    let _ = SUPERVISOR.halt(wrong.min(1));
}
