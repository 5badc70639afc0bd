//! Portals of limited grants: they let in as many calls as there are left, as long as there is time.

use crate::mutation::{noticed, without};
use crate::run::Crossed;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::ACTIVATIONS;
use cairn_abi::grant::{GRANTS_MAXIMUM, LIMIT_UNTIL, LIMIT_USES, UNLIMITED, limits};
use cairn_abi::literal::LITERALS_SIZE;
use cairn_abi::semaphore::{LEVEL_NEVER, NOTED_WORD, level, semaphore_word};
use cairn_emulator::encode;
use cairn_emulator::register::*;
use cairn_portal::{GenerateError, SemaphoreOperation, Specification, generate};

/// Those that are made at run time, into domains and into the kernel domain, out of both, and of who runs to completion.
const KINDS: [(&str, usize); 14] = [
    ("npci", CLIENT),
    ("npcrw", CLIENT),
    ("npc4", CLIENT),
    ("npcwwwi", CLIENT),
    ("kpci", CLIENT),
    ("kpcrw", CLIENT),
    ("nkcr", KERNEL_SERVER),
    ("nkcwr", KERNEL_SERVER),
    ("kkcia", KERNEL_SERVER),
    ("kkcw", KERNEL_SERVER),
    ("rpci", CLIENT),
    ("rpctai2", CLIENT),
    ("rkci", KERNEL_SERVER),
    ("rkcta", KERNEL_SERVER),
];

impl Connection {
    /// Address of the word that counts its calls, if it is limited.
    pub fn uses(&self) -> Option<u64> {
        self.crossing.is_limited().then(|| self.crossing.grant.wrapping_add_signed(LIMIT_USES))
    }

    fn until(&self) -> u64 {
        self.crossing.grant.wrapping_add_signed(LIMIT_UNTIL)
    }
}

impl World {
    /// Generates and installs a call portal of a limited grant.
    fn connect_limited(&mut self, kind: &str, caller: usize, grant: usize) -> Connection {
        let specification = Specification::parse(kind).unwrap();
        let callee = World::callee(kind, SERVER);
        let (mut crossing, activations) = self.crossing(&specification, caller, callee, 2);
        crossing.grant = limits(grant);
        let connection = self.connect_by(specification, (caller, callee), (crossing, activations));
        self.set_limits(&connection, UNLIMITED, UNLIMITED);
        connection
    }

    fn set_limits(&mut self, connection: &Connection, uses: u64, until: u64) {
        self.set_word(connection.uses().unwrap(), uses);
        self.set_word(connection.until(), until);
    }

    /// Calls, and gets this error: nothing happened.
    fn refused(&mut self, connection: &Connection, error: Error) {
        let (arguments, _) = self.arguments(connection);
        let stack = self.usual_stack(connection);
        let queue = connection.crossing.queue;
        let crossed = self.call(connection.index, stack, arguments);
        if connection.callee == SCHEDULER {
            return self.assert_refused_first(connection, &crossed, error);
        }
        self.assert_refused(connection, &crossed, error);
        if let Some(first) = connection.activations.first() {
            assert_eq!(self.word(queue), first.descriptor, "the stack is free again");
            self.assert_windows_closed(first);
        }
    }

    /// Before anything was pushed, or is known of a semaphore.
    fn assert_refused_first(&self, connection: &Connection, crossed: &Crossed, error: Error) {
        self.assert_at(connection.caller, RESUME);
        assert_eq!(self.machine.get(A0) as i64, error.status());
        for register in (1..32).filter(|register| *register != A0) {
            let expected = match register {
                // Nothing is hidden from who may read all.
                T1..=T2 | T3..=T5 if is_kernel(connection.caller) => continue,
                T1..=T2 | T3..=T5 => 0,
                _ => crossed.left(register),
            };
            assert_eq!(self.machine.get(register), expected, "{}", name(register));
        }
        crossed.assert_writes((crossed.frame_before, crossed.frame_before), &[]);
        assert_eq!(self.machine.csr.sscratch, crossed.frame_before);
    }

    fn used(&mut self, connection: &Connection) {
        let (buffers, before) = self.checked_call(connection);
        self.checked_return(connection, buffers, &before);
    }
}

/// A world in which the caller runs, and the portal.
fn limited(kind: &str, caller: usize, seed: u64) -> (World, Connection) {
    let mut world = World::new(seed);
    let connection = world.connect_limited(kind, caller, 3);
    if caller != CLIENT {
        let outer = world.connect("kpi", CLIENT, caller);
        world.call_any(&outer);
    }
    (world, connection)
}

