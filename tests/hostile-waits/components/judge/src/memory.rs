//! Windows of memory that was got at run time.

use crate::harness::Judge;
use crate::imports::{KEEPER, MEMORY};
use cairn::Error;
use cairn_abi::address::PAGE_SIZE;
use cairn_test_hostile_contract::machine;

/// Methods of the keeper.
const SUM: u64 = 1;
const FILL: u64 = 2;
/// More than one page table maps.
const PAGES: u64 = 600;
const WINDOW: u64 = 2 * PAGE_SIZE;

/// Passes a buffer by its address, since no reference leads to it; status and value.
fn pass(method: u64, pointer: u64) -> (i64, u64) {
    let index = u64::from(KEEPER.first_portal()) + method;
    machine::call(index, [0, pointer, WINDOW, 3, 0, 0, 0, 0])
}

pub fn attacks(judge: &mut Judge) {
    let name = "windows of memory got at run time";
    judge.start();
    let address = MEMORY.allocate(PAGES).unwrap_or(0);
    for page in [0, 2, PAGES / 2, PAGES - 2] {
        let pointer = address + page * PAGE_SIZE;
        judge.expect(name, pass(SUM, pointer), (0, 0));
        judge.expect(name, pass(FILL, pointer).0, 0);
        judge.expect(name, pass(SUM, pointer), (0, 3 * WINDOW));
    }
    // Half of the window is behind the end.
    let beyond = pass(SUM, address + (PAGES - 1) * PAGE_SIZE).0;
    judge.expect(name, beyond, Error::BadPointer.status());
    judge.expect(name, MEMORY.free(address, PAGES), Ok(()));
    judge.expect(name, pass(SUM, address).0, Error::BadPointer.status());
    judge.end(name);

    let name = "all of its memory, in windows";
    judge.start();
    let mut last = 0;
    let mut pages = 0;
    let refused = loop {
        match MEMORY.allocate(2) {
            Ok(address) => (last, pages) = (address, pages + 2),
            Err(error) => break error,
        }
    };
    judge.expect(name, refused, Error::Exhausted);
    judge.expect(name, pages > PAGES, true);
    judge.expect(name, pass(FILL, last).0, 0);
    judge.expect(name, pass(SUM, last), (0, 3 * WINDOW));
    judge.expect(name, MEMORY.free(last + WINDOW - pages * PAGE_SIZE, pages), Ok(()));
    judge.end(name);
}
