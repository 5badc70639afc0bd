//! Each group of instructions by itself: what it does, and what the journal says of it.
//! (Random programs, compared with another emulator, are in `qemu/`.)

use cairn_emulator::encode::*;
use cairn_emulator::register::*;
use cairn_emulator::{Cause, Machine, Options, Privilege, Step, Stop};

const CODE: u64 = 0x8000_0000;
const DATA: u64 = 0x8001_0000;

/// A hart with `program`, and `A0` pointing into the data.
fn load(options: Options, program: &[u32]) -> Machine {
    let mut machine = Machine::with(options);
    machine.memory.add(CODE, 0x1000);
    machine.memory.add(DATA, 0x2000);
    machine.memory.write(CODE, &bytes(program)).unwrap();
    machine.program_counter = CODE;
    machine.set(A0, DATA);
    machine
}

/// The hart after `program`, which does not trap.
fn run(program: &[u32]) -> Machine {
    let mut machine = load(Options::default(), program);
    let end = CODE + 4 * program.len() as u64;
    assert_eq!(machine.run_until(end, 1000), Stop::Address);
    assert_eq!(machine.journal.traps, []);
    machine
}

/// The trap that the first instruction of `program` takes.
fn trap(options: Options, program: &[u32]) -> (Machine, u64, u64) {
    let mut machine = load(options, program);
    match machine.step() {
        Step::Trapped(trap) => {
            assert_eq!(trap.program_counter, CODE);
            (machine, trap.code, trap.value)
        }
        other => panic!("no trap but {other:?}"),
    }
}

#[test]
fn constants_of_every_size() {
    for value in [
        0,
        1,
        2047,
        2048,
        0xfff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        u64::MAX,
        1 << 63,
        0x1234_5678_9abc_def0,
        0x8000_0000_0000_0800,
        0xffff_ffff_7fff_ffff,
        0x7fff_ffff_ffff_ffff,
    ] {
        assert_eq!(run(&constant(A1, value)).get(A1), value, "{value:#x}");
    }
}

#[test]
fn register_zero_stays_zero() {
    assert_eq!(run(&[addi(ZERO, ZERO, 5), lui(ZERO, 0x1000), ld(ZERO, A0, 0)]).registers()[0], 0);
}

#[test]
fn loads_extend_by_their_kind() {
    let mut machine = load(
        Options::default(),
        &[
            lb(A1, A0, 0),
            lbu(A2, A0, 0),
            lh(A3, A0, 0),
            lhu(A4, A0, 0),
            lw(A5, A0, 0),
            lwu(A6, A0, 0),
            ld(A7, A0, 0),
        ],
    );
    machine.memory.write_u64(DATA, 0xf7f6_f5f4_f3f2_f1f0).unwrap();
    machine.run(7);
    assert_eq!(
        [A1, A2, A3, A4, A5, A6, A7].map(|register| machine.get(register)),
        [
            0xffff_ffff_ffff_fff0,
            0xf0,
            0xffff_ffff_ffff_f1f0,
            0xf1f0,
            0xffff_ffff_f3f2_f1f0,
            0xf3f2_f1f0,
            0xf7f6_f5f4_f3f2_f1f0
        ]
    );
}

#[test]
fn stores_write_their_bytes_and_no_others() {
    let mut program = constant(A1, u64::MAX);
    program.extend([sb(A1, A0, 1), sh(A1, A0, 10), sw(A1, A0, 20), sd(A1, A0, 32)]);
    let machine = run(&program);
    let mut expected = [0; 48];
    for range in [1..2, 10..12, 20..24, 32..40] {
        expected[range].fill(0xff);
    }
    assert_eq!(machine.memory.read(DATA, 48).unwrap(), expected);
    let writes: Vec<_> = machine
        .journal
        .writes
        .iter()
        .map(|write| (write.address - DATA, write.size, write.old, write.new))
        .collect();
    assert_eq!(
        writes,
        [(1, 1, 0, 0xff), (10, 2, 0, 0xffff), (20, 4, 0, 0xffff_ffff), (32, 8, 0, u64::MAX)]
    );
    assert_eq!(machine.journal.writes[3].program_counter, CODE + 4 * 4);
    assert_eq!(machine.journal.writes[3].privilege, Privilege::Supervisor);
    assert_eq!(machine.journal.writes_outside(&[(DATA + 1, 1), (DATA + 10, 100)]), []);
    assert_eq!(machine.journal.writes_outside(&[(DATA, 39)]).len(), 1, "the last one by a byte");
}

