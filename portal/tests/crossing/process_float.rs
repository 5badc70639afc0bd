//! What processes have in the floating-point unit: it is theirs, whatever their server does meanwhile, who else uses the unit, and when they
//! are interrupted.

use crate::processes::prepared;
use crate::world::processes::*;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::arch::trap::{SSTATUS_FS_CLEAN, USER_STATUS};
use cairn_abi::float::{FLOAT_STATE, FLOAT_WORDS};
use cairn_abi::privileged::*;
use cairn_abi::process::*;
use cairn_abi::thread::{TRAP_FRAME, TRAP_STATUS, trap_register};
use cairn_emulator::csr::{FCSR, STATUS_FS};
use cairn_emulator::encode::{self, *};
use cairn_emulator::register::*;
use cairn_portal::Float;

/// Where a process has an instruction that the test chooses, and behind it its call.
const HERE: u64 = 0x100;

/// What a process knows of its registers.
type Registers = [u64; FLOAT_WORDS];

impl World {
    /// A process executes an instruction, and then calls. Whether the first one came to the server instead.
    fn computes(&mut self, number: u64, instruction: u32, value: u64) -> Option<u64> {
        let place = MEMORY + 2 * number * PAGE_SIZE + HERE;
        self.machine.memory.write(place, &encode::bytes(&[instruction, ECALL])).unwrap();
        let mut registers = self.random_registers();
        registers[usize::from(A0)] = value;
        self.resume(number, &registers, HERE);
        // It is tried again where the unit was off.
        self.pass();
        if self.machine.program_counter == PROCESS + HERE {
            assert_eq!(self.machine.registers(), registers);
            let frame = base_header().wrapping_add_signed(PROCESS_FRAME + TRAP_FRAME + TRAP_STATUS);
            assert_eq!(self.word(frame), USER_STATUS | SSTATUS_FS_CLEAN, "the unit is on");
            self.pass();
        }
        if self.machine.csr.satp == self.spaces[CLIENT].satp() {
            self.assert_in_server(BY_FAULT, &registers, HERE);
            let found = [STATUS_CAUSE, STATUS_VALUE].map(|field| self.status(field));
            assert_eq!(found, [2, instruction.into()]);
            return None;
        }
        assert_eq!(self.machine.program_counter, PROCESS + HERE + 4);
        let found = self.machine.get(A0);
        self.pass();
        self.assert_at(CLIENT, BY_CALL);
        Some(found)
    }

    fn float(&mut self, what: u64) {
        assert_eq!(self.operate(PORTAL_PROCESS_FLOAT, what, 7), 0);
    }

    /// A process has these from now on.
    fn give(&mut self, registers: &Registers) {
        for (place, word) in (STATUS_FLOAT..).step_by(8).zip(registers) {
            self.set_status(place, *word);
        }
        self.float(1);
    }

    fn taken(&mut self) -> Registers {
        (STATUS_FLOAT..STATUS_FREE).step_by(8).for_each(|place| self.set_status(place, !1));
        self.float(0);
        let mut places = (STATUS_FLOAT..).step_by(8);
        std::array::from_fn(|_| self.status(places.next().expect("as many as wanted")))
    }

    fn random_float(&mut self) -> Registers {
        std::array::from_fn(|number| match number {
            32 => self.random.u64(..) & 0xff,
            _ => self.random.u64(..),
        })
    }
}

/// What somebody else does meanwhile: nothing; is interrupted, while another one uses the unit; calls somebody who does.
fn meanwhile(world: &mut World, what: u32, user: &Connection) {
    match what {
        1 => {
            world.start_other();
            let word = fmv_d_x(3, A0);
            world.write_bytes(at(CLIENT, PROGRAM), &encode::bytes(&[word, NOP]));
            world.back_to_carrier();
        }
        2 => {
            world.call_any(user);
            assert_eq!(world.running(), SERVER);
            assert_eq!(world.status_of_unit(), 0, "it has nothing of the process");
            for register in 0..32 {
                world.execute(fmv_d_x(register, A0));
            }
            world.execute(csrrw(ZERO, FCSR, A0));
            world.reply(0, 0);
        }
        _ => {}
    }
}

