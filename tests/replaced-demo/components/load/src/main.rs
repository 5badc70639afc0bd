//! Calls what is replaced, all the time, and counts the calls that were not answered as they should be.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Clock, Console, Loader, Logs, Memory, Packages, Portals, Threads, spawn};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-demo-load",
    imports: {
        threads: Threads,
        portals: Portals,
        console: Console,
        clock: Clock,
        logs: Logs,
        packages: Packages,
        echo: Echo,
        memory: Memory,
        loader: Loader,
    },
    exports: { load: Load = SERVER },
    main: main,
}

/// What became of the calls.
#[cairn::interface]
pub trait Load {
    /// Those of a caller that were answered.
    fn answered(&self, caller: u64) -> Result<u64, Error>;
    /// Those that were not, or not as they should be.
    fn lost(&self) -> Result<u64, Error>;
}

struct Server;
static SERVER: Server = Server;

// Relaxed: counts.
static ANSWERED: [AtomicU64; CALLERS.len()] = [const { AtomicU64::new(0) }; CALLERS.len()];
static LOST: AtomicU64 = AtomicU64::new(0);
static STACKS: [Stack<8192>; CALLERS.len()] = [const { Stack::new() }; CALLERS.len()];

/// Each on a thread of its own.
const CALLERS: [fn(u64); 5] = [call_all, wait_for_timer, write, manage, load];
const PRIORITIES: [u8; CALLERS.len()] = [30, 45, 60, 58, 25];
/// Between two calls.
const PAUSE_MICROSECONDS: u64 = 300;
/// So many of them lie between two lines.
const BETWEEN_LINES: usize = 300;

impl Load for Server {
    fn answered(&self, caller: u64) -> Result<u64, Error> {
        let answered = ANSWERED.get(caller as usize).ok_or(Error::BadArgument)?;
        Ok(answered.load(Relaxed))
    }

    fn lost(&self) -> Result<u64, Error> {
        Ok(LOST.load(Relaxed))
    }
}

fn count<T>(caller: u64, what: &str, result: Result<T, Error>, is_right: impl FnOnce(&T) -> bool) {
    match result {
        Ok(value) if is_right(&value) => _ = ANSWERED[caller as usize].fetch_add(1, Relaxed),
        Ok(_) => {
            LOST.fetch_add(1, Relaxed);
            cairn::log::error!("{what}: a wrong answer");
        }
        Err(error) => {
            LOST.fetch_add(1, Relaxed);
            cairn::log::error!("{what}: {}", error.text());
        }
    }
}

fn pause() {
    let _ = imports::THREADS.sleep_until(time::now() + time::ticks(PAUSE_MICROSECONDS));
}

/// Those that answer at once. The clock has one stack for each client, which the other thread has.
fn call_all(caller: u64) {
    let mut text = [0; 192];
    for number in 0u64.. {
        let number = number & 0xffff;
        count(caller, "greeter", imports::ECHO.add(number, 1), |sum| *sum == number + 1);
        count(caller, "shelf", imports::PACKAGES.list(0, &mut text), |(length, _)| *length > 0);
        let place = u64::MAX;
        let read = imports::LOGS.read(cairn::environment::startup().instance, place, &mut text);
        // There is no such record.
        let read = read.map(drop).or_else(|error| match error {
            Error::NotFound => Ok(()),
            error => Err(error),
        });
        count(caller, "log", read, |()| true);
        pause();
    }
}

/// A timer's object stays, and its periods are counted on.
fn wait_for_timer(caller: u64) {
    const PERIOD: u64 = 2_000_000;
    let now = || imports::CLOCK.uptime().unwrap_or(0);
    // The first period begins between these.
    let before = now();
    let timer = imports::CLOCK.timer(imports::PORTALS, PERIOD).expect("there is room");
    let after = now();
    let mut periods = 0;
    loop {
        let asked = now();
        let ended = timer.proxy().wait();
        periods += ended.unwrap_or(0);
        count(caller, "timer", ended, |ended| *ended > 0);
        // None is lost, and none comes twice, however long this thread had no processor between its calls.
        let possible = (asked.saturating_sub(after)) / PERIOD..=(now() - before) / PERIOD;
        if !possible.contains(&periods) {
            count(caller, "periods", Err::<(), _>(Error::Malformed), |()| true);
        }
    }
}

/// A terminal's object stays, with what was written of a line: half of it before, half of it after a pause.
fn write(caller: u64) {
    let terminal = imports::CONSOLE.open(imports::PORTALS).expect("there is room");
    loop {
        count(caller, "terminal", terminal.proxy().write(b"<half and "), |()| true);
        for _ in 0..BETWEEN_LINES {
            pause();
        }
        count(caller, "terminal", terminal.proxy().write(b"whole>\n"), |()| true);
    }
}

/// A name is opened and given up, pages are got and given back.
fn manage(caller: u64) {
    loop {
        match imports::PORTALS.open_object::<dyn Echo>("greeter.echo") {
            Err(error) => count(caller, "open", Err(error), |()| true),
            Ok(echo) => {
                count(caller, "opened", echo.proxy().add(40, 2), |sum| *sum == 42);
                count(caller, "close", imports::PORTALS.close(echo.first_portal().into()), |()| {
                    true
                });
            }
        }
        let pages = imports::MEMORY.pages(2).map(|pages| {
            let before = pages.load(8);
            pages.store(8, 7);
            (before, pages.load(8))
        });
        count(caller, "pages", pages, |words| *words == (0, 7));
        pause();
    }
}

/// An instance comes and goes.
fn load(caller: u64) {
    loop {
        let loaded = imports::LOADER.load("guest", "fleeting");
        let ended = loaded.and_then(|_| imports::LOADER.unload("fleeting"));
        count(caller, "loaded", ended, |()| true);
        pause();
    }
}

fn main() {
    for (place, caller) in CALLERS.into_iter().enumerate() {
        let made = spawn(imports::THREADS, &STACKS[place], caller, place as u64, PRIORITIES[place]);
        made.expect("a thread");
    }
    loop {
        let _ = imports::THREADS.sleep_until(time::now() + time::ticks(1_000_000));
    }
}