#[test]
fn a_store_across_pages_is_two_writes_or_none() {
    let program =
        [lui(A1, 0x1000), add(A2, A0, A1), addi(A1, A1, 0x7f), sd(A1, A2, -3), ld(A3, A2, -3)];
    let machine = run(&program);
    assert_eq!(machine.get(A3), 0x107f);
    let parts: Vec<_> =
        machine.journal.writes.iter().map(|write| (write.address, write.size)).collect();
    assert_eq!(parts, [(DATA + 0xffd, 3), (DATA + 0x1000, 5)]);

    let mut machine = load(Options::default(), &[sd(A1, A0, -3), ld(A1, A0, -3)]);
    machine.set(A0, DATA + 0x2000);
    machine.set(A1, u64::MAX);
    let Step::Trapped(trap) = machine.step() else { panic!("the second page is absent") };
    assert!(trap.is(Cause::StoreAccessFault));
    assert_eq!(trap.value, DATA + 0x2000, "the part that faulted");
    assert_eq!(machine.journal.writes, []);
    machine.program_counter = CODE + 4;
    let Step::Trapped(trap) = machine.step() else { panic!("the second page is absent") };
    assert!(trap.is(Cause::LoadAccessFault) && trap.value == DATA + 0x2000);
}

#[test]
fn misaligned_accesses_trap_if_wanted() {
    let strict = Options { traps_misaligned: true, ..Options::default() };
    let cause = |program: &[u32]| {
        let (machine, code, value) = trap(strict, program);
        assert_eq!(machine.journal.writes, []);
        (code, value)
    };
    assert_eq!(cause(&[lh(A1, A0, 1)]), (Cause::LoadMisaligned as u64, DATA + 1));
    assert_eq!(cause(&[sd(A1, A0, 4)]), (Cause::StoreMisaligned as u64, DATA + 4));
    assert_eq!(load(strict, &[sb(A1, A0, 3)]).step(), Step::Completed);
}

#[test]
fn atomics_return_the_old_value_extended_and_must_be_aligned() {
    let mut program = constant(A1, 0x8000_0000);
    program.extend([sw(A1, A0, 0), addi(A2, ZERO, -1), amoadd_w(A3, A2, A0), lw(A4, A0, 0)]);
    let machine = run(&program);
    assert_eq!(machine.get(A3), 0xffff_ffff_8000_0000);
    assert_eq!(machine.get(A4), 0x7fff_ffff);
    assert_eq!(machine.journal.writes.len(), 2);

    for (word, cause) in [
        (amoswap_d(A1, A2, A3), Cause::StoreMisaligned),
        (sc_d(A1, A2, A3), Cause::StoreMisaligned),
        (lr_d(A1, A3), Cause::LoadMisaligned),
    ] {
        let mut machine = load(Options::default(), &[word]);
        machine.set(A3, DATA + 4);
        let Step::Trapped(trap) = machine.step() else { panic!("{word:#x} did not trap") };
        assert!(trap.is(cause) && trap.value == DATA + 4, "{word:#x}: {trap:?}");
    }
}

#[test]
fn a_conditional_store_needs_a_reservation_of_its_own() {
    let machine = run(&[
        addi(A1, ZERO, 7),
        sc_d(A2, A1, A0), // no reservation
        lr_d(A3, A0),
        sc_w(A3, A1, A0), // of another size
        lr_d(T0, A0),
        sc_d(A4, A1, A0), // succeeds
        sc_d(A5, A1, A0), // once only
    ]);
    assert_eq!([A2, A3, A4, A5].map(|register| machine.get(register)), [1, 1, 0, 1]);
    assert_eq!(machine.journal.writes.len(), 1);
}

#[test]
fn jumps_link_and_branches_choose() {
    let machine = run(&[
        jal(RA, 8),
        EBREAK,
        auipc(T0, 0),     // CODE + 8
        jalr(T0, T0, 17), // to CODE + 24, the lowest bit dropped
        EBREAK,
        EBREAK,
        addi(T1, ZERO, -1), // CODE + 24
        bltu(T1, ZERO, -4), // not taken
        blt(T1, ZERO, 8),   // taken
        EBREAK,
        NOP,
    ]);
    assert_eq!(machine.get(RA), CODE + 4);
    assert_eq!(machine.get(T0), CODE + 16);
    assert_eq!(machine.executed(), 7);
}

#[test]
fn compressed_code_advances_by_two() {
    // c.li a1, 5; c.addi a1, 1; c.j +4; c.ebreak; c.nop; c.jalr a0
    let halves: [u16; 6] = [0x4595, 0x0585, 0xa011, 0x9002, 0x0001, 0x9502];
    let mut machine = load(Options::default(), &[]);
    machine.memory.write(CODE, &halves.map(u16::to_le_bytes).concat()).unwrap();
    assert_eq!(machine.run_until(DATA, 100), Stop::Address);
    assert_eq!((machine.get(A1), machine.get(RA), machine.executed()), (6, CODE + 12, 5));
}