/// Two processes with registers of their own, by chance.
fn computing(world: &mut World, rounds: usize) {
    world.use_float(SERVER, Float::FIRST_USE);
    let user = world.connect("npi", CLIENT, SERVER);
    let mut known: [Option<Registers>; 2] = [None; 2];
    let mut last = None;
    for _ in 0..rounds {
        let number = world.random.usize(..2);
        if last != Some(number) {
            if let Some(last) = last.filter(|last: &usize| known[*last].is_some()) {
                assert_eq!(Some(world.taken()), known[last], "what was saved of process {last}");
            }
            match known[number] {
                Some(registers) => world.give(&registers),
                None => world.float(2),
            }
            last = Some(number);
        }
        let register = world.random.u8(..32);
        let value = world.random.u64(..);
        let (word, place) = match world.random.u8(..5) {
            0 => (csrrw(ZERO, FCSR, A0), 32),
            1 => (csrrs(A0, FCSR, ZERO), 32),
            2 | 3 => (fmv_d_x(register, A0), usize::from(register)),
            _ => (fmv_x_d(A0, register), usize::from(register)),
        };
        let found = world.computes(number as u64, word, value);
        match (&mut known[number], found) {
            (None, None) => {
                // Its first use: zeros, or what its server chooses.
                let registers = world.random_float();
                world.give(&registers);
                known[number] = Some(registers);
            }
            (Some(registers), Some(found)) => {
                if word == csrrw(ZERO, FCSR, A0) {
                    registers[32] = value & 0xff;
                } else if word == fmv_d_x(register, A0) {
                    registers[place] = value;
                } else {
                    assert_eq!(found, registers[place], "register {place} of process {number}");
                }
            }
            (known, found) => panic!("{known:?}, {found:?}"),
        }
        let what = world.random.u32(..4);
        meanwhile(world, what, &user);
    }
}

#[test]
fn processes_keep_their_registers() {
    for seed in 0..4 {
        let (mut world, _) = prepared(150 + seed);
        others_keep_theirs(&mut world.clone());
        all_of_them(&mut world.clone());
        leaves_nothing(&mut world.clone());
        computing(&mut world, 400);
    }
}

#[test]
fn an_illegal_instruction_is_one_with_the_unit_too() {
    let (mut world, _) = prepared(160);
    assert_eq!(world.computes(0, 0, 1), None);
    world.give(&[5; FLOAT_WORDS]);
    assert_eq!(world.computes(0, fmv_x_d(A0, 9), 1), Some(5));
    assert_eq!(world.computes(0, 0, 1), None);
    assert_eq!(world.computes(0, fmv_x_d(A0, 9), 1), Some(5));
    world.float(2);
    assert_eq!(world.computes(0, fmv_x_d(A0, 9), 1), None);
}

/// What was taken away and is given again, while another process runs, and others use the unit.
fn taken_away_and_given_again(world: &mut World) {
    world.use_float(SERVER, Float::FIRST_USE);
    let user = world.connect("npi", CLIENT, SERVER);
    for what in 0..3 {
        world.give(&[5; FLOAT_WORDS]);
        assert_eq!(
            world.computes(0, fmv_d_x(9, A0), 6 + u64::from(what)),
            Some(6 + u64::from(what))
        );
        world.float(2);
        assert_eq!(world.computes(1, fmv_x_d(A0, 9), 1), None, "it has none");
        meanwhile(world, what, &user);
        assert_eq!(world.computes(1, fmv_x_d(A0, 9), 1), None, "nor has it later");
        world.float(3);
        assert_eq!(world.computes(0, fmv_x_d(A0, 9), 1), Some(6 + u64::from(what)));
        assert_eq!(world.computes(0, fmv_x_d(A0, 1), 1), Some(5));
    }
}

