//! Two guests of one host take pages and sections there; one of them ends or leaves, and nothing of that is left to the others.

use super::imports::{HOST, LEFT, MEMORY, RIGHT, USAGE};
use super::{READ, described, expect, judge, lives, move_one, serves};
use cairn::section::Section;
use cairn::{Error, InstanceId};
use cairn_test_taker::MARK;

/// Pages that go over in a window.
#[repr(align(4096))]
struct Pages([u8; 8192]);
static PAGES: Pages = Pages([3; 8192]);

fn number(name: &str) -> InstanceId {
    InstanceId(described(name).0 as u16)
}

fn free() -> Result<u64, Error> {
    USAGE.usage().map(|(free, _)| free)
}

/// Nothing is there for the host.
fn is_gone(what: &str, address: u64) {
    expect(what, HOST.commit(READ, address), Err(Error::Dead));
    lives(HOST, "host");
}

pub fn attack() {
    for dies in [true, false] {
        let before = free();
        take(dies);
        let is_back = judge::wait_until(super::THREADS, || free() == before);
        expect("all memory is back", (is_back, free()), (true, before));
    }
}

fn take(dies: bool) {
    for name in ["left", "right"] {
        move_one(name, true);
    }
    let shared = MEMORY.make_section(1).expect("a section");
    Section::of_window(shared, 1, true).expect("its addresses").store(0, MARK);
    for name in ["left", "right"] {
        expect("offered", MEMORY.share(shared, number(name), true), Ok(()));
    }
    let pages = LEFT.allocate().unwrap_or(0);
    let made = LEFT.make(number("right")).unwrap_or(0);
    expect("it takes part", LEFT.accept(shared), Ok(()));
    for section in [made, shared] {
        expect("not twice in one page table", RIGHT.accept(section), Err(Error::BadArgument));
    }
    for address in [pages, made, shared] {
        expect("the host reads what a guest took", HOST.commit(READ, address), Ok(MARK));
    }
    expect("pages of a client", LEFT.sum(&PAGES.0), Ok(3 * 8192));
    expect("bytes of a client", RIGHT.sum(&PAGES.0[1..60]), Ok(3 * 59));
    match dies {
        true => {
            expect("who took dies", LEFT.fail(), Err(Error::Dead));
            serves("left", || LEFT.sum(&[]).is_ok());
        }
        false => move_one("left", false),
    }
    is_gone("its pages are not there", pages);
    is_gone("its section is not there", made);
    is_gone("nor the one in which it took part", shared);
    expect("the other takes part", RIGHT.accept(shared), Ok(()));
    expect("which the host sees", HOST.commit(READ, shared), Ok(MARK));
    is_gone("and dies elsewhere", made);
    expect("and not the section with it", RIGHT.first(shared), Ok(MARK));
    expect("the other leaves it", RIGHT.leave(shared), Ok(()));
    is_gone("it is not there", shared);
    if dies {
        move_one("left", false);
    }
    move_one("right", false);
    expect("it goes back", MEMORY.drop_section(shared), Ok(()));
}
