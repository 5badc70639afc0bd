//! Memory of its own, and what is none, as a parameter in the kernel domain.

use crate::{complain, imports};
use cairn::Error;
use cairn::abi::address::*;
use cairn::call::Call;
use cairn_random::Random;
use cairn_test_kernel_inside::InsideProxy;
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Methods of `Inside`.
const SUM: u32 = 4;
const TURN: u32 = 5;

const EDGE: u64 = 1 << USER_ADDRESS_BITS;
/// What is nobody's in user mode, or another's.
const FOREIGN: [u64; 12] = [
    0,
    8,
    EDGE - 1,
    EDGE - 8,
    EDGE,
    1 << 63,
    u64::MAX,
    NUCLEUS,
    PORTAL_CODE,
    THREADS,
    DOMAINS,
    KERNEL_REGIONS,
];
/// What no buffer has.
const LENGTHS: [u64; 6] = [WINDOW_MAXIMUM + 1, EDGE - 1, EDGE, 1 << 62, 1 << 63, u64::MAX];

/// What a portal into user mode answers as well.
const USER_MODE: [Error; 3] = [Error::TooLarge, Error::BadPointer, Error::NotPageAligned];

/// Whether the description says that who is called is in user mode.
fn is_to_domain() -> bool {
    cairn::environment::argument().ends_with(" domain")
}

/// A page that is there at times.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// Takes the page from under whoever passes it.
pub fn give_and_take(seed: u64) {
    let mut random = Random::of_seed(seed + 1000);
    let mut pause = || {
        let ticks = cairn::time::ticks(random.below(200));
        let _ = imports::THREADS.sleep_until(cairn::time::now() + ticks);
    };
    loop {
        let Ok(page) = imports::MEMORY.allocate(1) else { continue };
        GIVEN.store(page, Relaxed);
        pause();
        if let Err(error) = imports::MEMORY.free(page, 1) {
            complain(error);
        }
        pause();
    }
}

/// A call of one of the two methods with whatever words. Registers come back, whatever it answers: the portal keeps them.
fn call(method: u32, pointer: u64, length: u64) -> Result<u64, i64> {
    let mut call = Call::new();
    call.word(pointer);
    call.word(length);
    match call.invoke(imports::INSIDE.first_portal() + method) {
        (0, words) => Ok(words[0]),
        (status, _) => Err(status),
    }
}

/// Passes something; the error is that of a callee that died.
pub fn attack(random: &mut Random, proxy: InsideProxy) -> Result<(), Error> {
    match random.below(4) {
        0 => good(random, proxy),
        1 => foreign(random),
        2 => too_long(random),
        _ => {
            // All of it or nothing: the answer is good only if it was there throughout.
            let found = call([SUM, TURN][random.below(2) as usize], GIVEN.load(Relaxed), PAGE_SIZE);
            expect(found, &[Error::BadPointer], true)
        }
    }
}

fn expect(found: Result<u64, i64>, errors: &[Error], may_pass: bool) -> Result<(), Error> {
    match found {
        Err(status) if status == Error::Dead.status() => Err(Error::Dead),
        Err(status) if errors.iter().any(|error| error.status() == status) => Ok(()),
        // Towards a component in user mode the length is looked at first, and pages are passed as such.
        Err(status) if is_to_domain() && USER_MODE.iter().any(|error| error.status() == status) => {
            Ok(())
        }
        Ok(_) if may_pass => Ok(()),
        found => {
            complain((found, errors));
            Ok(())
        }
    }
}

fn good(random: &mut Random, proxy: InsideProxy) -> Result<(), Error> {
    let mut buffer = [0; 300];
    let from = random.below(16) as usize;
    let part = &mut buffer[from..from + random.below(280) as usize];
    part.iter_mut().for_each(|byte| *byte = random.next() as u8);
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    let before = sum(part);
    if random.below(2) == 0 {
        let found = proxy.sum(part)?;
        if found != before {
            complain((found, before));
        }
    } else {
        let found = proxy.turn(part)?;
        let (length, after) = (part.len() as u64, sum(part));
        if (found, before + after) != (length, 255 * length) {
            complain((found, length, before, after));
        }
    }
    Ok(())
}

fn foreign(random: &mut Random) -> Result<(), Error> {
    let length = [1, 7, 8, 64, 65, PAGE_SIZE, WINDOW_MAXIMUM][random.below(7) as usize];
    if random.below(8) == 0 {
        // Its own code can be read.
        let code = attack as *const () as u64;
        expect(call(SUM, code, 64), &[], true)?;
        return expect(call(TURN, code, length), &[Error::BadPointer], false);
    }
    let pointer = match random.below(4) {
        // What lies at such an address is the caller's own with little chance; it is only read.
        0 => {
            let pointer = random.next() >> random.below(64);
            return expect(call(SUM, pointer, length), &[Error::BadPointer], true);
        }
        _ => FOREIGN[random.below(FOREIGN.len() as u64) as usize],
    };
    let method = [SUM, TURN][random.below(2) as usize];
    expect(call(method, pointer, length), &[Error::BadPointer], false)
}

fn too_long(random: &mut Random) -> Result<(), Error> {
    let mut own = [0u8; 16];
    let pointer = black_box(&mut own).as_mut_ptr() as u64 + random.below(8);
    let length = match random.below(4) {
        // The end would be before the beginning.
        0 => 0u64.wrapping_sub(pointer) + random.below(16),
        _ => LENGTHS[random.below(LENGTHS.len() as u64) as usize],
    };
    let error = if length < EDGE { Error::TooLarge } else { Error::BadPointer };
    let method = [SUM, TURN][random.below(2) as usize];
    expect(call(method, pointer, length), &[error], false)
}
