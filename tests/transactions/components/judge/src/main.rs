//! What one client has changed in a transaction the others see when it is committed, all at once, whoever dies.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::text::Line;
use cairn::thread::{Stack, sleep, spawn};
use cairn::time::{Duration, now, ticks};
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_paged_contract::when_it_lives;
use cairn_test_transactions_contract::Changes;
use core::fmt::Write;

/// Of the section.
const PAGES: u64 = 32;
/// How often the pager ends.
const ENDS: u64 = 40;
/// Until who was ended lives again.
const LIVES_MICROSECONDS: u64 = 5_000_000;

cairn::component! {
    name: "transactions-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        writer: Changes,
        other: Changes,
    },
    main: main,
}

use imports::{CONSOLE, OTHER, SUPERVISOR, WRITER};

fn say(what: &str) {
    CONSOLE.write(what.as_bytes()).expect("console");
}

fn lives<T>(call: impl FnMut() -> Result<T, Error>) -> T {
    when_it_lives(LIVES_MICROSECONDS, call)
}

fn main() {
    others_see_what_is_committed();
    what_is_aborted_was_never_there();
    a_page_is_in_one_transaction();
    who_dies_has_aborted();
    whoever_writes_elsewhere_dies();
    a_commit_is_whole();
    say("transactions: done\n");
    let _ = SUPERVISOR.halt(0);
}

fn others_see_what_is_committed() {
    WRITER.begin(4, 8).expect("a transaction");
    for page in 4..12 {
        assert_eq!(OTHER.load(page), Ok(0));
        WRITER.store(page, page).expect("in the transaction");
        assert_eq!(WRITER.load(page), Ok(page));
        assert_eq!(OTHER.load(page), Ok(0), "not yet");
    }
    assert_eq!(WRITER.commit(), Ok(8));
    for page in 0..PAGES {
        let expected = if (4..12).contains(&page) { page } else { 0 };
        assert_eq!((WRITER.load(page), OTHER.load(page)), (Ok(expected), Ok(expected)));
    }
    say("ok: others see what is committed\n");
}

fn what_is_aborted_was_never_there() {
    for round in 0..3 {
        WRITER.begin(0, PAGES).expect("a transaction");
        for page in 0..PAGES {
            WRITER.store(page, 1000 + round).expect("in the transaction");
        }
        assert_eq!(WRITER.abort(), Ok(PAGES));
        for page in 0..PAGES {
            let expected = if (4..12).contains(&page) { page } else { 0 };
            assert_eq!((WRITER.load(page), OTHER.load(page)), (Ok(expected), Ok(expected)));
        }
    }
    assert_eq!((WRITER.abort(), WRITER.commit()), (Err(Error::NotFound), Err(Error::NotFound)));
    say("ok: what is aborted was never there\n");
}

fn a_page_is_in_one_transaction() {
    WRITER.begin(4, 8).expect("a transaction");
    for (first, pages, expected) in [
        (0, 5, Error::Busy),
        (11, 1, Error::Busy),
        (0, PAGES, Error::Busy),
        (0, 0, Error::BadArgument),
        (PAGES, 1, Error::BadArgument),
        (0, u64::MAX, Error::BadArgument),
        (u64::MAX, u64::MAX, Error::BadArgument),
    ] {
        assert_eq!(OTHER.begin(first, pages), Err(expected), "{first} {pages}");
    }
    assert_eq!(WRITER.begin(20, 1), Err(Error::Busy), "one at a time");
    OTHER.begin(12, 8).expect("beside it");
    OTHER.store(12, 77).expect("in the transaction");
    assert_eq!(OTHER.commit(), Ok(1));
    assert_eq!((WRITER.load(12), WRITER.commit()), (Ok(77), Ok(0)));
    say("ok: a page is in one transaction\n");
}

fn who_dies_has_aborted() {
    for kill in [true, false] {
        WRITER.begin(0, 4).expect("a transaction");
        WRITER.store(0, 5).expect("in the transaction");
        if kill {
            SUPERVISOR.kill("writer").expect("kill");
            let end = now() + ticks(LIVES_MICROSECONDS);
            while OTHER.begin(0, 4) == Err(Error::Busy) {
                assert!(now() < end, "the dead one's pages do not come back");
            }
            assert_eq!(OTHER.abort(), Ok(0));
        }
        SUPERVISOR.restart("writer").expect("restart");
        // Its next life has no part in it.
        assert_eq!(lives(|| WRITER.load(0)), 0);
        assert_eq!((WRITER.commit(), OTHER.load(0)), (Err(Error::NotFound), Ok(0)));
        assert_eq!((WRITER.begin(0, 1), WRITER.abort()), (Ok(()), Ok(0)));
    }
    say("ok: who dies has aborted\n");
}

fn whoever_writes_elsewhere_dies() {
    for begins in [false, true] {
        if begins {
            WRITER.begin(0, 4).expect("a transaction");
            OTHER.begin(5, 1).expect("a transaction");
        }
        assert_eq!(WRITER.load(5), Ok(5), "it can be read");
        assert_eq!(WRITER.store(5, 1), Err(Error::Dead));
        assert_eq!(lives(|| WRITER.load(5)), 5);
    }
    assert_eq!(OTHER.abort(), Ok(0), "nobody else notices");
    say("ok: who writes outside of its transaction dies\n");
}

static STACK: Stack<8192> = Stack::new();

/// All pages of a transaction, or none, are in the section when its pager has died, at any time, and serves again.
fn a_commit_is_whole() {
    let mut random = Random::of_seed(5);
    let begin = now();
    assert_eq!(WRITER.change_all(PAGES, 1), Ok(PAGES));
    let longest = (now() - begin) / ticks(1) * 5 / 4;
    let (mut done, mut last) = (0, 1);
    for round in 2..2 + ENDS {
        let change = move || WRITER.change_all(PAGES, round);
        let thread = spawn(&STACK, 40, change).expect("a thread");
        sleep(Duration::from_micros(random.below(longest))).expect("time passes");
        SUPERVISOR.restart("transactions").expect("restart");
        let answer = thread.join().expect("its end");
        // What they had of the pager is lost.
        for client in ["writer", "other"] {
            SUPERVISOR.restart(client).expect("restart");
        }
        let (word, same) = lives(|| OTHER.load_all(PAGES));
        assert!(same, "in part: {word}");
        assert!(word == round || word == last, "{word} after {last}");
        assert!(answer != Ok(PAGES) || word == round, "it was said that it is committed");
        done += u64::from(word == round);
        last = word;
        lives(|| WRITER.load(0));
    }
    assert!(done > 0 && done < ENDS, "{done}");
    let mut line = Line::<96>::new();
    let _ = writeln!(
        line,
        "ok: the pager ended {ENDS} times, {done} transactions were whole, and the others nothing"
    );
    say(line.text());
}
