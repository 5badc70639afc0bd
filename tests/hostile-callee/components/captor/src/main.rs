//! Keeps every thread that comes, whatever it is told; its argument says how.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Mutex;
use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces::{Clock, Console, Portals, Threads};
use cairn_test_hostile_captors::Captor;

struct Server;
static SERVER: Server = Server;
static LOCK: Mutex<()> = Mutex::new(());

cairn::component! {
    name: "hostile-captor",
    imports: { threads: Threads, clock: Clock, console: Console, portals: Portals, next: Captor },
    exports: { captor: Captor = SERVER },
    main: main,
}

/// Nanoseconds, some three hundred years.
const FOR_EVER: u64 = 10_000_000_000_000_000_000;

fn sleep() {
    let _ = imports::THREADS.sleep_until(now() + ticks(1_000_000_000));
}

/// With the argument `lock`, its own thread takes its lock and never gives it back.
fn main() {
    match environment::argument() {
        "lock" => {
            imports::PORTALS.attach_lock(&LOCK).expect("a lock");
            let _guard = LOCK.lock();
            loop {
                sleep();
            }
        }
        "relay" | "next" => {}
        _ => {
            let _ = imports::PORTALS.attach_lock(&LOCK);
        }
    }
}

impl Captor for Server {
    fn keep(&self) -> Result<u64, Error> {
        match environment::argument() {
            // The innocent one: what becomes of the next call is the answer.
            "relay" => return imports::NEXT.keep(),
            "lock" => loop {
                let _ = LOCK.lock();
            },
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
        Ok(1)
    }
}
