//! Who has the floating-point unit: threads in several domains use it, call, are interrupted and killed, at random, and every
//! activation finds its own registers, all of them, or zeros; nobody else's, ever.

use crate::run::Crossed;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::float::{FLOAT_OLDER, FLOAT_OWNER};
use cairn_abi::privileged::*;
use cairn_abi::thread::*;
use cairn_emulator::csr::{FCSR, STATUS_FS};
use cairn_emulator::encode::*;
use cairn_emulator::register::*;
use cairn_portal::Float;

/// `f0` to `f31` and `fcsr`.
type Registers = [u64; 33];

/// What the test knows of one activation.
#[derive(Clone, Debug)]
struct Activation {
    domain: usize,
    /// None: it has not used the unit.
    registers: Option<Registers>,
    /// Its caller has died.
    orphan: bool,
    /// It has made a call since it had the unit last.
    called: bool,
}

/// Whether a function of the C convention preserves a register, or the control register.
fn is_preserved(number: usize) -> bool {
    matches!(number, 8 | 9 | 18..=27 | 32)
}

/// What the test knows of the threads: their activations, the last one runs.
#[derive(Clone)]
pub struct Model {
    threads: [Vec<Activation>; THREAD_COUNT],
    running: usize,
    pub connections: Vec<Connection>,
    yields: Vec<Connection>,
    random: fastrand::Rng,
    /// Calls that were one too many.
    overflows: usize,
    /// What was done, for whoever reads a failure.
    log: Vec<String>,
}

/// From whom to whom; the backend, as the others are made, may not use the unit in every world.
const CALLS: [(&str, usize, usize); 9] = [
    ("npi", CLIENT, SERVER),
    ("smi", CLIENT, SERVER),
    ("nmi2", SERVER, BACKEND),
    ("npi", SERVER, BACKEND),
    ("npi", BACKEND, CLIENT),
    ("npi", BACKEND, SERVER),
    ("kpi", CLIENT, KERNEL_SERVER),
    ("kmi", SERVER, KERNEL_SERVER),
    ("nki", KERNEL_SERVER, BACKEND),
];

pub const USERS: [usize; 3] = [CLIENT, SERVER, BACKEND];

/// A world in which these domains may use the unit.
pub fn prepared(float: &[usize], seed: u64) -> (World, Model) {
    prepared_from_start(float, &[], seed)
}

/// The same where calls into some have it when they begin.
pub fn prepared_from_start(float: &[usize], start: &[usize], seed: u64) -> (World, Model) {
    let mut world = World::new(seed);
    float.iter().for_each(|number| world.use_float(*number, Float::FIRST_USE));
    start.iter().for_each(|number| world.use_float(*number, Float::START));
    let connections = CALLS.map(|(kind, from, to)| world.connect_with(kind, from, to, 1)).into();
    let yields = USERS.map(|from| world.connect("rpci", from, SCHEDULER)).into();
    let mut threads = [const { Vec::new() }; THREAD_COUNT];
    threads[THREAD] =
        vec![Activation { domain: CLIENT, registers: None, orphan: false, called: false }];
    let random = fastrand::Rng::with_seed(seed);
    let log = Vec::new();
    (world, Model { threads, running: THREAD, connections, yields, random, overflows: 0, log })
}

impl World {
    pub fn owner(&self) -> u64 {
        self.word(self.nucleus.symbol("nucleus_float").wrapping_add_signed(FLOAT_OWNER))
    }

    pub fn is_older(&self) -> bool {
        let word = self.nucleus.symbol("nucleus_float").wrapping_add_signed(FLOAT_OLDER);
        (self.word(word) as i64) < 0
    }

    pub fn registers_of_unit(&self) -> Registers {
        std::array::from_fn(|number| match number {
            32 => self.machine.csr.fcsr,
            _ => self.machine.get_float(number as u8),
        })
    }

    pub fn status_of_unit(&self) -> u64 {
        self.machine.csr.sstatus & STATUS_FS
    }

    /// The running domain executes an instruction. If it is illegal as things are, the nucleus may let it try again, with all
    /// registers as they were.
    pub fn execute(&mut self, word: u32) -> Option<Crossed> {
        let domain = self.running();
        let place = at(domain, PROGRAM);
        self.write_bytes(place, &bytes(&[word, NOP]));
        self.machine.program_counter = place;
        let crossed = self.cross();
        if self.running() == SCHEDULER || self.machine.program_counter == place + 4 {
            return None;
        }
        assert_eq!((self.running(), self.machine.program_counter), (domain, place));
        assert_eq!(self.machine.registers(), crossed.before, "it tries again");
        assert_eq!(self.status_of_unit(), 2 << 13, "on, and clean");
        self.cross();
        Some(crossed)
    }
}

impl Model {
    fn activation(&mut self) -> &mut Activation {
        self.threads[self.running].last_mut().expect("a thread runs somewhere")
    }

