//! Boot: whatever the firmware has left in the registers of supervisor mode, the first component finds what the nucleus
//! promises.

use crate::world::*;
use cairn_abi::parameters::Parameters;
use cairn_abi::thread::*;
use cairn_emulator::csr::*;
use cairn_emulator::register::*;
use cairn_emulator::{Interrupt, Options, Privilege, Stop, Trap};
use cairn_portal::Fences;
use std::mem::offset_of;

/// Boots on a hart with or without `senvcfg`, in which everything that can be set is.
fn boot(has_environment: bool, asid_bits: u32, promised: u32) -> (World, Stop) {
    let options = Options { asid_bits, ..Options::default() };
    let mut world = World::with(options, Fences::ByAsid, 95);
    let portal = world.upcall_portal(Upcall::Timer);
    let parameters = world.nucleus.symbol("NUCLEUS_PARAMETERS");
    let kernel = world.end(SCHEDULER).space.word() & !(0xffff << SATP_ASID_SHIFT);
    let satp = kernel | ((1 << promised) - 1) << SATP_ASID_SHIFT;
    let frame = thread_block(0).wrapping_add_signed(base_frame(0) + TRAP_FRAME);
    let nucleus = cairn_abi::address::NUCLEUS;
    for (offset, value) in [
        (offset_of!(Parameters, boot_space), satp),
        (offset_of!(Parameters, nucleus_offset), nucleus.wrapping_sub(physical(nucleus))),
        (offset_of!(Parameters, boot_frame), frame),
        (offset_of!(Parameters, boot_portal), portal),
    ] {
        world.set_word(parameters + offset as u64, value);
    }
    world.scramble();
    let machine = &mut world.machine;
    machine.privilege = Privilege::Supervisor;
    machine.program_counter = physical(world.nucleus.symbol("nucleus_start"));
    let left = [SSTATUS, STVEC, SCOUNTEREN, SENVCFG, SSCRATCH, SEPC, SCAUSE, STVAL, SIP, SIE];
    for register in left {
        machine.csr.write(register, Privilege::Supervisor, u64::MAX).unwrap();
    }
    machine.csr.stimecmp = 0;
    machine.csr.external_pending = true;
    if !has_environment {
        machine.csr.senvcfg = None;
    }
    machine.csr.satp = 0;
    // The firmware enters with interrupts off.
    machine.csr.sstatus &= !STATUS_SIE;
    machine.journal.clear();
    let stop = machine.run_while(2_000, |machine| machine.privilege != Privilege::User);
    (world, stop)
}

#[test]
fn what_the_firmware_left_is_gone() {
    for has_environment in [true, false] {
        let (world, stop) = boot(has_environment, 16, 16);
        assert_eq!(stop, Stop::Address);
        let csr = &world.machine.csr;
        assert_eq!(csr.senvcfg, has_environment.then_some(0));
        assert_eq!(
            csr.sstatus & (STATUS_SIE | STATUS_SPP | STATUS_FS | STATUS_SUM | STATUS_MXR),
            0
        );
        assert_eq!((csr.sie, csr.scounteren), (0, 7));
        assert_eq!(csr.stvec, world.nucleus.symbol("trap_entry"));
        assert_eq!(csr.pending() & Interrupt::Software.bit(), 0);
        assert_eq!(csr.satp, world.end(SCHEDULER).space.word());
        assert_eq!(world.machine.program_counter, World::upcall_entry(Upcall::Timer));
        assert_eq!(world.machine.get(A1), thread_block(0) >> 12);
        // Paging begins with a fault; without the register another trap follows.
        let causes: Vec<u64> =
            world.machine.journal.traps.iter().map(|trap: &Trap| trap.code).collect();
        assert_eq!(causes, if has_environment { vec![12] } else { vec![12, 2] });
    }
}

#[test]
fn a_hart_with_fewer_identifiers_than_promised_stops() {
    let (world, stop) = boot(true, 8, 9);
    assert_eq!((stop, world.machine.privilege), (Stop::FirmwareCall, Privilege::Supervisor));
}