#[test]
fn csr_instructions_write_only_when_asked() {
    let time = 0xc01;
    let sscratch = 0x140;
    let machine = run(&[
        csrrs(A1, time, ZERO), // reading what is read-only is legal
        csrrwi(ZERO, sscratch, 0b1100),
        csrrsi(A2, sscratch, 0b0011),
        csrrci(A3, sscratch, 0b0101),
        csrrw(A4, sscratch, A0),
    ]);
    assert_eq!([A1, A2, A3, A4].map(|register| machine.get(register)), [0, 0b1100, 0b1111, 0b1010]);
    assert_eq!(machine.csr.sscratch, DATA);
    let word = csrrw(A1, time, ZERO);
    let (machine, code, value) = trap(Options::default(), &[word]);
    assert_eq!((code, value), (Cause::IllegalInstruction as u64, u64::from(word)));
    assert_eq!(machine.get(A1), 0);
}

#[test]
fn absent_memory_is_an_access_fault() {
    let options = Options::default();
    assert_eq!(trap(options, &[ld(A1, ZERO, 8)]).1, Cause::LoadAccessFault as u64);
    assert_eq!(trap(options, &[sd(A1, ZERO, 8)]).1, Cause::StoreAccessFault as u64);
    assert_eq!(trap(options, &[amoadd_d(A1, A1, ZERO)]).1, Cause::StoreAccessFault as u64);
    let mut machine = load(options, &[jalr(ZERO, ZERO, 0x40)]);
    machine.step();
    let Step::Trapped(trap) = machine.step() else { panic!("nothing to execute there") };
    assert!(trap.is(Cause::InstructionAccessFault));
    assert_eq!((trap.program_counter, trap.value), (0x40, 0x40));
}

#[test]
fn old_instructions_stay_until_the_fence() {
    let options = Options { keeps_instructions: true, ..Options::default() };
    let program = [addi(A1, A1, 1), jalr(ZERO, RA, 0)];
    let mut machine = load(options, &program);
    let call = |machine: &mut Machine| {
        machine.program_counter = CODE;
        machine.set(RA, CODE + 0x100);
        assert_eq!(machine.run_until(CODE + 0x100, 10), Stop::Address);
        machine.get(A1)
    };
    assert_eq!(call(&mut machine), 1);
    machine.memory.write(CODE, &bytes(&[addi(A1, A1, 16)])).unwrap();
    assert_eq!(call(&mut machine), 2, "the old instruction");
    machine.memory.write(CODE + 0x200, &bytes(&[FENCE_I])).unwrap();
    machine.program_counter = CODE + 0x200;
    machine.step();
    assert_eq!(call(&mut machine), 18, "the new instruction");
}

#[test]
fn the_path_is_recorded_if_wanted() {
    let options = Options { record_path: true, ..Options::default() };
    let mut machine = load(options, &[jal(ZERO, 8), NOP, EBREAK]);
    machine.run(2);
    let expected = [CODE, CODE + 8].map(|address| (Privilege::Supervisor, address));
    assert_eq!(machine.journal.path, expected);
}

#[test]
fn floating_point_registers_are_there_when_the_unit_is_on() {
    use cairn_emulator::csr::{FCSR, SSTATUS, STATUS_FS};
    let program = [
        csrrs(ZERO, SSTATUS, T0),
        fld(3, A0, 8),
        fmv_x_d(A1, 3),
        fsd(3, A0, 16),
        fmv_d_x(31, A0),
        csrrwi(ZERO, FCSR, 9),
        fsd(31, A0, -8),
    ];
    for on in [false, true] {
        let mut machine = load(Options::default(), &program);
        machine.set(T0, if on { 1 << 13 } else { 0 });
        machine.step();
        if !on {
            for (at, word) in (4..).step_by(4).zip(&program[1..]) {
                machine.program_counter = CODE + at;
                let Step::Trapped(trap) = machine.step() else { panic!("{word:#x} is executed") };
                assert_eq!((trap.code, trap.value), (2, u64::from(*word)));
            }
            continue;
        }
        machine.set(A0, DATA + 8);
        machine.memory.write_u64(DATA + 16, 0x1122_3344_5566_7788).unwrap();
        assert_eq!(machine.run_until(CODE + 28, 10), Stop::Address);
        assert_eq!(machine.get(A1), 0x1122_3344_5566_7788);
        assert_eq!(machine.memory.read_u64(DATA + 24), Ok(0x1122_3344_5566_7788));
        assert_eq!(machine.memory.read_u64(DATA), Ok(DATA + 8));
        assert_eq!((machine.csr.fcsr, machine.csr.sstatus & STATUS_FS), (9, STATUS_FS));
    }
}
