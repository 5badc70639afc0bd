//! Transactions over checkpoints over a disk: what was committed is there after a reset, also if drivers and pagers die before.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::text::Line;
use cairn_interfaces as interfaces;
use cairn_test_paged_contract::when_it_lives;
use cairn_test_transactions_contract::Changes;
use core::fmt::{Arguments, Write};

/// Of the section.
const PAGES: u64 = 24;
/// How often what is below the pagers ends.
const ENDS: u64 = 6;
/// How often the machine starts.
const STARTS: u64 = 3;
/// Until who was ended lives again, and what is over it.
const LIVES_MICROSECONDS: u64 = 10_000_000;

cairn::component! {
    name: "durable-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        writer: Changes,
    },
    main: main,
}

use imports::{CONSOLE, SUPERVISOR, WRITER};

fn say(text: Arguments) {
    let mut line = Line::<96>::new();
    let _ = line.write_fmt(text);
    CONSOLE.write(line.bytes()).expect("console");
}

fn lives<T>(mut call: impl FnMut() -> Result<T, Error>) -> T {
    // A pager whose disk begins anew has not begun itself.
    when_it_lives(LIVES_MICROSECONDS, || call().map_err(|_| Error::Dead))
}

fn main() {
    let (word, same) = lives(|| WRITER.load_all(PAGES));
    assert!(same, "{word}");
    say(format_args!("ok: found {word}\n"));
    let start = word / 100;
    assert_eq!(word, start * 100, "what was not committed");
    if start == STARTS {
        say(format_args!("durable: done\n"));
        let _ = SUPERVISOR.halt(0);
        return;
    }
    for round in 1..=ENDS {
        assert_eq!(WRITER.change_all(PAGES, word + round), Ok(PAGES));
        // The driver, its device, and both pagers begin anew; what was committed is there.
        let ended: &[&str] = match round % 3 {
            0 => &["disk"],
            1 => &["persistent", "transactions"],
            _ => &["disk", "persistent", "transactions"],
        };
        for instance in ended {
            SUPERVISOR.restart(instance).expect("restart");
        }
        SUPERVISOR.restart("writer").expect("restart");
        assert_eq!(lives(|| WRITER.load_all(PAGES)), (word + round, true), "{ended:?}");
    }
    say(format_args!("ok: ended {ENDS} times\n"));
    let next = (start + 1) * 100;
    assert_eq!(lives(|| WRITER.change_all(PAGES, next)), PAGES);
    // What was not committed is not there.
    WRITER.begin(0, 8).expect("a transaction");
    (0..8).for_each(|page| WRITER.store(page, 7).expect("in the transaction"));
    let _ = SUPERVISOR.reboot();
}