    /// Wherever the unit is on, it has the registers of who runs.
    fn check(&mut self, world: &World) {
        let activation = self.activation().clone();
        assert_eq!(world.running(), activation.domain, "{:?}", self.log);
        if world.status_of_unit() != 0 {
            assert!(world.has_float(activation.domain));
            assert_eq!(world.owner(), world.machine.csr.sscratch, "{:?}", self.log);
            let found = world.registers_of_unit();
            let registers = activation.registers.as_ref().expect("it uses the unit");
            for (number, (found, known)) in found.iter().zip(registers).enumerate() {
                // What a call need not preserve is zero when somebody else has used the unit meanwhile.
                let is_gone = *found == 0 && !is_preserved(number) && activation.called;
                assert!(found == known || is_gone, "register {number}: {:?}", self.log);
            }
            let activation = self.activation();
            (activation.registers, activation.called) = (Some(found), false);
        }
    }

    fn note(&mut self, what: String) {
        self.log.push(format!("{}: {what}", self.running));
    }

    /// It writes a register, or reads one: the unit is on then, which `check` looks at.
    fn compute(&mut self, world: &mut World) {
        let (register, value) = (self.random.u8(..32), self.random.u64(..));
        if self.random.u8(..4) == 0 && self.activation().registers.is_some() {
            return self.fill(world);
        }
        let writes = self.random.bool();
        let word = match self.random.u8(..4) {
            0 if writes => csrrw(ZERO, FCSR, A0),
            0 => csrrs(A0, FCSR, ZERO),
            _ if writes => fmv_d_x(register, A0),
            _ => fmv_x_d(A0, register),
        };
        self.note(format!("{word:#x}"));
        world.machine.set(A0, value);
        let activation = self.activation();
        if !world.has_float(activation.domain) {
            world.execute(word);
            world.assert_upcall(Upcall::Fault, self.running, 2, word.into());
            return self.kill(world);
        }
        world.execute(word);
        let registers = activation.registers.get_or_insert([0; 33]);
        let is_control = word & 0x7f == 0x73;
        let place = if is_control { 32 } else { usize::from(register) };
        match writes {
            true => registers[place] = if is_control { value & 0xff } else { value },
            false => {
                let found = world.machine.get(A0);
                let is_gone = found == 0 && !is_preserved(place) && activation.called;
                assert!(found == registers[place] || is_gone, "register {place}");
            }
        }
        assert_ne!(world.status_of_unit(), 0);
    }

    /// It writes all registers.
    fn fill(&mut self, world: &mut World) {
        self.note("fills all".into());
        for register in 0..32 {
            let value = self.random.u64(..);
            world.machine.set(A0, value);
            world.execute(fmv_d_x(register, A0));
            self.activation().registers.as_mut().expect("it uses the unit")
                [usize::from(register)] = value;
        }
    }

    fn call(&mut self, world: &mut World) {
        let domain = self.activation().domain;
        let from = |connection: &&Connection| connection.caller == domain;
        let candidates: Vec<Connection> = self.connections.iter().filter(from).cloned().collect();
        let connection = candidates[self.random.usize(..candidates.len())].clone();
        self.activation().called = true;
        self.note(format!("calls {}", connection.callee));
        // A caller in the kernel domain would call again by itself.
        let waits = self.random.u8(..8) == 0
            && connection.crossing.queue != 0
            && !is_kernel(connection.caller);
        let free = if waits { &[][..] } else { &connection.activations };
        if connection.crossing.queue != 0 {
            world.fill_queue(connection.crossing.queue, free);
        }
        world.call_any(&connection);
        if world.running() == SCHEDULER {
            world.assert_upcall(Upcall::StackWait, self.running, 8, connection.crossing.queue);
            world.fill_queue(connection.crossing.queue, &connection.activations);
            return self.schedule(world);
        }
        if world.running() == connection.callee {
            let starts = world.starts_with_float(connection.callee);
            assert_eq!(world.status_of_unit() != 0, starts);
            let activation = Activation {
                domain: connection.callee,
                registers: starts.then_some([0; 33]),
                orphan: false,
                called: false,
            };
            self.threads[self.running].push(activation);
        } else {
            assert_eq!(world.machine.get(A0) as i64, Error::InvocationOverflow.status());
            self.overflows += 1;
        }
    }

    /// Whether the topmost call was made by or in the kernel domain, whose frames others test.
    fn concerns_kernel(&self) -> bool {
        let thread = &self.threads[self.running];
        thread.iter().rev().take(2).any(|activation| is_kernel(activation.domain))
    }

    fn back(&mut self, world: &mut World) {
        if self.threads[self.running].len() < 2 {
            return;
        }
        let dies = self.random.u8(..6) == 0 && !self.concerns_kernel();
        self.note(format!("returns, its caller has died: {dies}"));
        if dies {
            world.mark_dead(world.machine.csr.sscratch);
        }
        self.pop(dies);
        world.reply(0, 7);
        self.arrive(world);
        self.finds_its_own(world, !dies);
    }

    /// Back from a call, who has used the unit need not ask for it.
    fn finds_its_own(&mut self, world: &World, is_back: bool) {
        if is_back && self.activation().registers.is_some() {
            assert_ne!(world.status_of_unit(), 0, "{:?}", self.log);
        }
    }

