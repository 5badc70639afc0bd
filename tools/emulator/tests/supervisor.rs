//! Code that runs in supervisor mode with interrupts on, as a component in the kernel does: traps from there, user
//! memory, global pages.

use cairn_emulator::csr::*;
use cairn_emulator::encode::*;
use cairn_emulator::mmu::*;
use cairn_emulator::register::*;
use cairn_emulator::{AddressSpace, Cause, Interrupt, Machine, Privilege, Step, Tables, Trap};

const CODE: u64 = 0x8000_0000;
const VECTOR: u64 = 0x8000_0800;
const FLAGS: u64 = STATUS_SIE | STATUS_SPIE | STATUS_SPP;

fn load(program: &[u32]) -> Machine {
    let mut machine = Machine::new();
    machine.memory.add(CODE, 0x1000);
    machine.memory.write(CODE, &bytes(program)).unwrap();
    machine.program_counter = CODE;
    machine.csr.stvec = VECTOR;
    machine
}

fn handle(machine: &mut Machine, program: &[u32]) {
    machine.memory.write(VECTOR, &bytes(program)).unwrap();
}

fn trapped(machine: &mut Machine) -> Trap {
    match machine.step() {
        Step::Trapped(trap) => trap,
        other => panic!("{other:?} at {:#x}", machine.program_counter),
    }
}

#[test]
fn an_interrupt_of_the_supervisor_comes_back_with_interrupts_on() {
    let mut machine = load(&[NOP, csrrsi(ZERO, SSTATUS, 2), NOP, NOP]);
    handle(&mut machine, &[csrrw(TP, SSCRATCH, TP), csrrw(TP, SSCRATCH, TP), SRET]);
    machine.csr.sie = Interrupt::Timer.bit();
    machine.csr.stimecmp = 0;
    machine.set(TP, 7);
    machine.csr.sscratch = 7;
    assert_eq!([machine.step(), machine.step()], [Step::Completed; 2], "held off until SIE is set");
    let trap = trapped(&mut machine);
    assert_eq!((trap.from, trap.program_counter), (Privilege::Supervisor, CODE + 8));
    assert_eq!(machine.csr.sstatus & FLAGS, STATUS_SPP | STATUS_SPIE, "off in the handler");
    machine.step();
    assert_eq!(
        (machine.get(TP), machine.csr.sscratch),
        (7, 7),
        "equal, so the swap changes nothing"
    );
    machine.step();
    assert_eq!(machine.step(), Step::Completed);
    assert_eq!((machine.program_counter, machine.privilege), (CODE + 8, Privilege::Supervisor));
    assert_eq!(machine.csr.sstatus & FLAGS, STATUS_SIE | STATUS_SPIE);
    // It is pending still, and taken before anything else.
    assert_eq!(trapped(&mut machine).program_counter, CODE + 8);
}

#[test]
fn a_fault_of_the_supervisor_says_whether_interrupts_were_on() {
    for (status, previous) in [(0, STATUS_SPP), (STATUS_SIE, STATUS_SPP | STATUS_SPIE)] {
        let mut machine = load(&[ld(A0, A0, 0)]);
        machine.csr.sstatus |= status | STATUS_SUM;
        let trap = trapped(&mut machine);
        assert!(trap.is(Cause::LoadAccessFault) && trap.from == Privilege::Supervisor);
        assert_eq!(machine.csr.sstatus & FLAGS, previous);
        assert_ne!(machine.csr.sstatus & STATUS_SUM, 0, "a trap leaves user memory open");
        // Who goes on in user mode by a status that was written.
        handle(&mut machine, &[csrrc(ZERO, SSTATUS, T0), SRET]);
        machine.set(T0, STATUS_SPP | STATUS_SUM);
        machine.step();
        machine.step();
        assert_eq!((machine.privilege, machine.csr.sstatus & STATUS_SUM), (Privilege::User, 0));
    }
}

