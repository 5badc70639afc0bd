//! Memory and instructions that are not the attacker's.

use crate::harness::{End, Harness, say};
use crate::imports::{ATTACKER, VICTIM};
use cairn_abi::RegionId;
use cairn_abi::address::*;
use cairn_test_hostile_contract::{INSTRUCTIONS, MAY_BE_MISALIGNED, MISALIGNED, attack};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

static OWN: AtomicU64 = AtomicU64::new(7);

/// Numbers of instances are regions, in the order of the system description.
const INTERRUPTS: u32 = 2;
const CONSOLE: u32 = 8;

pub fn attacks(harness: &mut Harness) {
    let page = VICTIM.page().unwrap_or(0);
    let own = ATTACKER.attack(attack::ADDRESS, 0, 0).unwrap_or(0);
    let constant = ATTACKER.attack(attack::ADDRESS, 1, 0).unwrap_or(0);
    let code = ATTACKER.attack(attack::ADDRESS, 2, 0).unwrap_or(0);
    let region_of = |address: u64| address & !(REGION_SIZE - 1);
    let places = [
        ("the victim's memory", page),
        ("the referee's memory", OWN.as_ptr() as u64),
        ("the victim's startup page", region_of(page) + STARTUP_OFFSET),
        ("the first page", 0),
        ("the page below its region", region_of(own) - 8),
        ("its window slots", own + ACTIVATION_WINDOWS + ACTIVATION_STRIDE),
        ("the console's device", region(RegionId(CONSOLE as u16)) + DEVICES_OFFSET),
        ("the interrupt controller", region(RegionId(INTERRUPTS as u16)) + DEVICES_OFFSET),
        ("the device at its physical address", 0x1000_0000),
        ("physical memory", 0x8020_0000),
        ("the nucleus", NUCLEUS),
        ("portal code", PORTAL_CODE),
        ("thread blocks", THREADS),
        ("domain blocks", DOMAINS + PAGE_SIZE),
        ("page tables", PAGE_TABLES),
        ("stack aliases", STACK_ALIASES),
        ("semaphores", SEMAPHORES),
        ("activations", ACTIVATIONS),
        ("the finisher", FINISHER),
        ("the memory of the record", ROLE_RECORD),
        ("the scheduler's semaphores", ROLE_SEMAPHORES),
        ("the supervisor's threads", ROLE_THREADS),
        ("the portal manager's code", ROLE_PORTAL_CODE),
        ("the portal manager's domains", ROLE_DOMAINS),
        ("the portal manager's activations", ROLE_ACTIVATIONS),
        ("the memory manager's page tables", ROLE_PAGE_TABLES),
        ("the memory manager's memory", ROLE_MEMORY + 0x8020_0000),
        ("the last address of the lower half", 0x3f_ffff_fff8),
        ("an address that is none", 0x40_0000_0000),
        ("the last address", u64::MAX - 7),
    ];
    for (name, address) in places {
        say!("memory: {name}");
        harness.attack("a load", (attack::LOAD, address, 0), End::Dies);
        harness.attack("a store", (attack::STORE, address, 0), End::Dies);
        harness.attack("a jump", (attack::JUMP, address, 0), End::Dies);
    }
    harness.expect("the referee's memory", OWN.load(Relaxed), 7);
    let own_startup = region_of(own) + STARTUP_OFFSET;
    harness.attack("a store to its own startup page", (attack::STORE, own_startup, 0), End::Dies);
    harness.attack("a store to its constants", (attack::STORE, constant, 0), End::Dies);
    harness.attack("a store to its code", (attack::STORE, code, 0), End::Dies);
    harness.attack("a jump to its data", (attack::JUMP, own, 0), End::Dies);
    harness.attack("a jump to its constants", (attack::JUMP, constant, 0), End::Dies);
    harness.attack(
        "a jump into the victim's code",
        (attack::JUMP, region_of(page) + IMAGE_OFFSET, 0),
        End::Dies,
    );
    harness.attack("a misaligned load", (attack::LOAD, own + 1, 0), End::Answers(0x8067 >> 8));
    harness.attack(
        "a misaligned load at the end of its memory",
        (attack::LOAD, own_startup + 4093, 0),
        End::Dies,
    );
    harness.attack("a misaligned store to others", (attack::STORE, page + 4093, 0), End::Dies);
    harness.attack("a misaligned jump", (attack::JUMP, page | 1, 0), End::Dies);
    harness.attack("a panic", (attack::PANIC, 0, 0), End::Dies);
}

/// Misaligned accesses of its own memory: done as they should be, or a fault of its own.
pub fn misaligned(harness: &mut Harness) {
    for (which, name) in MISALIGNED.into_iter().enumerate() {
        say!("misaligned: {name}");
        for offset in [1, 2, 4, 7] {
            // Half a word may be at a multiple of four.
            let end = match which {
                0..MAY_BE_MISALIGNED => End::Answers(0),
                5 if offset == 4 => continue,
                _ => End::Dies,
            };
            harness.attack("a misaligned access", (attack::MISALIGNED, which as u64, offset), end);
        }
    }
    // Accesses that begin in a page of its own and end in none, and jumps to odd places.
    let own = ATTACKER.attack(attack::ADDRESS, 0, 0).unwrap_or(0);
    let end = (own & !(REGION_SIZE - 1)) + STARTUP_OFFSET + PAGE_SIZE;
    for address in [end - 1, end - 4, end - 7] {
        harness.attack("a load over the end", (attack::LOAD, address, 0), End::Dies);
    }
    let page = VICTIM.page().unwrap_or(0);
    for address in [page + 1, page + 4095, NUCLEUS + 1, NUCLEUS + 2, end - 2, end - 1, u64::MAX, 1]
    {
        harness.attack("a jump to an odd place", (attack::JUMP, address, 0), End::Dies);
        harness.attack("a misaligned load", (attack::LOAD, address | 1, 0), End::Dies);
        harness.attack("a misaligned store", (attack::STORE, address | 1, 0), End::Dies);
    }
}

pub fn instructions(harness: &mut Harness) {
    for (index, name) in INSTRUCTIONS.iter().enumerate() {
        harness.attack(name, (attack::INSTRUCTION, index as u64, 0), End::Dies);
    }
}
