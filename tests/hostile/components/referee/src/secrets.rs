//! Data that one domain leaves and no other may find.
#![allow(unsafe_code)] // Memory at run time is read by its address.

use crate::harness::{Harness, say};
use crate::imports::{ATTACKER, MEMORY, PORTALS, VICTIM};
use cairn_abi::address::{REGION_SHIFT, REGION_SIZE};
use cairn_test_hostile_contract::attack;
use cairn_test_hostile_machine::{KEPT, call_and_look};

/// Method `attack` of the attacker.
const ATTACK: u64 = 1;
/// Registers that a call does not keep, but for the reply.
const DESTROYED: [usize; 13] = [5, 6, 7, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];
/// Registers that a call keeps.
const KEPT_REGISTERS: [usize; 14] = [3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

pub fn attacks(harness: &mut Harness) {
    to_the_caller(harness);
    to_the_callee(harness);
    in_memory(harness);
}

fn to_the_caller(harness: &mut Harness) {
    let name = "secrets in registers, to the caller";
    let failed = harness.failed();
    let index = u64::from(ATTACKER.first_portal()) + ATTACK;
    let found = call_and_look(index, &[0, attack::LEAVE_SECRETS, 0, 0, 0, 0, 0, 0]);
    harness.expect(name, (found[10], found[11]), (0, 0));
    for register in DESTROYED {
        harness.expect(name, (register, found[register]), (register, 0));
    }
    for register in KEPT_REGISTERS {
        harness.expect(name, (register, found[register]), (register, KEPT + register as u64));
    }
    // A refusal and the victim's good answer go the same way.
    for index in [index, VICTIM.first_portal().into()] {
        let found = call_and_look(index, &[0, u64::MAX, 0, 0, 0, 0, 0, 0]);
        for register in DESTROYED {
            harness.expect(name, (register, found[register]), (register, 0));
        }
    }
    harness.after(name);
    if failed == harness.failed() {
        say!("ok: {name}");
    }
}

fn to_the_callee(harness: &mut Harness) {
    let name = "secrets in registers, to the callee";
    let failed = harness.failed();
    harness.expect(name, ATTACKER.attack(attack::REGISTER_LOOK, 0, 0), Ok(0));
    let index = PORTALS.open("attacker.look", 0, &[]).unwrap_or(0);
    let found = call_and_look(index, &[KEPT, 5, 6, KEPT, KEPT, KEPT, KEPT, KEPT]);
    harness.expect(name, (found[10], found[11]), (0, 0));
    let page = ATTACKER.attack(attack::ADDRESS, 3, 0).unwrap_or(0);
    for register in 1..32 {
        let looked = ATTACKER.attack(attack::LOOKED, register, 0).unwrap_or(u64::MAX);
        match register {
            // Its return stub.
            1 => harness.expect(name, looked >> REGION_SHIFT, page >> REGION_SHIFT),
            // The stack pointer is not kept by the entry point.
            2 => {}
            11 => harness.expect(name, looked, 5),
            12 => harness.expect(name, looked, 6),
            _ => harness.expect(name, (register, looked), (register, 0)),
        }
    }
    harness.expect(name, PORTALS.close(index), Ok(()));
    harness.after(name);
    if failed == harness.failed() {
        say!("ok: {name}");
    }
}

fn in_memory(harness: &mut Harness) {
    let name = "secrets in memory";
    let failed = harness.failed();
    harness.expect(name, ATTACKER.attack(attack::WRITE_SECRETS, 0, 0), Ok(0));
    let secrets = ATTACKER.attack(attack::FIND_SECRETS, 0, 0);
    // It finds its own, as long as it lives.
    harness.expect(name, secrets.is_ok_and(|count| count > 2048), true);
    harness.renew();
    harness.expect(name, ATTACKER.attack(attack::FIND_SECRETS, 0, 0), Ok(0));
    // Its memory is free now.
    let pages = 40;
    match MEMORY.allocate(pages) {
        Ok(address) => {
            harness.expect(name, address & (REGION_SIZE - 1) != 0, true);
            // SAFETY: the memory manager just gave this memory to this component.
            let words =
                unsafe { core::slice::from_raw_parts(address as *const u64, pages as usize * 512) };
            harness.expect(name, words.iter().all(|word| *word == 0), true);
            harness.expect(name, MEMORY.free(address, pages), Ok(()));
        }
        Err(error) => harness.fail(name, error),
    }
    harness.after(name);
    if failed == harness.failed() {
        say!("ok: {name}");
    }
}