#[test]
fn the_supervisor_interrupts_itself() {
    let mut machine = load(&[csrrsi(ZERO, SIP, 2), csrrsi(ZERO, SSTATUS, 2), NOP]);
    handle(&mut machine, &[csrrci(ZERO, SIP, 2), SRET]);
    machine.csr.sie = Interrupt::Software.bit();
    machine.step();
    assert_eq!(machine.csr.pending(), Interrupt::Software.bit());
    machine.step();
    let trap = trapped(&mut machine);
    assert_eq!((trap.code, trap.program_counter), (Interrupt::Software.code(), CODE + 8));
    machine.step();
    machine.step();
    assert_eq!((machine.csr.pending(), machine.program_counter), (0, CODE + 8));
    assert_eq!(machine.step(), Step::Completed);
}

#[test]
fn what_ends_waiting_is_taken_behind_it() {
    let mut machine = load(&[WFI, NOP]);
    machine.csr.sie = Interrupt::Timer.bit();
    machine.csr.sstatus |= STATUS_SIE;
    machine.csr.stimecmp = 1000;
    assert_eq!(machine.step(), Step::Completed);
    let trap = trapped(&mut machine);
    assert_eq!((trap.code, trap.program_counter), (Interrupt::Timer.code(), CODE + 4));
}

const PAGE: u64 = 0x40_0000;
const LIVE: u64 = ACCESSED | DIRTY;

/// The program in a page of the supervisor's, global; a page at [`PAGE`] with these flags; two spaces with both.
fn mapped(program: &[u32], flags: u64) -> (Machine, Tables, [AddressSpace; 2]) {
    let mut machine = load(program);
    let mut tables = Tables::new(&mut machine.memory, 0x8010_0000, 16);
    machine.memory.add(0x8020_0000, 0x2000);
    let spaces = [1, 2].map(|asid| AddressSpace::new(&mut tables, asid));
    for space in spaces {
        let code = READ | EXECUTE | GLOBAL | ACCESSED;
        space.map(&mut machine.memory, &mut tables, CODE, CODE, 1, code);
        space.map(&mut machine.memory, &mut tables, PAGE, 0x8020_0000, 1, flags);
    }
    machine.csr.satp = spaces[0].satp();
    machine.set(A0, PAGE);
    (machine, tables, spaces)
}

#[test]
fn every_access_to_user_memory_needs_permission() {
    let flags = READ | WRITE | EXECUTE | USER | LIVE;
    let accesses = [
        (ld(A1, A0, 0), Cause::LoadPageFault),
        (sd(A1, A0, 0), Cause::StorePageFault),
        (lr_d(A1, A0), Cause::LoadPageFault),
        (sc_d(A1, A1, A0), Cause::StorePageFault),
        (amoadd_d(A1, A1, A0), Cause::StorePageFault),
    ];
    for (word, cause) in accesses {
        let (mut machine, ..) = mapped(&[word], flags);
        assert!(trapped(&mut machine).is(cause), "{word:#x}");
        machine.program_counter = CODE;
        machine.csr.sstatus |= STATUS_SUM;
        assert_eq!(machine.step(), Step::Completed, "{word:#x}");
    }
    let (mut machine, ..) = mapped(&[jalr(ZERO, A0, 0)], flags);
    machine.csr.sstatus |= STATUS_SUM;
    machine.step();
    assert!(trapped(&mut machine).is(Cause::InstructionPageFault), "never fetched");
}

#[test]
fn global_pages_stay_through_the_fence_of_a_space() {
    let program = [ld(A1, A0, 0), sfence_vma(ZERO, A2), sfence_vma(A0, A2), sfence_vma(ZERO, ZERO)];
    for flag in [0, GLOBAL] {
        let (mut machine, _, spaces) = mapped(&program, READ | flag | LIVE);
        machine.memory.write_u64(0x8020_0000, 5).unwrap();
        machine.set(A2, 1);
        assert_eq!(machine.step(), Step::Completed);
        for space in spaces {
            let location = space.entry(&machine.memory, PAGE).unwrap();
            machine.memory.write_u64(location, 0).unwrap();
        }
        // By identifier, by identifier and address, of everything; in the other space too.
        for (fence, kept) in [(4, flag != 0), (8, flag != 0), (12, false)] {
            machine.csr.satp = spaces[0].satp();
            machine.program_counter = CODE + fence;
            machine.step();
            for space in spaces {
                machine.csr.satp = space.satp();
                machine.program_counter = CODE;
                assert_eq!(machine.step() == Step::Completed, kept, "fence {fence}, {flag:#x}");
            }
        }
    }
}
