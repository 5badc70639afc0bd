//! Buffers that are none, and windows after their time.

use crate::harness::{End, Harness, pause, say};
use crate::imports::{ATTACKER, VICTIM};
use cairn::Error;
use cairn_abi::address::*;
use cairn_test_hostile_contract::attack;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

#[repr(align(4096))]
struct Page([AtomicU8; 4096]);
static OWN: Page = Page([const { AtomicU8::new(0) }; 4096]);

pub fn attacks(harness: &mut Harness) {
    buffers(harness);
    afterwards(harness);
}

/// Both letters: a small length is copied, a large one mapped.
fn buffers(harness: &mut Harness) {
    let page = VICTIM.page().unwrap_or(0);
    let own = ATTACKER.attack(attack::ADDRESS, 3, 0).unwrap_or(0);
    let code = ATTACKER.attack(attack::ADDRESS, 2, 0).unwrap_or(0);
    let region = own & !(REGION_SIZE - 1);
    let referee = OWN.0.as_ptr() as u64;
    let bad = Error::BadPointer;
    let buffers = [
        ("no address", 0, bad),
        ("the victim's page", page, bad),
        ("the referee's page", referee, bad),
        ("an unmapped page of its region", region + DEVICES_OFFSET + 0x10_0000, bad),
        ("the last page of its region", region + REGION_SIZE - PAGE_SIZE, bad),
        ("the nucleus", NUCLEUS, bad),
        ("portal code", PORTAL_CODE, bad),
        ("thread blocks", THREADS, bad),
        ("page tables", PAGE_TABLES, bad),
        ("stack aliases", STACK_ALIASES, bad),
        ("the memory manager's memory", ROLE_MEMORY + 0x8020_0000, bad),
        ("the end of the lower half", 0x3f_ffff_f000, bad),
        ("no address of the machine", 0x40_0000_0000, bad),
        ("the last page", u64::MAX - 4095, bad),
        ("the last bytes", u64::MAX, bad),
    ];
    for (name, pointer, error) in buffers {
        for length in [1, 64, 65, 4096, 8192, 16384] {
            let expected = match error {
                _ if pointer % PAGE_SIZE != 0 && length > COPY_MAXIMUM => Error::NotPageAligned,
                error => error,
            };
            refused(harness, name, pointer, length, expected);
        }
        say!("ok: a buffer at {name}");
    }
    for length in [16385, 1 << 20, 1 << 32, 1 << 63, u64::MAX - 4095, u64::MAX] {
        refused(harness, "a length", own, length, Error::TooLarge);
        refused(harness, "a length", NUCLEUS, length, Error::TooLarge);
    }
    say!("ok: lengths that are too large");
    for pointer in [own + 1, own + 8, own + 4095] {
        refused(harness, "an address inside a page", pointer, 65, Error::NotPageAligned);
        refused(harness, "an address inside a page", pointer, 4096, Error::NotPageAligned);
    }
    say!("ok: buffers that begin inside a page");
    // The first byte is there, the last is not.
    refused(harness, "the end", region + STARTUP_OFFSET + PAGE_SIZE - 1, 2, bad);
    refused(harness, "the end", u64::MAX - 31, 64, bad);
    say!("ok: buffers that end outside");
    // It may read its code, and has no right to let others write it.
    for length in [1, 64, 4096] {
        let pointer = code & !(PAGE_SIZE - 1);
        let read = ATTACKER.attack(attack::PASS_READABLE, pointer, length);
        harness.expect("code to read", read, Ok(0));
        let written = ATTACKER.attack(attack::PASS_WRITABLE, pointer, length);
        harness.expect("code to write", written, Ok(bad.status() as u64));
    }
    let startup = region + STARTUP_OFFSET;
    let written = ATTACKER.attack(attack::PASS_WRITABLE, startup, 8);
    harness.expect("startup page to write", written, Ok(bad.status() as u64));
    say!("ok: buffers that may only be read");
    for length in [0, 1, 64, 4096, 8192] {
        harness.expect("good", ATTACKER.attack(attack::PASS_READABLE, own, length), Ok(0));
        harness.expect("good", ATTACKER.attack(attack::PASS_WRITABLE, own, length), Ok(0));
    }
    harness.expect("the referee's page", OWN.0.iter().all(|byte| byte.load(Relaxed) == 0), true);
    harness.after("buffers");
}

fn refused(harness: &mut Harness, name: &str, pointer: u64, length: u64, error: Error) {
    for attack in [attack::PASS_READABLE, attack::PASS_WRITABLE] {
        let found = ATTACKER
            .attack(attack, pointer, length)
            .map(|status| Error::from_status(status as i64));
        if found != Ok(error) {
            harness.fail(name, (attack, pointer, length, found, "expected", error));
        }
    }
}

/// A server keeps the address of a window and uses it after the call.
fn afterwards(harness: &mut Harness) {
    static BUFFER: cairn::exclusive::Exclusive<Pages> =
        cairn::exclusive::Exclusive::new(Pages([0x11; 8192]));
    BUFFER.with(|buffer| {
        let bytes = &mut buffer.0;
        for length in [65, 4096, 8192] {
            harness.expect("a window", ATTACKER.keep(&bytes[..length], false), Ok(0x11));
            harness.attack("a window to read, after the call", (attack::TOUCH, 0, 0), End::Dies);
            harness.expect("a window", ATTACKER.keep_writable(&mut bytes[..length], false), Ok(0));
            harness.expect("the last byte", bytes[length - 1], 0x66);
            bytes[length - 1] = 0x11;
            harness.attack("a window to write, after the call", (attack::TOUCH, 0, 0), End::Dies);
        }
        harness.expect("a window", ATTACKER.keep(&bytes[..4096], true), Ok(0x11));
        dies_by_itself(harness, "a window to read, by another thread after the call");
        harness.expect("a window", ATTACKER.keep_writable(&mut bytes[..4096], true), Ok(0));
        bytes[4095] = 0x11;
        dies_by_itself(harness, "a window to write, by another thread after the call");
        harness.expect("the buffer", bytes.iter().all(|byte| *byte == 0x11), true);
    });
}

#[repr(align(4096))]
struct Pages([u8; 8192]);

fn dies_by_itself(harness: &mut Harness, name: &str) {
    let failed = harness.failed();
    // Its thread begins when it is asked for the first time.
    let died = (0..200).any(|_| {
        pause(1000);
        matches!(ATTACKER.count(), Err(Error::Dead) | Ok(1))
    });
    harness.expect(name, died, true);
    harness.after(name);
    if failed == harness.failed() {
        say!("ok: {name}");
    }
}
