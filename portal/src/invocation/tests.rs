//! Invocation stacks as portal code leaves them.

use super::*;
use cairn_abi::address::THREADS;
use cairn_abi::domain::Tables;
use cairn_abi::process::{PROCESS_FRAME, SERVER_FRAME};
use std::collections::HashMap;

const TRAP_RETURN: u64 = NUCLEUS + 0x400;
const LAYOUT: (u64, Tables) = (TRAP_RETURN, Tables::LEAST);
const TRAP_DEAD: u64 = NUCLEUS + 0x500;

#[derive(Default)]
struct World(HashMap<u64, u64>);

impl Words for World {
    fn load(&self, address: u64) -> Option<u64> {
        let known = (THREADS..THREADS + 0x1000).contains(&address)
            || (PORTAL_CODE..THREADS).contains(&address);
        known.then(|| self.0.get(&address).copied().unwrap_or(0))
    }
}

impl World {
    fn set(&mut self, base: u64, offset: i64, word: u64) {
        self.0.insert(base.wrapping_add_signed(offset), word);
    }

    /// A return portal and its dead entry.
    fn portal(&mut self, at: u64, size: u16, caller: u16, callee: u16) -> (u64, u64) {
        let (caller, callee) = (DomainId(caller), DomainId(callee));
        self.of_frame(at, CallFrame { size, of_carrier: false, caller, callee })
    }

    fn of_frame(&mut self, at: u64, frame: CallFrame) -> (u64, u64) {
        let (back, dead) = (PORTAL_CODE + at, PORTAL_CODE + at + 0x200);
        self.set(back, LITERAL_MARK, MARK_RETURN);
        self.set(back, LITERAL_FRAME, frame.word());
        self.set(dead, LITERAL_MARK, MARK_DEAD);
        self.set(dead, LITERAL_RETURN, back);
        (back, dead)
    }
}

/// A thread that began in 1 called 2, which called 3, where it was interrupted.
fn three() -> (World, [u64; 4], [(u64, u64); 2]) {
    let mut world = World::default();
    let first = world.portal(0x1000, 0x40, 1, 2);
    let second = world.portal(0x2000, 0xb0, 2, 3);
    let base = THREADS.wrapping_add_signed(base_frame(0));
    let headers = [base, base + 0x40, base + 0xf0, base + 0xf0 + TRAP_FRAME as u64];
    world.set(THREADS, FIELD_FRAME, headers[3]);
    world.set(THREADS, FIELD_DOMAIN, 1);
    world.set(headers[1], FRAME_RETURN, first.0);
    world.set(headers[2], FRAME_RETURN, second.0);
    world.set(headers[2], FRAME_TABLE, Tables::LEAST.portal_table(DomainId(3)));
    world.set(headers[3], FRAME_RETURN, TRAP_RETURN);
    (world, headers, [first, second])
}

fn walk(world: &World) -> Vec<(u64, Kind, u64, bool)> {
    let frames = Walk::new(world, LAYOUT, 0);
    frames.map(|frame| (frame.header, frame.kind, frame.into.into(), frame.dead)).collect()
}

#[test]
fn finds_every_frame_from_the_top() {
    let (world, headers, _) = three();
    let expected = [
        (headers[3], Kind::Trap, 3, false),
        (headers[2], Kind::Call { callee: DomainId(3) }, 2, false),
        (headers[1], Kind::Call { callee: DomainId(2) }, 1, false),
        (headers[0], Kind::Base, 1, false),
    ];
    assert_eq!(walk(&world), expected);
}

#[test]
fn passes_frames_that_were_unwound() {
    let (mut world, headers, [_, second]) = three();
    world.set(headers[2], FRAME_RETURN, second.1);
    world.set(headers[3], FRAME_RETURN, TRAP_DEAD);
    let expected = [
        (headers[3], Kind::Trap, 3, true),
        (headers[2], Kind::Call { callee: DomainId(3) }, 2, true),
        (headers[1], Kind::Call { callee: DomainId(2) }, 1, false),
        (headers[0], Kind::Base, 1, false),
    ];
    assert_eq!(walk(&world), expected);
}

