//! Asks a driver, and calls the thread that asks home at every instant near the answer: after the driver has said that it is there,
//! and before its signal, too. Who asks next gets the answer to that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

cairn::component! {
    name: "client",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        driver: cairn_app_interfaces::Echo,
    },
    main: main,
}

use imports::{CONSOLE, DRIVER, SUPERVISOR, THREADS};

/// Instants in ticks, the first of them so many before the driver wants to answer; and how often each.
const BEFORE: u64 = 25;
const INSTANTS: u64 = 30;
const TIMES: u64 = 100;

static ANSWERS: AtomicU64 = AtomicU64::new(0);
static CALLED_HOME: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
/// Requests that the device got beside one that was given up.
static OVERTOOK: AtomicU64 = AtomicU64::new(0);

/// Asks once.
fn ask(_: u64) {
    let counted = match DRIVER.add(0, 0) {
        Ok(0) => &ANSWERS,
        Ok(2) => &OVERTOOK,
        Err(Error::Cancelled) => &CALLED_HOME,
        _ => &FAILED,
    };
    counted.fetch_add(1, SeqCst);
}

fn pause(microseconds: u64) {
    let _ = THREADS.sleep_until(now() + ticks(microseconds));
}

/// When the driver answers next: it says so when it has been asked.
fn next_answer(after: u64) -> u64 {
    loop {
        match DRIVER.fill(&mut []) {
            Ok(at) if at as u64 > after => return at as u64,
            _ => pause(20),
        }
    }
}

fn main() {
    static STACK: Stack<8192> = Stack::new();
    pause(10_000);
    let mut at = 0;
    for round in 0..INSTANTS * TIMES {
        let asks = spawn(THREADS, &STACK, ask, 0, 40).expect("a thread");
        at = next_answer(at);
        let _ = THREADS.sleep_until(at - BEFORE + round % INSTANTS);
        let _ = SUPERVISOR.call_home(asks.name());
        asks.join().expect("it ends");
    }
    let [answers, called, failed, overtook] =
        [&ANSWERS, &CALLED_HOME, &FAILED, &OVERTOOK].map(|count| count.load(SeqCst));
    let word = if failed + overtook == 0 && answers > 0 && called > 0 { "ok:" } else { "FAILED:" };
    let _ = CONSOLE.print(format_args!(
        "{word} {answers} answers, {called} called home, {failed} answers to others, {overtook} beside one that was given up\n"
    ));
    let _ = SUPERVISOR.halt((failed + overtook).min(1));
}
