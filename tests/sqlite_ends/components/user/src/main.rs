//! Changes a database while SQLite, the driver of its disk and another client end: what is committed is there, and of nothing else a part.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment;
use cairn::text::Line;
use cairn::thread::Stack;
use cairn_app_interfaces::Script;
use cairn_interfaces::{Console, Supervisor, Threads, spawn};
use core::fmt::Arguments;
// Relaxed: counters and a flag, which order nothing else.
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "sqlite-user",
    imports: { console: Console, threads: Threads, supervisor: Supervisor, script: Script },
    main: main,
}

/// How often SQLite ends in the middle of its work; in between, as often, the disk's driver, and the other client.
const ENDS: u64 = 4;
/// Rows, of a quarter of a page each: more than the memory for pages that a script allows itself.
const ROWS: u64 = 200;

const BEGIN: &str = "create table counted(id integer primary key, times integer, filler blob); \
    with recursive ids(id) as (select 1 union all select id + 1 from ids where id < 200) \
    insert into counted select id, 0, zeroblob(1000) from ids; select count(*) from counted";
/// All rows in one transaction, of which pages are on the disk before it is committed.
const CHANGE: &str = "pragma cache_size = 12; begin; update counted set times = times + 1; commit; \
    select max(times) from counted";
const LOOK: &str = "select min(times), max(times), count(*) from counted; pragma integrity_check";

/// How often the rows were counted up, by the last answer.
static COMMITTED: AtomicU64 = AtomicU64::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);
/// Calls during which SQLite ended.
static ENDED: AtomicU64 = AtomicU64::new(0);

fn say(text: Arguments) {
    let _ = imports::CONSOLE.print(format_args!("{text}\n"));
}

fn pause(microseconds: u64) {
    let until = cairn::time::now() + cairn::time::ticks(microseconds);
    let _ = imports::THREADS.sleep_until(until);
}

/// The answer to a script, into `output`. An end meanwhile leaves open whether the script has run: then it runs again.
fn run<'a>(script: &str, output: &'a mut [u8; 256]) -> &'a str {
    loop {
        match imports::SCRIPT.run(script, output) {
            Ok((length, is_done)) => {
                let text = core::str::from_utf8(&output[..length]).expect("text");
                assert!(is_done, "{text}: {script}");
                return text;
            }
            Err(Error::Dead) => {
                ENDED.fetch_add(1, Relaxed);
            }
            // Cancelled: the other client ended while it waited for this script, which took long.
            Err(Error::Busy | Error::NoPortal | Error::Cancelled) => {}
            Err(error) => panic!("{}", error.text()),
        }
        pause(1000);
    }
}

fn change(_: u64) {
    let mut output = [0; 256];
    while !IS_OVER.load(Relaxed) {
        let times = run(CHANGE, &mut output).trim().parse().expect("a number");
        assert!(times > COMMITTED.load(Relaxed), "a transaction is lost");
        COMMITTED.store(times, Relaxed);
    }
}

/// All rows were counted up equally often, at least as often as was answered before.
fn look() {
    let at_least = COMMITTED.load(Relaxed);
    let mut output = [0; 256];
    let found = run(LOOK, &mut output);
    let times: u64 = found.split('|').next().and_then(|text| text.parse().ok()).expect("a number");
    let expected = Line::<64>::of(format_args!("{times}|{times}|{ROWS}\nok\n"));
    assert!(found.as_bytes() == expected.bytes(), "a part of a transaction: {found}");
    assert!(times >= at_least, "{times} times, {at_least} were committed");
}

fn wait_for_commits(count: u64) {
    let before = COMMITTED.load(Relaxed);
    while COMMITTED.load(Relaxed) < before + count {
        pause(100);
    }
}

fn main() {
    if environment::name() == "client" {
        // It changes the same, until it is killed.
        return change(0);
    }
    static STACK: Stack<8192> = Stack::new();
    assert_eq!(run(BEGIN, &mut [0; 256]).trim(), "200");
    let writer = spawn(imports::THREADS, &STACK, change, 0, 40).expect("spawn");
    // About how long a transaction takes.
    wait_for_commits(1);
    let begin = cairn::time::now();
    wait_for_commits(2);
    let each = (cairn::time::now() - begin) / 2;
    for end in 0..ENDS {
        for name in ["sqlite", "disk", "client"] {
            wait_for_commits(1);
            // Every time at another place of it.
            let part = each * (end + 1) / (ENDS + 1);
            let _ = imports::THREADS.sleep_until(cairn::time::now() + part);
            imports::SUPERVISOR.restart(name).expect("restart");
            look();
        }
    }
    IS_OVER.store(true, Relaxed);
    writer.join().expect("join");
    look();
    assert!(ENDED.load(Relaxed) > 0, "SQLite ended at work");
    say(format_args!(
        "ok: SQLite, the disk's driver and a client ended {ENDS} times each, and what is committed is there"
    ));
    let _ = imports::SUPERVISOR.halt(0);
}
