//! Keeps every thread that comes, whatever it is told; its argument says how.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Mutex;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces::{Clock, Console, Portals, Threads, spawn};
use cairn_test_hostile_captors::{Captor, CaptorProxy};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static LOCK: Mutex<()> = Mutex::new(());
/// The portals of who calls the one with the argument `back`.
static CIRCLE: AtomicU32 = AtomicU32::new(0);

cairn::component! {
    name: "hostile-captor",
    imports: { threads: Threads, clock: Clock, console: Console, portals: Portals, next: Captor },
    exports: { captor: Captor = SERVER },
    main: main,
}

/// Somebody is kept who leaves the processor to the own thread.
static IS_KEPT: AtomicBool = AtomicBool::new(false);

/// Nanoseconds, some three hundred years.
const FOR_EVER: u64 = 10_000_000_000_000_000_000;

fn sleep() {
    let _ = imports::THREADS.sleep_until(now() + ticks(1_000_000_000));
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

/// Has the lock for less than a callee's time, then gives it to the other one and ends.
fn pass(_: u64) {
    let guard = LOCK.lock();
    pause(40_000);
    drop(guard);
}

/// With the argument `lock`, its own thread takes its lock and never gives it back; with `passed`, threads that are new
/// each time, of which always one waits for it. With `circle`, it is in the next one, whose thread waits for the lock.
fn main() {
    match environment::argument() {
        "lock" => {
            let _guard = LOCK.lock();
            loop {
                sleep();
            }
        }
        "passed" => {
            static STACKS: [Stack<4096>; 2] = [const { Stack::new() }; 2];
            let begin = |stack| spawn(imports::THREADS, stack, pass, 0, 60).expect("spawn");
            let mut threads = [begin(&STACKS[0]), begin(&STACKS[1])];
            loop {
                for (thread, stack) in threads.iter_mut().zip(&STACKS) {
                    let _ = thread.join();
                    *thread = begin(stack);
                }
            }
        }
        "circle" => loop {
            let _ = imports::NEXT.keep();
            pause(500);
        },
        // Shares the processor with the thread that is kept, which is as urgent.
        "yields" => {
            while !IS_KEPT.load(Relaxed) {
                pause(500);
            }
            loop {
                core::hint::spin_loop();
            }
        }
        _ => {}
    }
}

impl Captor for Server {
    fn keep(&self) -> Result<u64, Error> {
        match environment::argument() {
            // The innocent one: what becomes of the next call is the answer.
            "relay" => imports::NEXT.keep(),
            "lock" | "passed" => loop {
                let _ = LOCK.lock();
            },
            "back" => {
                if CIRCLE.load(Relaxed) == 0 {
                    let circle = imports::PORTALS.open_object::<dyn Captor>("k-circle.captor")?;
                    CIRCLE.store(circle.first_portal(), Relaxed);
                }
                CaptorProxy::at(CIRCLE.load(Relaxed)).answer()
            }
            "circle" => {
                let guard = LOCK.lock();
                loop {
                    let _ = imports::NEXT.keep();
                    core::hint::black_box(&guard);
                }
            }
            "brief" => loop {
                pause(3);
            },
            // Late itself, as long as the next one is late in turn, for a lock that the threads there pass on.
            "late" => loop {
                let _ = imports::NEXT.answer();
            },
            "yields" => {
                IS_KEPT.store(true, Relaxed);
                loop {
                    let _ = imports::THREADS.yield_now();
                }
            }
            "held" => {
                let guard = LOCK.lock();
                loop {
                    sleep();
                    core::hint::black_box(&guard);
                }
            }
            "next" => loop {
                let _ = imports::NEXT.keep();
                // Who is dead and starts again answers at once.
                let _ = imports::THREADS.sleep_until(now() + ticks(100));
            },
            "clock" => loop {
                let _ = imports::CLOCK.sleep(FOR_EVER);
            },
            "console" => loop {
                let _ = imports::CONSOLE.read_line(&mut [0; 64]);
            },
            "portals" => loop {
                let _ = imports::PORTALS
                    .semaphore(0)
                    .map(|made| imports::PORTALS.close(made.first_portal().into()));
            },
            "spin" => loop {
                core::hint::spin_loop();
            },
            _ => loop {
                sleep();
            },
        }
    }

    fn answer(&self) -> Result<u64, Error> {
        if matches!(environment::argument(), "circle" | "passed") {
            let _guard = LOCK.lock();
        }
        Ok(1)
    }
}
