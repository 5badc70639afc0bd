//! Hybrid portals: P and V on a semaphore's word, and the scheduler when that is not enough.

use crate::run::Crossed;
use crate::world::*;
use cairn_abi::semaphore::*;
use cairn_emulator::register::*;
use cairn_portal::Source;
use cairn_portal::{SemaphoreOperation, Specification, generate};

impl World {
    /// Index of a new semaphore with this value.
    pub fn add_semaphore(&mut self, value: i64) -> usize {
        self.semaphores += 1;
        let index = self.semaphores;
        self.set_word(semaphore_word(index), value as u64);
        index
    }

    /// A semaphore with this count and a portal on it; the address of the count. Nothing is to be noted.
    pub fn connect_semaphore(
        &mut self,
        operation: SemaphoreOperation,
        caller: usize,
        value: i64,
    ) -> (Connection, u64) {
        self.connect_limited_semaphore(operation, caller, value, 0)
    }

    /// The same by a limited grant with these words, if they are not zero.
    pub fn connect_limited_semaphore(
        &mut self,
        operation: SemaphoreOperation,
        caller: usize,
        value: i64,
        limits: u64,
    ) -> (Connection, u64) {
        let kind = if is_kernel(caller) { "rkcii" } else { "rpcii" };
        let specification = Specification::parse(kind).unwrap();
        let (mut crossing, activations) = self.crossing(&specification, caller, SCHEDULER, 0);
        let semaphore = self.add_semaphore(value);
        crossing.constant = semaphore as u64;
        crossing.source = Source::Semaphore(semaphore);
        crossing.grant = limits;
        self.set_word(NOTED_WORD, level(256) as u64);
        self.set_level(semaphore, LEVEL_NEVER);
        let code = self.generate(|words, address| {
            generate::semaphore(operation, &specification, &crossing, words, address)
        });
        self.install(caller, crossing.index, code.call);
        let index = crossing.index;
        let connection = Connection {
            specification,
            caller,
            callee: SCHEDULER,
            index,
            crossing,
            code,
            activations,
        };
        (connection, semaphore_word(semaphore))
    }

    /// A V for one waiter of this level, while wake-ups are noted from this one on.
    pub fn connect_noted(&mut self, waits: i64, noted: i64) -> (Connection, u64) {
        let (connection, word) = self.connect_semaphore(SemaphoreOperation::V, CLIENT, -1);
        self.set_level(connection.crossing.constant as usize, waits);
        self.set_word(NOTED_WORD, noted as u64);
        (connection, word)
    }

    pub fn set_semaphore_level(&mut self, connection: &Connection, level: i64) {
        self.set_level(connection.crossing.constant as usize, level);
    }

    fn set_level(&mut self, semaphore: usize, level: i64) {
        let word = semaphore_word(semaphore).wrapping_add_signed(SEMAPHORE_LEVEL);
        self.set_word(word, level as u64);
    }

    /// After a short way that used these registers: the reply is success, all other registers are the caller's.
    fn assert_short(&self, crossed: &Crossed, used: &[u8], writes: &[(u64, u64)]) {
        self.assert_at(CLIENT, RESUME);
        for register in 1..32 {
            let expected = match register {
                A0 => 0,
                _ if used.contains(&register) => 0,
                _ => crossed.left(register),
            };
            assert_eq!(self.machine.get(register), expected, "{}", name(register));
        }
        crossed.assert_writes((crossed.frame_before, crossed.frame_before), writes);
        assert_eq!(self.machine.csr.sscratch, crossed.frame_before);
    }
}

#[test]
fn the_fast_path() {
    for (operation, values, step) in [
        (SemaphoreOperation::P, [1, 2, i64::MAX], -1),
        (SemaphoreOperation::V, [0, 1, i64::MAX - 1], 1),
    ] {
        for value in values {
            let mut world = World::new(70);
            let (connection, word) = world.connect_semaphore(operation, CLIENT, value);
            let crossed = world.call_any(&connection);
            assert_eq!(world.word(word) as i64, value + step);
            world.assert_short(&crossed, &[T1, T2], &[(word, 8)]);
        }
    }
}

/// Who waits alone and would not go before the caller is noted.
#[test]
fn a_wake_up_is_noted() {
    for (waits, runs) in [(0, 0), (5, 5), (255, 255), (255, 0), (6, 5)] {
        let mut world = World::new(73);
        let (connection, word) = world.connect_noted(level(waits), level(runs));
        let semaphore = connection.crossing.constant;
        let crossed = world.call_any(&connection);
        assert_eq!((world.word(word), world.word(NOTED_WORD)), (0, semaphore));
        let writes = [(word, 8), (NOTED_WORD, 8)];
        world.assert_short(&crossed, &[T1, T2, T3, T4, T5], &writes);
        // It is like a semaphore for which nobody waits, and another wake-up goes to the scheduler.
        world.call_any(&connection);
        assert_eq!((world.word(word), world.word(NOTED_WORD)), (1, semaphore));
        world.set_word(word, -1i64 as u64);
        world.round_trip(&connection);
        assert_eq!(world.word(word) as i64, -1);
    }
}

/// Who goes before the caller, or would have to share with it, is the scheduler's to wake; so is the second one.
#[test]
fn a_wake_up_is_not_noted() {
    let noted = [0, 1, SEMAPHORES_MAXIMUM as i64 - 1];
    let never = [level(256), level(0), level(255), noted[0], noted[1], noted[2]];
    let nobody = [level(0), level(255), LEVEL_NEVER];
    let runs = [(level(4), level(5)), (level(0), level(255)), (level(255), level(255) + 1)];
    for (waits, word) in (never.map(|word| (LEVEL_NEVER, word)).into_iter())
        .chain(nobody.map(|waits| (waits, level(256))))
        .chain(noted.map(|word| (level(255), word)))
        .chain(runs)
    {
        let mut world = World::new(74);
        let (connection, count) = world.connect_noted(waits, word);
        world.round_trip(&connection);
        assert_eq!((world.word(count) as i64, world.word(NOTED_WORD) as i64), (-1, word));
    }
}

#[test]
fn the_slow_path() {
    for (operation, values) in [
        (SemaphoreOperation::P, [0, -1, -2, i64::MIN]),
        (SemaphoreOperation::V, [-1, -2, -100, i64::MIN]),
    ] {
        for value in values {
            let mut world = World::new(71);
            let (connection, word) = world.connect_semaphore(operation, CLIENT, value);
            // The scheduler finds the semaphore's number and the caller's arguments.
            world.round_trip(&connection);
            assert_eq!(world.word(word) as i64, value, "the scheduler's to change");
        }
    }
}

/// A released activation that someone waits for raises the software interrupt, which is taken
/// right after the return.
#[test]
fn a_return_wakes_who_waits_for_the_activation() {
    for (kind, waiters) in [("nmi", 0), ("nmi", 1), ("npi", 0), ("npi", 3), ("smr", 1), ("spw", 1)]
    {
        let mut world = World::new(72);
        let connection = world.connect(kind, CLIENT, SERVER);
        world.set_word(connection.crossing.waiters, waiters);
        let (buffers, before) = world.checked_call(&connection);
        assert!(!world.machine.csr.software_pending);
        world.checked_return(&connection, buffers, &before);
        assert_eq!(world.machine.csr.software_pending, waiters != 0, "{kind}, {waiters} wait");
        let crossed = world.cross();
        assert_eq!(crossed.journal.traps.len(), usize::from(waiters != 0));
        assert_eq!(world.running(), if waiters == 0 { CLIENT } else { SCHEDULER });
    }
}
