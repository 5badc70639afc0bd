//! A transparent sandbox, the program of the appendix of Pebble's paper of 1999: it forks, its child measures how two of its threads wake
//! each other, and each of the child's calls comes by here, is counted, and goes on to its server.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::fork::{Quotas, Side};
use cairn::interpose::{Answer, Interposer, Passing};
use cairn::object::Object;
use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_interfaces::{self as interfaces, Semaphore, spawn};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "sandbox",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        loader: interfaces::Loader,
    },
    arguments: { rounds: u64 = 1000 },
    main: main,
}

use imports::{CONSOLE, LOADER, PORTALS, THREADS};

const PORTALS_COUNTED: usize = 128;
const QUOTAS: Quotas = Quotas { pages: 128, threads: 2, semaphores: 4, locks: 2, children: 0 };
const PRIORITY: u8 = 40;

/// How often the child called each of its portals.
static CALLED: [AtomicU64; PORTALS_COUNTED] = [const { AtomicU64::new(0) }; PORTALS_COUNTED];
static STACK: Stack<4096> = Stack::new();
static PAIR: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// What the child calls.
struct Counter;

impl Interposer for Counter {
    fn intercept(call: &Passing) -> Answer {
        if let Some(count) = CALLED.get(call.portal()) {
            count.fetch_add(1, Relaxed);
        }
        let answer = call.forward();
        // Before the child knows of it: what its call has put into its table.
        if let Some(new) = interfaces::new_portals(call, &answer) {
            let (first, end) = (new.first, new.first + new.count);
            let _ = CONSOLE.print(format_args!("notify: portals {first} to {}\n", end - 1));
        }
        answer
    }
}

fn semaphore(number: usize) -> interfaces::SemaphoreProxy {
    interfaces::SemaphoreProxy::at(PAIR[number].load(Relaxed) as u32)
}

/// The child's second thread wakes the first, again and again.
fn echo(_: u64) {
    loop {
        let _ = semaphore(0).p();
        let _ = semaphore(1).v();
    }
}

/// What the child runs.
fn measure() -> Result<(), Error> {
    let own: [Object<dyn Semaphore>; 2] = [PORTALS.semaphore(0)?, PORTALS.semaphore(0)?];
    for (place, semaphore) in PAIR.iter().zip(&own) {
        place.store(semaphore.first_portal().into(), Relaxed);
    }
    spawn(THREADS, &STACK, echo, 0, PRIORITY)?;
    // Until the other one waits.
    THREADS.yield_now()?;
    let rounds = arguments::rounds();
    let start = time::now();
    for _ in 0..rounds {
        own[0].proxy().v()?;
        own[1].proxy().p()?;
    }
    let ticks = time::now() - start;
    let nanoseconds = time::duration(ticks).as_nanos() as u64 / rounds;
    CONSOLE.print(format_args!("each iteration: {nanoseconds} ns\n"))
}

fn dump_counters() {
    for (portal, count) in CALLED.iter().enumerate() {
        let count = count.load(Relaxed);
        if count != 0 {
            let _ = CONSOLE.print(format_args!("portal {portal} called {count} times\n"));
        }
    }
}

fn main() -> Result<(), Error> {
    // The child has it at the same index.
    let done = PORTALS.semaphore(0)?;
    match LOADER.domain_fork::<Counter>("child", QUOTAS)? {
        Side::Child => {
            measure()?;
            done.proxy().v()
        }
        Side::Parent(child) => {
            CONSOLE.print(format_args!("sandbox: the child is instance {}\n", child.0))?;
            done.proxy().p()?;
            dump_counters();
            LOADER.unload("child")?;
            CONSOLE.print(format_args!("sandbox: done\n"))
        }
    }
}
