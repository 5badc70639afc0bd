//! Has a component in the kernel domain call every index that there is, and some that there are not.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::judge;
use cairn_test_kernel_indexes_prober::Prober;
use core::hint::black_box;

cairn::component! {
    name: "indexes-judge",
    imports: { console: interfaces::Console, supervisor: interfaces::Supervisor, prober: Prober },
    main: main,
}

use imports::{CONSOLE, PROBER, SUPERVISOR};

/// Those that every domain has: its own number, its thread's, the time.
const EVERYBODYS: core::ops::Range<u64> = 1..4;
const INDEXES: u64 = 1100;

/// The answer, and whether words that the compiler has in registers over the call are what they were.
#[inline(never)]
fn probe(index: u64) -> (Result<u64, Error>, bool) {
    let words: [u64; 12] = core::array::from_fn(|at| black_box(at as u64 * 3 + index));
    let answer = PROBER.call(index);
    (answer, words.iter().enumerate().all(|(at, word)| *word == at as u64 * 3 + index))
}

fn main() {
    let mut wrong = 0;
    for index in (0..INDEXES).chain([1 << 12, 1 << 16, u64::from(u32::MAX)]) {
        let status = if EVERYBODYS.contains(&index) { 0 } else { Error::NoPortal.status() as u64 };
        let found = probe(index);
        if found != (Ok(status), true) {
            wrong += 1;
            let _ = CONSOLE.print(format_args!("index {index}: {found:?}\n"));
        }
    }
    judge::compare(CONSOLE, "no index is more than a portal", wrong, 0);
    let _ = SUPERVISOR.halt(wrong);
}
