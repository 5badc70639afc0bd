//! Whatever a pager answers, only its own client notices.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::{Stack, sleep, spawn};
use cairn::time::{Duration, now, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_pager_contract::Deeds;
use cairn_test_paged_contract::{Probe, ProbeProxy, when_it_lives};

const PAGE: u64 = 4096;
/// Pages of the villain.
const PAGES: u64 = 8;
const READ: u64 = 1;
const WRITE: u64 = 3;
/// How soon a thread is home again, in microseconds: `cancelled_for`, and some time.
const HOME_MICROSECONDS: u64 = 1_000_000;

/// Until who was ended lives again.
const LIVES_MICROSECONDS: u64 = 5_000_000;

cairn::component! {
    name: "hostile-pager-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        villain: Deeds,
        victim: Probe,
        innocent: Probe,
        threads: interfaces::Threads,
        mute: Deeds,
        patient: Probe,
    },
    main: main,
}

use imports::{CONSOLE, INNOCENT, MUTE, PATIENT, SUPERVISOR, VICTIM, VILLAIN};

fn say(what: &str) {
    CONSOLE.write(what.as_bytes()).expect("console");
}

/// The villain's client dies of what it does next, nobody else, and lives again.
fn kills(touch: impl Fn() -> Result<u64, Error>, why: &str) {
    assert_eq!(touch(), Err(Error::Dead), "{why}");
    when_it_lives(LIVES_MICROSECONDS, || VICTIM.size());
    when_it_lives(LIVES_MICROSECONDS, || VILLAIN.behave());
    check_innocent();
}

fn check_innocent() {
    assert_eq!(INNOCENT.load(0), Ok(0x1234_5678));
}

fn first(probe: ProbeProxy) -> Result<u64, Error> {
    probe.load(0)
}

fn main() {
    INNOCENT.store(0, 0x1234_5678).expect("a page");
    VILLAIN.behave().expect("it lives");
    assert_eq!(VICTIM.load(0), Ok(0));
    errors_and_foreign_pages();
    one_page_at_two_places();
    rights();
    pages_that_are_in_use();
    ranges_of_others();
    it_dies();
    it_never_answers();
    who_is_killed_comes_home();
    only_faults_ask_a_pager();
    check_innocent();
    say("hostile-pager: done\n");
    let _ = SUPERVISOR.halt(0);
}

fn errors_and_foreign_pages() {
    let (page, code, section) = VILLAIN.places(0).expect("it lives");
    let region = page & !((64 << 20) - 1);
    let foreign = [
        ("an error", 1, 0),
        ("nothing", 0, 0),
        ("its code", 0, code | WRITE),
        ("a section", 0, section | WRITE),
        ("what it does not have", 0, page + (PAGES + 2) * PAGE),
        ("its startup page", 0, region + 0x1000),
        ("below its region", 0, region - PAGE),
        ("behind its region", 0, region + (64 << 20)),
        ("another one's region", 0, (region ^ 1 << 26) + 0x2_0000),
        ("the nucleus", 0, 0xffff_ffc0_0002_8000),
        ("the view of all memory", 0, 0x20_8000_0000),
        ("the end", 0, u64::MAX),
    ];
    for (why, status, value) in foreign {
        SUPERVISOR.restart("victim").expect("restart");
        when_it_lives(LIVES_MICROSECONDS, || VICTIM.size());
        VILLAIN.answer(status, value).expect("it lives");
        kills(|| first(VICTIM), why);
    }
    say("ok: no page but its own\n");
}

/// Its client finds one page at two places: that is what it has from its pager.
fn one_page_at_two_places() {
    VILLAIN.answer_page(3, WRITE).expect("it lives");
    VICTIM.store(PAGE, 41).expect("a page");
    assert_eq!(VICTIM.load(2 * PAGE), Ok(41));
    VICTIM.store(2 * PAGE, 42).expect("a page");
    assert_eq!(VICTIM.load(PAGE), Ok(42));
    VILLAIN.behave().expect("it lives");
    check_innocent();
    say("ok: one page twice is its client's affair\n");
}