/// All that can become of a call because of limits.
fn everything(world: &mut World, connection: &Connection) {
    let uses = connection.uses().unwrap();
    for left in [1, 2, 5] {
        world.set_limits(connection, left, UNLIMITED);
        (0..left).for_each(|_| world.used(connection));
        for _ in 0..3 {
            world.refused(connection, Error::Exhausted);
            assert_eq!(world.word(uses), 0);
        }
    }
    // The time is over, at that tick and behind it; before it is not.
    for until in [0, 1, world.machine.csr.time] {
        world.set_limits(connection, 7, until);
        world.refused(connection, Error::TimedOut);
        assert_eq!(world.word(uses), 7, "nothing is used of it");
    }
    world.set_limits(connection, 1, world.machine.csr.time + 10_000);
    world.used(connection);
    // Without a limit the count of it is never reached.
    world.set_limits(connection, UNLIMITED, UNLIMITED);
    (0..3).for_each(|_| world.used(connection));
}

#[test]
fn a_limited_grant_lets_in_as_many_calls_as_it_says() {
    for (number, (kind, caller)) in KINDS.into_iter().enumerate() {
        println!("{kind}");
        let (mut world, connection) = limited(kind, caller, 200 + number as u64);
        everything(&mut world, &connection);
    }
}

/// A call that waits for a stack is executed again, and is one call.
#[test]
fn who_waits_for_a_stack_uses_nothing() {
    for (kind, caller) in [("npcrw", CLIENT), ("nkcr", KERNEL_SERVER)] {
        let (mut world, connection) = limited(kind, caller, 220);
        let uses = connection.uses().unwrap();
        world.set_limits(&connection, 1, UNLIMITED);
        for _ in 0..3 {
            let (arguments, stack) = ([0; 8], world.usual_stack(&connection));
            world.fill_queue(connection.crossing.queue, &[]);
            world.call(connection.index, stack, arguments);
            world.assert_upcall(Upcall::StackWait, THREAD, 8, connection.crossing.queue);
            assert_eq!(world.word(uses), 1);
            if caller == CLIENT {
                world.reply(0, 0);
                world.assert_at(CLIENT, CALL);
                continue;
            }
            // It calls again, out of the wait.
            world.fill_queue(connection.crossing.queue, &connection.activations);
            world.reply(0, 0);
            world.assert_at(SERVER, ENTRY);
            assert_eq!(world.word(uses), 0);
            world.reply(0, 0);
            world.set_word(uses, 1);
        }
        world.fill_queue(connection.crossing.queue, &connection.activations);
        let (arguments, _) = world.arguments(&connection);
        let stack = world.usual_stack(&connection);
        world.call(connection.index, stack, arguments);
        world.assert_at(SERVER, ENTRY);
        assert_eq!(world.word(uses), 0);
        world.reply(0, 0);
        world.call(connection.index, stack, arguments);
        assert_eq!(world.machine.get(A0) as i64, Error::Exhausted.status());
    }
}

/// A call with a bad buffer has got its stack: it counts, and what the limits refuse opened nothing.
#[test]
fn a_bad_buffer_is_a_call() {
    let (mut world, connection) = limited("npcw", CLIENT, 221);
    let uses = connection.uses().unwrap();
    world.set_limits(&connection, 3, UNLIMITED);
    let stack = world.usual_stack(&connection);
    let crossed = world.call(connection.index, stack, [0, at(CLIENT, NOTHING), 8, 0, 0, 0, 0, 0]);
    assert_eq!(world.machine.get(A0) as i64, Error::BadPointer.status());
    world.check_caller(&connection, &crossed.before, &crossed.before);
    assert_eq!(world.word(uses), 2);
}

/// What other grants have, and what lies around their words, is as it was.
#[test]
fn grants_have_limits_of_their_own() {
    let mut world = World::new(222);
    let [one, other] = [3, 4].map(|grant| world.connect_limited("npci", CLIENT, grant));
    world.set_limits(&one, 1, UNLIMITED);
    world.set_limits(&other, 2, UNLIMITED);
    world.used(&one);
    world.refused(&one, Error::Exhausted);
    world.used(&other);
    world.used(&other);
    world.refused(&other, Error::Exhausted);
    let all = limits(0)..limits(GRANTS_MAXIMUM);
    assert!(all.start > ACTIVATIONS && cairn_abi::domain::activation(0) >= all.end);
}

#[test]
fn every_instruction_of_the_limits_matters() {
    let kinds = [("npcw", CLIENT), ("kpci", CLIENT), ("nkcwr", KERNEL_SERVER), ("rpci", CLIENT)];
    for (kind, caller) in kinds {
        let (world, connection) = limited(kind, caller, 223);
        let scenario = |world: &mut World| everything(world, &connection);
        scenario(&mut world.clone());
        let plain = {
            let mut world = World::new(223);
            world.connect(kind, caller, World::callee(kind, SERVER)).code
        };
        let code = connection.code;
        let call = code.call..code.back - LITERALS_SIZE as u64;
        // Where the portal without limits is the same, others look.
        let first = call
            .clone()
            .step_by(4)
            .position(|at| {
                word(&world, at) == encode::ld(T2, T1, connection.crossing.limits_literal() as i32)
            })
            .unwrap() as u64;
        assert!(call.end - call.start > plain.back - plain.call - LITERALS_SIZE as u64);
        for address in (call.start + first * 4..).step_by(4).take(10) {
            assert!(
                noticed(&without(&world, address), scenario),
                "{kind}: nobody notices the absence of the instruction {}",
                (address - call.start) / 4 - first
            );
        }
    }
}