#[test]
fn registers_that_were_taken_away_are_given_again() {
    let (mut world, _) = prepared(170);
    taken_away_and_given_again(&mut world);
}

/// What a server says of its processes is nothing of whoever has the unit.
fn others_keep_theirs(world: &mut World) {
    world.use_float(SERVER, Float::FIRST_USE);
    let user = world.connect("npi", CLIENT, SERVER);
    let back = world.connect("npi", SERVER, CLIENT);
    for what in 0..4 {
        world.call_any(&user);
        world.machine.set(A0, 77);
        world.execute(fmv_d_x(8, A0));
        world.call_any(&back);
        world.float(what);
        world.reply(0, 0);
        world.execute(fmv_x_d(A0, 8));
        assert_eq!(world.machine.get(A0), 77, "after {what}");
        world.reply(0, 0);
    }
}

/// All that a process wrote is there again when somebody else has had the unit.
fn all_of_them(world: &mut World) {
    world.use_float(SERVER, Float::FIRST_USE);
    let user = world.connect("npi", CLIENT, SERVER);
    world.give(&[0; FLOAT_WORDS]);
    let known = world.random_float();
    for (register, value) in (0..).zip(&known[..32]) {
        world.computes(0, fmv_d_x(register, A0), *value);
    }
    world.computes(0, csrrw(ZERO, FCSR, A0), known[32]);
    meanwhile(world, 2, &user);
    for (register, value) in (0..).zip(&known[..32]) {
        assert_eq!(world.computes(0, fmv_x_d(A0, register), 0), Some(*value), "{register}");
    }
    assert_eq!(world.computes(0, csrrs(A0, FCSR, ZERO), 0), Some(known[32]));
    assert_eq!(world.taken(), known);
}

/// A call that waits, or is refused, leaves no address of the kernel domain, whatever the unit has.
fn leaves_nothing(world: &mut World) {
    let shared = world.connect("spi", CLIENT, SERVER);
    let user = world.connect("npi", CLIENT, SERVER);
    world.give(&[3; FLOAT_WORDS]);
    world.computes(0, fmv_d_x(4, A0), 5);
    world.call(shared.index, at(CLIENT, STACK), [9; 8]);
    world.assert_at(CLIENT, RESUME);
    assert_eq!(world.machine.get(A0), Error::BadStack.status() as u64);
    for register in [T1, T2, T3, T4, T5, T6] {
        assert_eq!(world.machine.get(register), 0, "{}", name(register));
    }
    world.computes(0, fmv_d_x(4, A0), 5);
    assert_eq!(world.status_of_unit(), STATUS_FS, "it is dirty");
    world.fill_queue(user.crossing.queue, &[]);
    world.call_any(&user);
    world.assert_upcall(Upcall::StackWait, THREAD, 8, user.crossing.queue);
    let frame = world.machine.csr.sscratch;
    for register in [T1, T2, T3, T4, T5, T6] {
        let word = frame.wrapping_add_signed(trap_register(register.into()));
        assert_eq!(world.word(word), 0, "{}", name(register));
    }
}

/// Everything, for who takes instructions out: from before the carrier is one.
pub fn everything(world: &mut World) {
    // Of a life before.
    world.set_word(CELLS.wrapping_add_signed(CELL_FLOAT + FLOAT_STATE), !0);
    world.make_processes();
    assert_eq!(world.clone().computes(0, fmv_x_d(A0, 9), 1), None, "nobody has used it");
    others_keep_theirs(&mut world.clone());
    all_of_them(&mut world.clone());
    leaves_nothing(&mut world.clone());
    computing(&mut world.clone(), 60);
    taken_away_and_given_again(&mut world.clone());
    assert_eq!(world.computes(0, 0, 1), None);
    world.give(&[5; FLOAT_WORDS]);
    assert_eq!(world.computes(0, 0, 1), None);
    assert_eq!(world.computes(0, fmv_x_d(A0, 9), 1), Some(5));
    world.float(2);
    assert_eq!(world.computes(0, fmv_x_d(A0, 9), 1), None);
}
