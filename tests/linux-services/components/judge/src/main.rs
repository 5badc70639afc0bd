//! Serves programs of Linux', and calls what they serve, while these end in the middle of calls and Linux is killed.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_linux_services_contract::Mixed;
// Relaxed: one number that is waited for.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "linux-services-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
    },
    exports: { mixed: Mixed = JUDGE },
    arguments: { rounds: u64 },
    main: main,
}

use imports::*;

/// As many bytes as the buffers of a call may have, and more.
const LARGE: usize = 16 * 1024;
#[repr(align(4096))]
struct Buffer<const N: usize>([u8; N]);

/// Not of a time: a program of Linux' asks when its turn comes, and says when that is over.
const BEGIN: u64 = u64::MAX;
const END: u64 = u64::MAX - 1;
/// 1: it has come; 2: it is over.
static TURN: AtomicU64 = AtomicU64::new(0);

/// What its own main thread and Linux call.
struct Judge;
static JUDGE: Judge = Judge;

impl Mixed for Judge {
    fn mix(
        &self,
        left: ReadWindow<'_>,
        sums: WriteWindow<'_>,
        right: ReadWindow<'_>,
    ) -> Result<(u64, u64, u64), Error> {
        let mut total = [0; 3];
        let (mut l, mut r, mut s) = ([0; 64], [0; 64], [0; 64]);
        for at in (0..sums.len()).step_by(64) {
            let count = sums.len().min(at + 64) - at;
            left.read(at, &mut l[..count])?;
            right.read(at, &mut r[..count])?;
            sums.as_read().read(at, &mut s[..count])?;
            for byte in 0..count {
                total[0] += u64::from(l[byte]);
                total[1] += u64::from(r[byte]);
                total[2] += u64::from(s[byte] != 0);
                s[byte] = l[byte].wrapping_add(r[byte]);
            }
            sums.write(at, &s[..count])?;
        }
        Ok((total[0], total[1], total[2]))
    }

    fn stay(&self, microseconds: u64) -> Result<u64, Error> {
        match microseconds {
            BEGIN => {
                judge::wait_until(THREADS, || TURN.load(Relaxed) != 0);
                return Ok(TURN.load(Relaxed));
            }
            END => {
                TURN.store(2, Relaxed);
                return Ok(0);
            }
            _ => {}
        }
        THREADS.sleep_until(now() + ticks(microseconds))?;
        Ok(microseconds)
    }
}

fn expect<T: PartialEq + core::fmt::Debug>(what: &str, found: T, expected: T) {
    if found != expected {
        say!("FAILED {what}: {found:?}, expected {expected:?}");
    }
}

/// What a program of Linux' serves, as soon as one does.
fn opened<I: ?Sized + cairn::component::Interface>(name: &str) -> Object<I> {
    loop {
        match PORTALS.open_object::<I>(name) {
            Ok(opened) => return opened,
            // Linux has not come so far, or it is taken back what another has served.
            Err(Error::NotFound | Error::Dead | Error::Busy) => judge::pause(THREADS, 200),
            Err(error) => panic!("{name}: {}", error.text()),
        }
    }
}

fn close<I: ?Sized + cairn::component::Interface>(object: &Object<I>) {
    expect("it is closed", PORTALS.close(object.first_portal().into()), Ok(()));
}

/// A number that differs from place to place.
fn byte(place: usize, salt: usize) -> u8 {
    ((place * 7 + place / 256 + salt) % 251) as u8
}