fn word(world: &World, address: u64) -> u32 {
    (world.word(address & !7) >> (8 * (address & 7))) as u32
}

/// Neither who shares its stack, nor who runs to completion itself, is granted anything.
#[test]
fn who_cannot_be_granted_anything_has_no_limits() {
    let mut world = World::new(224);
    for kind in ["smci", "spci", "rdci", "spcr"] {
        let specification = Specification::parse(kind).unwrap();
        let callee = World::callee(kind, SERVER);
        let (mut crossing, _) = world.crossing(&specification, CLIENT, callee, 1);
        crossing.grant = limits(0);
        let made = generate::pair(&specification, &crossing, &mut [0; 1024], 0x10000);
        assert_eq!(made, Err(GenerateError::DoesNotFit), "{kind}");
    }
}

/// What P or V of a limited grant does: by itself, or by a call of the scheduler.
struct Taken {
    operation: SemaphoreOperation,
    /// The count, before and after.
    count: (i64, i64),
    /// Of a semaphore for which somebody waits that can be noted.
    level: i64,
    calls: bool,
}

const TAKEN: [Taken; 5] = [
    Taken { operation: SemaphoreOperation::P, count: (2, 1), level: LEVEL_NEVER, calls: false },
    Taken { operation: SemaphoreOperation::P, count: (0, 0), level: LEVEL_NEVER, calls: true },
    Taken { operation: SemaphoreOperation::V, count: (0, 1), level: LEVEL_NEVER, calls: false },
    Taken { operation: SemaphoreOperation::V, count: (-1, 0), level: level(5), calls: false },
    Taken { operation: SemaphoreOperation::V, count: (-2, -2), level: LEVEL_NEVER, calls: true },
];

fn limited_semaphore(taken: &Taken, caller: usize) -> (World, Connection) {
    let mut world = World::new(225);
    let limited = limits(7);
    let (connection, _) =
        world.connect_limited_semaphore(taken.operation, caller, taken.count.0, limited);
    world.set_semaphore_level(&connection, taken.level);
    if caller != CLIENT {
        let outer = world.connect("kpi", CLIENT, caller);
        world.call_any(&outer);
    }
    (world, connection)
}

/// As often as it may, with and without a call, then never more, whatever the count.
fn semaphore_everything(world: &mut World, connection: &Connection, taken: &Taken) {
    let uses = connection.uses().unwrap();
    let count = semaphore_word(connection.crossing.constant as usize);
    let refused = |world: &mut World, error| {
        let crossed = world.call_any(connection);
        world.assert_refused_first(connection, &crossed, error);
        assert_eq!(world.word(count) as i64, taken.count.0);
    };
    for left in [1, 2] {
        world.set_limits(connection, left, world.machine.csr.time + 100_000);
        for used in 1..=left {
            world.set_word(count, taken.count.0 as u64);
            world.set_word(NOTED_WORD, level(0) as u64);
            let crossed = world.call_any(connection);
            assert_eq!(world.word(uses), left - used, "it counts once");
            if taken.calls {
                world.assert_at(SCHEDULER, ENTRY);
                world.reply(0, 0);
            }
            world.assert_at(connection.caller, RESUME);
            assert_eq!(world.machine.get(A0), 0);
            for register in (1..32).filter(|register| *register != A0 && !taken.calls) {
                let now = world.machine.get(register);
                let before = crossed.left(register);
                let is_used = matches!(register, T1..=T2 | T3..=T5);
                let hidden = is_used && (now == 0 || is_kernel(connection.caller));
                assert!(now == before || hidden, "{}", name(register));
            }
            assert_eq!(world.word(count) as i64, taken.count.1);
            assert_eq!(world.machine.csr.sscratch, crossed.frame_before);
        }
        world.set_word(count, taken.count.0 as u64);
        refused(world, Error::Exhausted);
    }
    world.set_limits(connection, 3, world.machine.csr.time);
    refused(world, Error::TimedOut);
    assert_eq!(world.word(uses), 3);
}

#[test]
fn p_and_v_count_once_with_and_without_a_call() {
    for taken in &TAKEN {
        for caller in [CLIENT, KERNEL_SERVER] {
            let (mut world, connection) = limited_semaphore(taken, caller);
            semaphore_everything(&mut world, &connection, taken);
        }
    }
}

#[test]
fn every_instruction_of_limited_p_and_v_matters() {
    for taken in &TAKEN {
        let (world, connection) = limited_semaphore(taken, CLIENT);
        let scenario = |world: &mut World| semaphore_everything(world, &connection, taken);
        // The limits, and what is answered: what lies between them other tests look at.
        for address in (connection.code.call..).step_by(4).take(10) {
            assert!(noticed(&without(&world, address), scenario), "{:?}", taken.operation);
        }
    }
}
