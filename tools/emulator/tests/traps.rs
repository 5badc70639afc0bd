//! Traps, interrupts, and the way back.

use cairn_emulator::csr::*;
use cairn_emulator::encode::*;
use cairn_emulator::register::*;
use cairn_emulator::{Cause, Interrupt, Machine, Privilege, Step, Stop};

const CODE: u64 = 0x8000_0000;
const VECTOR: u64 = 0x8000_0800;

fn load(program: &[u32]) -> Machine {
    let mut machine = Machine::new();
    machine.memory.add(CODE, 0x1000);
    machine.memory.write(CODE, &bytes(program)).unwrap();
    machine.memory.write(VECTOR, &bytes(&[NOP; 32])).unwrap();
    machine.program_counter = CODE;
    machine.csr.stvec = VECTOR;
    machine
}

#[test]
fn a_user_call_enters_the_supervisor_and_sret_leaves() {
    let mut machine = load(&[ECALL, NOP]);
    machine.memory.write(VECTOR, &bytes(&[SRET])).unwrap();
    machine.privilege = Privilege::User;
    machine.csr.sstatus |= STATUS_SIE;
    let Step::Trapped(trap) = machine.step() else { panic!("ecall did not trap") };
    assert!(trap.is(Cause::UserCall) && trap.from == Privilege::User);
    assert_eq!((machine.program_counter, machine.privilege), (VECTOR, Privilege::Supervisor));
    assert_eq!((machine.csr.sepc, machine.csr.scause, machine.csr.stval), (CODE, 8, 0));
    let flags = STATUS_SIE | STATUS_SPIE | STATUS_SPP;
    assert_eq!(machine.csr.sstatus & flags, STATUS_SPIE, "from user mode, interrupts now off");

    assert_eq!(machine.step(), Step::Completed);
    assert_eq!((machine.program_counter, machine.privilege), (CODE, Privilege::User));
    assert_eq!(machine.csr.sstatus & flags, STATUS_SIE | STATUS_SPIE);
    assert_eq!((machine.executed(), machine.csr.instret), (2, 1), "the ecall did not complete");
}

#[test]
fn a_trap_in_the_supervisor_comes_back_to_it() {
    let mut machine = load(&[EBREAK]);
    machine.memory.write(VECTOR, &bytes(&[SRET])).unwrap();
    let Step::Trapped(trap) = machine.step() else { panic!("ebreak did not trap") };
    assert!(trap.is(Cause::Breakpoint) && trap.from == Privilege::Supervisor);
    assert_eq!(machine.csr.sstatus & STATUS_SPP, STATUS_SPP);
    machine.step();
    assert_eq!(machine.privilege, Privilege::Supervisor);
    assert_eq!(machine.csr.sstatus & STATUS_SPP, 0, "the next return goes to user mode");
}

#[test]
fn the_supervisor_calls_the_firmware() {
    let mut machine = load(&[ECALL]);
    assert_eq!(machine.run(10), Stop::FirmwareCall);
    assert_eq!(machine.program_counter, CODE + 4);
    assert_eq!(machine.journal.traps, []);
}

#[test]
fn privileged_instructions_are_illegal_in_user_mode() {
    for word in [SRET, WFI, sfence_vma(ZERO, ZERO), csrrs(A0, SSTATUS, ZERO), csrrw(ZERO, SATP, A0)]
    {
        let mut machine = load(&[word]);
        machine.privilege = Privilege::User;
        let Step::Trapped(trap) = machine.step() else { panic!("{word:#x} did not trap") };
        assert!(trap.is(Cause::IllegalInstruction), "{word:#x}: {trap:?}");
        assert_eq!(trap.value, u64::from(word));
    }
}

#[test]
fn only_interrupts_are_vectored() {
    for (vectored, offset) in [(0, 0), (1, 4 * 9)] {
        let mut machine = load(&[NOP]);
        machine.csr.stvec = VECTOR | vectored;
        machine.csr.sie = u64::MAX;
        machine.csr.external_pending = true;
        machine.csr.sstatus |= STATUS_SIE;
        let Step::Trapped(trap) = machine.step() else { panic!("no interrupt") };
        assert_eq!(trap.code, Interrupt::External.code());
        assert_eq!((machine.csr.sepc, machine.executed()), (CODE, 0), "before the instruction");
        assert_eq!(machine.program_counter, VECTOR + offset);
        machine.program_counter = CODE + 0x100;
        let Step::Trapped(_) = machine.step() else { panic!("zeros are no instruction") };
        assert_eq!(machine.program_counter, VECTOR);
    }
}

#[test]
fn sstatus_holds_interrupts_off_in_the_supervisor_only() {
    for (privilege, status, sie, taken) in [
        (Privilege::Supervisor, 0, u64::MAX, false),
        (Privilege::Supervisor, STATUS_SIE, u64::MAX, true),
        (Privilege::User, 0, u64::MAX, true),
        (Privilege::User, STATUS_SIE, 0, false),
    ] {
        let mut machine = load(&[NOP]);
        machine.privilege = privilege;
        machine.csr.sstatus |= status;
        machine.csr.sie = sie;
        machine.csr.software_pending = true;
        let trapped = matches!(machine.step(), Step::Trapped(_));
        assert_eq!(trapped, taken, "{privilege:?}, sstatus {status:#x}, sie {sie:#x}");
    }
}

#[test]
fn the_most_urgent_interrupt_comes_first() {
    let mut machine = load(&[NOP]);
    machine.csr.sie = u64::MAX;
    machine.csr.stimecmp = 0;
    machine.csr.software_pending = true;
    machine.csr.external_pending = true;
    let mut order = Vec::new();
    for _ in 0..3 {
        machine.csr.sstatus |= STATUS_SIE;
        let Step::Trapped(trap) = machine.step() else { panic!("no interrupt") };
        order.push(trap.code & 15);
        machine.csr.sie &= !(1 << (trap.code & 15));
    }
    assert_eq!(order, [9, 1, 5]);
}

#[test]
fn the_timer_interrupts_when_its_time_has_come() {
    let mut machine = load(&[csrrw(ZERO, STIMECMP, A0), NOP, NOP, NOP, NOP]);
    machine.set(A0, 3);
    machine.csr.sie = Interrupt::Timer.bit();
    machine.csr.sstatus |= STATUS_SIE;
    let stop = machine.run_until_trap(10, |trap| trap.code == Interrupt::Timer.code());
    assert!(matches!(stop, Stop::Trap(trap) if trap.program_counter == CODE + 12), "{stop:?}");
}

#[test]
fn waiting_ends_with_a_pending_interrupt_or_the_timer() {
    let mut machine = load(&[WFI, WFI]);
    machine.csr.sie = Interrupt::External.bit() | Interrupt::Timer.bit();
    assert_eq!(machine.run(10), Stop::Waiting);
    assert_eq!((machine.program_counter, machine.executed()), (CODE, 0));
    // Taken or not: SIE is off here.
    machine.csr.external_pending = true;
    assert_eq!(machine.step(), Step::Completed);
    machine.csr.external_pending = false;
    machine.csr.stimecmp = 1000;
    assert_eq!(machine.step(), Step::Completed);
    assert!(machine.csr.time >= 1000);
}