fn rights() {
    // A page that may only be read faults once more when it is written.
    VILLAIN.answer_page(5, READ).expect("it lives");
    VICTIM.load(3 * PAGE).expect("a page");
    VILLAIN.answer_page(6, WRITE).expect("it lives");
    VICTIM.store(3 * PAGE + 8, 6).expect("a page");
    assert_eq!(VILLAIN.seen().map(|(_, rights)| rights), Ok(WRITE));
    VILLAIN.behave().expect("it lives");
    check_innocent();
    say("ok: who writes what it may only read asks again\n");
}

fn pages_that_are_in_use() {
    VICTIM.load(4 * PAGE).expect("a page");
    let busy = Error::Busy.status() as u64;
    assert_eq!(VILLAIN.give_back(), Ok(busy), "a client has one of them");
    assert_eq!(VICTIM.load(4 * PAGE), Ok(0), "and keeps it");
    say("ok: a page that a client has is not given back\n");
}

fn ranges_of_others() {
    for range in [0, 1, 2, 3, 64, u64::MAX] {
        let _ = VILLAIN.unmap(range, 0, 1);
        check_innocent();
    }
    for (first, pages) in [(0, u64::MAX), (u64::MAX, 1), (u64::MAX, u64::MAX), (1 << 20, 1)] {
        for range in 0..4 {
            assert_ne!(VILLAIN.unmap(range, first, pages), Ok(0), "{range} {first} {pages}");
        }
    }
    say("ok: it takes pages from its own clients only\n");
}

fn it_dies() {
    for round in 0..3 {
        VILLAIN.die().expect("it lives");
        kills(|| VICTIM.load((5 + round) * PAGE), "a pager that dies");
    }
    say("ok: who waits for a pager that dies learns of it\n");
}

/// Its export says how long a call may take. And whoever is called home from there comes home.
fn it_never_answers() {
    for sleeps in [false, true] {
        VILLAIN.keep(sleeps).expect("it lives");
        let begin = now();
        kills(|| VICTIM.load(5 * PAGE), "a pager that never answers");
        assert!(now() - begin < ticks(5 * HOME_MICROSECONDS), "it took too long");
    }
    say("ok: a pager that never answers dies\n");
}

static STACK: Stack<8192> = Stack::new();

/// A client dies while its thread is in a pager that keeps it, and of which nobody says how long that may take.
fn who_is_killed_comes_home() {
    [true, false].into_iter().for_each(kill_patient);
    check_innocent();
    say("ok: who is killed comes home from a pager\n");
}

/// `sleeps`: the pager keeps the thread so, else it computes.
fn kill_patient(sleeps: bool) {
    when_it_lives(LIVES_MICROSECONDS, || MUTE.keep(sleeps));
    let (before, _) = MUTE.seen().expect("it lives");
    when_it_lives(LIVES_MICROSECONDS, || PATIENT.size());
    let caller = spawn(&STACK, 40, || PATIENT.load(0)).expect("a thread");
    while MUTE.seen().expect("it lives").0 == before {
        sleep(Duration::from_millis(1)).expect("time passes");
    }
    let begin = now();
    SUPERVISOR.kill("patient").expect("kill");
    assert_eq!(caller.join().expect("its end"), Err(Error::Dead));
    assert!(now() - begin < ticks(5 * HOME_MICROSECONDS), "it took too long");
    when_it_lives(LIVES_MICROSECONDS, || MUTE.behave());
    SUPERVISOR.restart("patient").expect("restart");
    assert_eq!(when_it_lives(LIVES_MICROSECONDS, || PATIENT.load(PAGE)), 0);
}

/// Nobody can open what a pager serves faults by.
fn only_faults_ask_a_pager() {
    let opened = imports::PORTALS.open_object::<dyn interfaces::Pager>("villain.pager");
    assert!(opened.is_err());
    say("ok: only faults call a pager\n");
}
