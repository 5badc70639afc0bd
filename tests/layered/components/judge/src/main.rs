//! Copies of what lies on a disk: two pagers, one over the other.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces as interfaces;
use cairn_test_paged_contract::{Probe, when_it_lives};

const PAGE: u64 = 4096;
/// Of the section on the disk: more than its pager has in memory.
const PAGES: u64 = 48;

/// Until who was ended lives again.
const LIVES_MICROSECONDS: u64 = 2_000_000;

cairn::component! {
    name: "layered-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        store: interfaces::PageStore,
        writer: Probe,
        one: Probe,
        two: Probe,
    },
    main: main,
}

use imports::{CONSOLE, ONE, STORE, SUPERVISOR, TWO, WRITER};

fn say(what: &str) {
    CONSOLE.write(what.as_bytes()).expect("console");
}

fn main() {
    more_than_fits();
    copies();
    what_was_flushed_lasts();
    say("layered: done\n");
    let _ = SUPERVISOR.halt(0);
}

/// Every page makes room for others, and comes back from the disk.
fn more_than_fits() {
    for round in 0..3 {
        for page in 0..PAGES {
            let expected = if round == 0 { 0 } else { round * 1000 + page };
            assert_eq!(WRITER.load(page * PAGE), Ok(expected), "{round} {page}");
            WRITER.store(page * PAGE, (round + 1) * 1000 + page).expect("a page");
        }
        for page in (0..PAGES).rev() {
            assert_eq!(WRITER.load(page * PAGE), Ok((round + 1) * 1000 + page));
        }
    }
    say("ok: more pages than memory\n");
}

/// Two clients read what lies on the disk, and each writes for itself.
fn copies() {
    for page in 0..PAGES {
        assert_eq!(ONE.load(page * PAGE), Ok(3000 + page));
        assert_eq!(TWO.load(page * PAGE), Ok(3000 + page));
    }
    for page in 0..8 {
        ONE.store(page * PAGE + 8, 5).expect("a copy");
        assert_eq!(ONE.load(page * PAGE), Ok(3000 + page), "the rest is as it was");
        assert_eq!((ONE.load(page * PAGE + 8), TWO.load(page * PAGE + 8)), (Ok(5), Ok(0)));
        assert_eq!(WRITER.load(page * PAGE + 8), Ok(0));
    }
    // What is written without being read first is a copy as well.
    TWO.store(9 * PAGE + 8, 6).expect("a copy");
    assert_eq!((TWO.load(9 * PAGE), ONE.load(9 * PAGE + 8)), (Ok(3009), Ok(0)));
    // Another life has none of the copies.
    SUPERVISOR.restart("one").expect("restart");
    assert_eq!(when_it_lives(LIVES_MICROSECONDS, || ONE.load(8)), 0);
    assert_eq!(ONE.load(0), Ok(3000));
    say("ok: who writes has a copy\n");
}

fn what_was_flushed_lasts() {
    for page in 0..4 {
        WRITER.store(page * PAGE, 7000 + page).expect("a page");
    }
    let count = STORE.flush().expect("it lasts");
    assert!(count >= 4, "{count}");
    // The last one that was answered counts as changed still.
    assert!(STORE.flush().expect("it lasts") <= 3);
    WRITER.store(0, 9).expect("a page");
    SUPERVISOR.restart("store").expect("restart");
    // What the writer had of it is lost, and with it the writer.
    assert_eq!(when_it_lives(LIVES_MICROSECONDS, || WRITER.size()), PAGES * PAGE);
    assert_eq!(WRITER.load(0), Err(Error::Dead));
    for page in 1..4 {
        assert_eq!(when_it_lives(LIVES_MICROSECONDS, || WRITER.load(page * PAGE)), 7000 + page);
    }
    say("ok: what was written back lasts\n");
}