/// All forms of words and buffers.
fn forms() {
    let echo = opened::<dyn Echo>("linux.echo");
    let echo = echo.proxy();
    expect("a sum", echo.add(40, 2), Ok(42));
    expect("an error", echo.add(u64::MAX, 1), Err(Error::BadArgument));
    expect("a text", echo.say("said by a component"), Ok(()));
    let mut text = [0; 64];
    expect("its length", echo.fill(&mut text), Ok(19));
    expect("the text", &text[..19], b"said by a component");
    let mixed = opened::<dyn Mixed>("linux.mixed");
    let mixed = mixed.proxy();
    for size in [0, 1, 64, 65, 4096] {
        let left = Buffer::<4096>(core::array::from_fn(|place| byte(place, 1)));
        let right = Buffer::<4096>(core::array::from_fn(|place| byte(place, 2)));
        let mut sums = Buffer::<4096>([0; 4096]);
        sums.0[..size / 2].fill(3);
        let (left, right) = (&left.0[..size], &right.0[..size]);
        let total = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        let expected = (total(left), total(right), size as u64 / 2);
        expect("sums", mixed.mix(left, &mut sums.0[..size], right), Ok(expected));
        let is_right = (0..size).all(|at| sums.0[at] == left[at].wrapping_add(right[at]));
        expect("each sum", (size, is_right), (size, true));
        let is_rest = sums.0[size..].iter().all(|byte| *byte == 0);
        expect("what is behind them", (size, is_rest), (size, true));
    }
    let large = Buffer::<LARGE>([1; LARGE]);
    let mut none = [];
    expect("most", mixed.mix(&large.0, &mut none, &[]), Ok((0, 0, 0)));
    expect("more", mixed.mix(&large.0, &mut none, &[1]), Err(Error::TooLarge));
    say!("ok: forms");
}

static HELPER: Stack<8192> = Stack::new();

fn stay_long(_: u64) {
    let mixed = opened::<dyn Mixed>("linux.mixed");
    expect("who stays", mixed.proxy().stay(20_000), Ok(20_000));
    close(&mixed);
}

/// Several at a time.
fn together() {
    let mixed = opened::<dyn Mixed>("linux.mixed");
    let other = spawn(THREADS, &HELPER, stay_long, 0, 50).expect("a thread");
    for _ in 0..20 {
        expect("meanwhile", mixed.proxy().stay(1), Ok(1));
    }
    other.join().expect("it ends");
    close(&mixed);
    say!("ok: together");
}

/// Waits until another process serves.
fn serves(mixed: &Object<dyn Mixed>) {
    loop {
        match mixed.proxy().stay(2) {
            Err(Error::Dead) => judge::pause(THREADS, 100),
            stayed => return expect("the next one serves", stayed, Ok(2)),
        }
    }
}

/// The process that serves ends in the middle of a call. Its portals lead to the next one that serves the same.
fn ends() {
    let mut used = None;
    let mixed = opened::<dyn Mixed>("linux.mixed");
    for round in 0..arguments::rounds() {
        // The program takes this as a wish.
        expect("its process ends", mixed.proxy().stay(u64::MAX), Err(Error::Dead));
        serves(&mixed);
        // What the first rounds have made stays.
        let usage = USAGE.usage();
        if round > 2 {
            expect("nothing is left", usage, used.unwrap_or(usage));
        }
        used = Some(usage);
    }
    close(&mixed);
    say!("ok: ends");
}

fn kill_soon(microseconds: u64) {
    judge::pause(THREADS, microseconds);
    expect("it is killed", SUPERVISOR.restart("linux"), Ok(()));
}

/// Linux is killed in the middle of a call.
fn killed() {
    let mixed = opened::<dyn Mixed>("linux.mixed");
    let killer = spawn(THREADS, &HELPER, kill_soon, 2_000, 50).expect("a thread");
    expect("it dies", mixed.proxy().stay(1_000_000), Err(Error::Dead));
    killer.join().expect("it ends");
    close(&mixed);
    let mixed = opened::<dyn Mixed>("linux.mixed");
    serves(&mixed);
    close(&mixed);
    say!("ok: killed");
}

fn main() {
    forms();
    together();
    ends();
    TURN.store(1, Relaxed);
    while TURN.load(Relaxed) != 2 {
        // Others do all that they can meanwhile.
        let mixed = opened::<dyn Mixed>("linux.mixed");
        expect("beside others", mixed.proxy().stay(5), Ok(5));
        close(&mixed);
    }
    killed();
    say!("ok: all");
}
