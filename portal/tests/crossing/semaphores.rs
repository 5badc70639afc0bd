//! Hybrid portals: P and V on a semaphore's word, and the scheduler when that is not enough.

use crate::world::*;
use cairn_abi::semaphore::{SEMAPHORE_SIZE, semaphore_word};
use cairn_emulator::register::*;
use cairn_portal::{SemaphoreOperation, Specification, generate};

impl World {
    /// A semaphore with this value and a portal on it; the address of its word.
    pub fn connect_semaphore(
        &mut self,
        operation: SemaphoreOperation,
        caller: usize,
        value: i64,
    ) -> (Connection, u64) {
        let specification = Specification::parse("rpcii").unwrap();
        let (mut crossing, activations) = self.crossing(&specification, caller, SCHEDULER, 0);
        let semaphore = self.add_semaphore(value);
        crossing.constant = semaphore as u64;
        crossing.source = semaphore_word(semaphore);
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
            world.assert_at(CLIENT, RESUME);
            assert_eq!(world.machine.get(A0), 0);
            assert_eq!(world.word(word) as i64, value + step);
            for register in (1..32).filter(|register| *register != A0) {
                let expected = match register {
                    T1 | T2 => 0,
                    _ => crossed.before[usize::from(register)],
                };
                assert_eq!(world.machine.get(register), expected, "{}", name(register));
            }
            crossed.assert_writes(
                (crossed.frame_before, crossed.frame_before),
                &[(word, SEMAPHORE_SIZE)],
            );
            assert_eq!(world.machine.csr.sscratch, crossed.frame_before);
        }
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