    fn pop(&mut self, caller_dies: bool) {
        let thread = &mut self.threads[self.running];
        let left = thread.pop().expect("an activation");
        if caller_dies || left.orphan {
            self.pop(false);
        }
    }

    /// A thread has left activations: it is in the one below, or at its end.
    fn arrive(&mut self, world: &mut World) {
        if !self.threads[self.running].is_empty() {
            return;
        }
        assert_eq!(
            (world.running(), world.machine.program_counter),
            (SCHEDULER, World::upcall_entry(None)),
            "{:?}",
            self.log
        );
        self.go_on_with_another(world);
    }

    /// In the scheduler for a fault: the domain that ran is dead, and the thread leaves it.
    fn kill(&mut self, world: &mut World) {
        self.note("is killed".into());
        world.mark_dead(world.machine.csr.sscratch);
        self.pop(false);
        world.reply(0, 0);
        self.arrive(world);
    }

    fn fault(&mut self, world: &mut World) {
        if is_kernel(self.activation().domain) {
            return;
        }
        // Illegal whether or not the unit is on, or another fault.
        let word = if self.random.bool() { u32::MAX << 2 | 3 } else { EBREAK };
        self.note("faults".into());
        if let Some(tried) = world.execute(word) {
            assert_eq!(tried.journal.traps.len(), 1);
            // It had the unit for the attempt.
            self.activation().registers.get_or_insert([0; 33]);
        }
        assert_eq!(world.running(), SCHEDULER);
        self.kill(world);
    }

    fn interrupt(&mut self, world: &mut World) {
        self.note("is interrupted".into());
        let running = self.running;
        world.machine.csr.stimecmp = 0;
        world.cross();
        world.machine.csr.stimecmp = u64::MAX;
        self.schedule(world);
        // It goes on as it was, but for the unit.
        if self.running == running && self.activation().registers.is_some() {
            self.check(world);
        }
    }

    fn give_way(&mut self, world: &mut World) {
        let domain = self.activation().domain;
        let Some(connection) = self.yields.iter().find(|one| one.caller == domain).cloned() else {
            return;
        };
        self.note("gives way".into());
        self.activation().called = true;
        world.call_any(&connection);
        if world.running() != SCHEDULER {
            return;
        }
        let running = self.running;
        self.schedule(world);
        self.finds_its_own(world, self.running == running);
    }

    /// In the scheduler: the same thread goes on, or another one.
    fn schedule(&mut self, world: &mut World) {
        if self.random.u8(..3) == 0 {
            world.reply(0, 0);
        } else {
            self.go_on_with_another(world);
        }
    }

    fn go_on_with_another(&mut self, world: &mut World) {
        let others: Vec<usize> =
            (0..THREAD_COUNT).filter(|number| *number != self.running).collect();
        let other = others[self.random.usize(..others.len())];
        let stack = at(SCHEDULER, STACK - 64);
        if self.threads[other].is_empty() || self.random.u8(..12) == 0 {
            let domain = USERS[self.random.usize(..USERS.len())];
            self.note(format!("sets up {other} in {domain}"));
            let (entry, top, stub) = (at(domain, ENTRY), at(domain, STACK), at(domain, STUB));
            let arguments = [other as u64, domain as u64, entry, top, 0, stub, 0, 0];
            world.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
            assert_eq!(world.machine.get(A0), 0);
            self.threads[other] =
                vec![Activation { domain, registers: None, orphan: false, called: false }];
            let kernel_stack = thread_block(other).wrapping_add_signed(FIELD_KERNEL_STACK);
            world.set_word(kernel_stack, cairn_abi::address::kernel_stack(other));
        }
        self.note(format!("{other} goes on"));
        world.call(PORTAL_SWITCH as u64, stack, [0, 0, other as u64, 0, 0, 0, 0, 0]);
        self.running = other;
    }

    /// One thing that happens.
    fn step(&mut self, world: &mut World) {
        match self.random.u8(..16) {
            0..=6 if !is_kernel(self.activation().domain) => self.compute(world),
            7..=9 => self.call(world),
            10 | 11 => self.back(world),
            12 => self.fault(world),
            13 => self.interrupt(world),
            _ => self.give_way(world),
        }
        self.check(world);
    }

    pub fn run(&mut self, world: &mut World, steps: usize) {
        for _ in 0..steps {
            self.step(world);
        }
    }
}

#[test]
fn every_activation_has_its_own_registers() {
    let mut overflows = 0;
    for float in [&USERS[..], &[CLIENT, SERVER], &[SERVER, BACKEND], &[BACKEND]] {
        for seed in 0..24 {
            let (mut world, mut model) = prepared(float, 300 + seed);
            model.run(&mut world, 300);
            overflows += model.overflows;
        }
    }
    for start in [&USERS[..], &[SERVER]] {
        for seed in 0..24 {
            let (mut world, mut model) = prepared_from_start(&USERS, start, 400 + seed);
            model.run(&mut world, 300);
            overflows += model.overflows;
        }
    }
    assert!(overflows > 20, "{overflows} calls were too many");
}