#[test]
fn ends_where_no_frame_is() {
    let (mut world, headers, _) = three();
    world.set(headers[1], FRAME_RETURN, PORTAL_CODE + 0x3000);
    assert_eq!(walk(&world).len(), 2);
    world.set(THREADS, FIELD_FRAME, 0);
    assert_eq!(walk(&world).len(), 0);
    world.set(THREADS, FIELD_FRAME, THREADS + 0x8000);
    assert_eq!(walk(&world).len(), 0);
}

#[test]
fn tells_a_limited_call_its_stamp() {
    let (mut world, headers, [first, _]) = three();
    world.set(first.0, LITERAL_LONGEST, 500);
    world.set(headers[0], FRAME_HEADER, 12345);
    let walk = || Walk::new(&world, LAYOUT, 0);
    let limits: Vec<_> = walk().with_limits().filter_map(|frame| frame.limit).collect();
    assert!(walk().all(|frame| frame.limit.is_none()));
    assert_eq!(limits, [Limit { longest: Some(500), longest_call: None, stamp: 12345 }]);
}

#[test]
fn names_who_calls_and_who_is_called() {
    let (world, ..) = three();
    let named = |domain| Walk::new(&world, LAYOUT, 0).filter(|frame| frame.names(domain)).count();
    assert_eq!([1, 2, 3, 4].map(|domain| named(DomainId(domain))), [2, 2, 2, 0]);
}

#[test]
fn who_only_leaves_a_domain_is_not_held_there() {
    let (mut world, headers, [_, second]) = three();
    let held = |world: &World, domain| hold(Walk::new(world, LAYOUT, 0), domain);
    assert!([1, 2, 3].iter().all(|domain| held(&world, DomainId(*domain))));
    assert!(!held(&world, DomainId(4)));
    world.set(headers[3], FRAME_RETURN, TRAP_DEAD);
    assert!(!held(&world, DomainId(3)));
    assert!(held(&world, DomainId(2)));
    // It comes back to 2, which is dead as well: 2 may still have a window in 3.
    world.set(headers[2], FRAME_RETURN, second.1);
    assert!(held(&world, DomainId(2)));
    // 3 called itself, or another that called it back.
    let again = world.portal(0x3000, 0x40, 3, 3);
    world.set(headers[2], FRAME_RETURN, again.0);
    assert!(held(&world, DomainId(3)));
}

/// A server of processes, 1, began its carrier, which was interrupted in a process or, `beyond`, in 2, which the server called.
fn carrier(is_beyond: bool) -> World {
    let mut world = World::default();
    let server = DomainId(1);
    let mut frame = |at, size| {
        let size = size as u16;
        world.of_frame(at, CallFrame { size, of_carrier: true, caller: server, callee: server }).0
    };
    let [of_process, of_server] = [frame(0x1000, PROCESS_FRAME), frame(0x2000, SERVER_FRAME)];
    let called = world.portal(0x3000, 0x40, 1, 2).0;
    let process = THREADS.wrapping_add_signed(base_frame(0) + PROCESS_FRAME);
    world.set(THREADS, FIELD_DOMAIN, 1);
    world.set(process, FRAME_RETURN, of_process);
    world.set(process, FRAME_TABLE, PROCESSES + 0x3000);
    let mut top = process;
    if is_beyond {
        let own = process.wrapping_add_signed(SERVER_FRAME);
        world.set(own, FRAME_RETURN, of_server);
        top = own + 0x40;
        world.set(top, FRAME_RETURN, called);
        world.set(top, FRAME_TABLE, Tables::LEAST.portal_table(DomainId(2)));
    }
    top = top.wrapping_add_signed(TRAP_FRAME);
    world.set(top, FRAME_RETURN, TRAP_RETURN);
    world.set(THREADS, FIELD_FRAME, top);
    world
}

#[test]
fn who_carries_processes_is_at_home_with_them() {
    let kinds = |world: &World| walk(world).into_iter().map(|(_, kind, into, _)| (kind, into));
    let in_process = [(Kind::Trap, 1), (Kind::Carrier, 1), (Kind::Base, 1)];
    assert!(kinds(&carrier(false)).eq(in_process));
    let beyond = [
        (Kind::Trap, 2),
        (Kind::Call { callee: DomainId(2) }, 1),
        (Kind::Carrier, 1),
        (Kind::Carrier, 1),
        (Kind::Base, 1),
    ];
    assert!(kinds(&carrier(true)).eq(beyond));
}
