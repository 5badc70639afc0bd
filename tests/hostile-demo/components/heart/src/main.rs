//! A control loop of 1 kHz, which can be asked how late it has been; and who has attacked meanwhile.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{counter, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{rounds, say};
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// What the loop tells of itself and of others.
#[cairn::interface]
pub trait Heart {
    /// How often it has beaten since this was asked last.
    fn beats(&self) -> Result<u64, Error>;
    /// The longest time in ticks from when a beat was due to its first instruction, since this was asked last.
    fn latest(&self) -> Result<u64, Error>;
    /// Prints how often each attacker has attacked since this was asked last; the value is how many attackers did so at
    /// least this often.
    fn attackers(&self, least: u64) -> Result<u64, Error>;
    /// Waits until so many attackers have attacked at least this often since the beginning; the value is how many have.
    fn wait(&self, attackers: u64, least: u64) -> Result<u64, Error>;
}

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-demo-heart",
    imports: {
        threads: interfaces::Threads,
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
    },
    exports: { heart: Heart = SERVER },
    main: main,
}

static BEATS: AtomicU64 = AtomicU64::new(0);
static LATEST: AtomicU64 = AtomicU64::new(0);
/// What each instance had done when this was asked last.
static BEFORE: [AtomicI64; 256] = [const { AtomicI64::new(0) }; 256];

/// Calls `body` with the name of each instance, its number, and how often it has attacked since the beginning.
fn each(mut body: impl FnMut(&str, usize, i64)) -> Result<(), Error> {
    let rounds = rounds::all().ok_or(Error::NotSupported)?;
    let (mut number, mut text) = (1, [0; 96]);
    while let Ok((length, instance)) = imports::SUPERVISOR.describe(number, &mut text) {
        let line = core::str::from_utf8(&text[..length]).unwrap_or("");
        let instance = instance as usize;
        let mut words = line.split(' ');
        let name = words.next().unwrap_or("");
        // Who does nothing but fault attacks by being started again.
        let restarts: i64 = words.nth(3).and_then(|word| word.parse().ok()).unwrap_or(0);
        body(name, instance, rounds[instance].load(Relaxed) + restarts);
        number = instance as u64 + 1;
    }
    Ok(())
}

impl Heart for Server {
    fn beats(&self) -> Result<u64, Error> {
        Ok(BEATS.swap(0, Relaxed))
    }

    fn latest(&self) -> Result<u64, Error> {
        Ok(LATEST.swap(0, Relaxed))
    }

    fn attackers(&self, least: u64) -> Result<u64, Error> {
        let mut attackers = 0;
        each(|name, instance, done| {
            let since = done - BEFORE[instance].swap(done, Relaxed);
            if since > 0 {
                say!("{name} {since} rounds");
            }
            attackers += u64::from(since >= least as i64);
        })?;
        Ok(attackers)
    }

    fn wait(&self, attackers: u64, least: u64) -> Result<u64, Error> {
        loop {
            let mut found = 0;
            each(|_, _, done| found += u64::from(done >= least as i64))?;
            if found >= attackers {
                return Ok(found);
            }
            imports::THREADS.sleep_until(counter() + ticks(20_000))?;
        }
    }
}

fn main() {
    let period = ticks(1000);
    let mut due = counter();
    loop {
        due += period;
        imports::THREADS.sleep_until(due).expect("sleeping does not fail");
        LATEST.fetch_max(counter() - due, Relaxed);
        BEATS.fetch_add(1, Relaxed);
    }
}
