//! Portals of limited grants: they let in as many calls as there are left, as long as there is time.

use crate::mutation::{noticed, without};
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::ACTIVATIONS;
use cairn_abi::grant::{GRANTS_MAXIMUM, LIMIT_UNTIL, LIMIT_USES, UNLIMITED, limits};
use cairn_abi::literal::LITERALS_SIZE;
use cairn_emulator::encode;
use cairn_emulator::register::*;
use cairn_portal::{GenerateError, Ground, Specification, generate};

/// Those that are made at run time, into domains and into the kernel domain, out of both.
const KINDS: [(&str, usize); 10] = [
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
];

impl Connection {
    /// Address of the word that counts its calls, if it is limited.
    pub fn uses(&self) -> Option<u64> {
        match self.crossing.ground {
            Ground::Limits(words) => Some(words.wrapping_add_signed(LIMIT_USES)),
            _ => None,
        }
    }

    fn until(&self) -> u64 {
        self.crossing.ground.address().wrapping_add_signed(LIMIT_UNTIL)
    }
}

impl World {
    /// Generates and installs a call portal of a limited grant.
    fn connect_limited(&mut self, kind: &str, caller: usize, grant: usize) -> Connection {
        let specification = Specification::parse(kind).unwrap();
        let callee = World::callee(kind, SERVER);
        let (mut crossing, activations) = self.crossing(&specification, caller, callee, 2);
        crossing.ground = Ground::Limits(limits(grant));
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
        self.assert_refused(connection, &crossed, error);
        if let Some(first) = connection.activations.first() {
            assert_eq!(self.word(queue), first.descriptor, "the stack is free again");
            self.assert_windows_closed(first);
        }
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
    for (kind, caller) in [("npcw", CLIENT), ("kpci", CLIENT), ("nkcwr", KERNEL_SERVER)] {
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
            .position(|at| word(&world, at) == encode::ld(T2, T1, -64))
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

/// A callee without stacks of its own has something else in the place of the words' address.
#[test]
fn only_calls_that_take_a_stack_are_limited() {
    let mut world = World::new(224);
    for kind in ["smci", "spci", "rpci", "spcr"] {
        let specification = Specification::parse(kind).unwrap();
        let callee = World::callee(kind, SERVER);
        let (mut crossing, _) = world.crossing(&specification, CLIENT, callee, 1);
        crossing.ground = Ground::Limits(limits(0));
        let made = generate::pair(&specification, &crossing, &mut [0; 1024], 0x10000);
        assert_eq!(made, Err(GenerateError::DoesNotFit), "{kind}");
    }
}
