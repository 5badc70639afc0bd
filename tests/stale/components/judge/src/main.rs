//! Has a neighbour use addresses whose time has passed. The page tables no longer have them; a hart that was
//! not told so, by a fence, may still remember.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::say;
use cairn_test_stale_contract::Keeper;

cairn::component! {
    name: "stale-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        memory: interfaces::Memory,
        keeper: Keeper,
    },
    main: main,
}

const PAGE: usize = 4096;
#[repr(align(4096))]
struct Pages([[u8; PAGE]; 2]);
static PAGES: Exclusive<Pages> = Exclusive::new(Pages([[0; PAGE]; 2]));
/// What the keeper must not learn.
const SECRET: u64 = 0x005e_c3e7;

type Attempt = fn() -> Result<u64, Error>;
/// Attempts that must be stopped.
const ATTEMPTS: [(&str, Attempt); 7] = [
    ("a window that was read, after the call", window_after_the_call),
    ("a window that was written, after the call", written_window_after_the_call),
    ("a window that was read, written after the call", window_written_after_the_call),
    ("memory that was given back, at once", memory_at_once),
    ("memory that somebody else has got", memory_of_somebody_else),
    ("memory of the instance before", memory_of_the_instance_before),
    ("a window of the instance before", window_of_the_instance_before),
];

fn main() {
    let mut failed = 0;
    for (name, attempt) in ATTEMPTS {
        let result = attempt();
        let verdict = if result == Err(Error::Dead) { "ok" } else { "FAILED" };
        failed += u64::from(verdict != "ok");
        say!("{verdict}: {name}: {:x?}", result.map_err(Error::text));
        begin_anew();
    }
    if window_in_the_place_of_another() {
        say!("ok: a window in the place of another");
    } else {
        failed += 1;
        say!("FAILED: a window in the place of another");
    }
    say!("stale: {failed} failed");
    imports::SUPERVISOR.halt(failed).expect("halt");
}

/// A keeper that has just been started.
fn begin_anew() {
    imports::SUPERVISOR.restart("keeper").expect("restart");
    while imports::KEEPER.take_page().is_err() {}
}

/// A page that begins with `word`.
fn with_page<T>(page: usize, word: u64, body: impl FnOnce(&mut [u8]) -> T) -> T {
    PAGES.with(|pages| {
        let page = &mut pages.0[page];
        page[..8].copy_from_slice(&word.to_le_bytes());
        body(page)
    })
}

fn window_after_the_call() -> Result<u64, Error> {
    with_page(0, SECRET, |bytes| {
        let place = imports::KEEPER.place(bytes)?;
        imports::KEEPER.load(place)
    })
}

fn written_window_after_the_call() -> Result<u64, Error> {
    with_page(0, SECRET, |bytes| {
        let place = imports::KEEPER.fill(bytes, 1)?;
        imports::KEEPER.store(place, 2)
    })
}

fn window_written_after_the_call() -> Result<u64, Error> {
    with_page(0, SECRET, |bytes| {
        let place = imports::KEEPER.place(bytes)?;
        imports::KEEPER.store(place, 2)
    })
}

fn memory_at_once() -> Result<u64, Error> {
    let page = imports::KEEPER.take_page()?;
    imports::KEEPER.give_page_and_load(page)
}

/// What comes back to the memory manager last goes out first.
fn memory_of_somebody_else() -> Result<u64, Error> {
    let page = imports::KEEPER.take_page()?;
    imports::KEEPER.give_page(page)?;
    let own = imports::MEMORY.pages(1)?;
    own.store(0, SECRET);
    imports::KEEPER.load(page)
}

fn memory_of_the_instance_before() -> Result<u64, Error> {
    let kept = imports::KEEPER.take_page()?;
    // The one started anew has taken a page, too: one more, and `kept` is that of before.
    let last = imports::KEEPER.take_page()?;
    assert!(last > kept, "pages are not given in order");
    imports::KEEPER.load(last)?;
    begin_anew();
    imports::KEEPER.load(last)
}

fn window_of_the_instance_before() -> Result<u64, Error> {
    with_page(0, SECRET, |bytes| {
        let place = imports::KEEPER.place(bytes)?;
        begin_anew();
        imports::KEEPER.load(place)
    })
}

/// Two windows after each other are in the same place and show different pages.
fn window_in_the_place_of_another() -> bool {
    let words = [0, 1].map(|page| {
        let word = SECRET + page as u64;
        with_page(page, word, |bytes| (imports::KEEPER.first_word(bytes), Ok(word)))
    });
    let places = [0, 1].map(|page| with_page(page, 0, |bytes| imports::KEEPER.place(bytes)));
    words.iter().all(|(found, expected)| found == expected) && places[0] == places[1]
}
