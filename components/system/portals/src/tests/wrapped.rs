//! Interposers: what is wrapped, whatever else becomes of it, and that unwrapped all is as it was.

mod grants;

use super::*;
use crate::blocks::NO_INSTANCE;
use crate::wraps::Rule;
use cairn_portal::literal::*;

/// Who stands between client and server.
pub const BETWEEN: InstanceId = OTHER;
pub const ENTRANCE: u64 = 99;
pub const RULE: (InstanceId, InstanceId, InstanceId) = (CLIENT, SERVER, BETWEEN);
/// All clients of the server.
pub const ALL: (InstanceId, InstanceId, InstanceId) = (NO_INSTANCE, SERVER, BETWEEN);

/// A world in which one has registered what it takes to stand between others.
fn with_interposer() -> World {
    interposer_on(Fake::new())
}

pub fn interposer_on(machine: Fake) -> World {
    let mut world = world_on(machine);
    world.register_entrance((BETWEEN, "other.interposer"), ENTRANCE);
    world
}

impl World {
    /// An instance says where it is entered by what goes through it.
    pub fn register_entrance(&mut self, (of, name): (InstanceId, &str), at: u64) {
        let mut methods = [0; 32];
        methods[8..17].copy_from_slice(b"ciiiiiii4");
        methods[24..].copy_from_slice(&entry(of, at).to_le_bytes());
        let World { machine, manager } = self;
        manager.register(machine, client(of), name, "", &methods).unwrap();
    }

    pub fn wrap(
        &mut self,
        rule: (InstanceId, InstanceId, InstanceId),
        falls_back: bool,
    ) -> Result<u64, Error> {
        let World { machine, manager } = self;
        let wanted = Rule { falls_back, ..Rule::between(rule.0, rule.1, rule.2) };
        let rule = manager.add_rule(machine, wanted)?;
        let clients = (1..10).map(InstanceId);
        clients.map(|client| manager.wrap_client(machine, &rule, client)).sum()
    }

    pub fn unwrap(&mut self, rule: (InstanceId, InstanceId, InstanceId)) -> Result<u64, Error> {
        let World { machine, manager } = self;
        let rule = Rule::between(rule.0, rule.1, rule.2);
        let mut portals = 0;
        loop {
            match manager.unwrap_step(machine, &rule)? {
                0 => return Ok(portals),
                more => portals += more,
            }
        }
    }

    fn open(&mut self) -> usize {
        let World { machine, manager } = self;
        manager.open_export(machine, client(CLIENT), SERVICE, ANY).unwrap() as usize
    }

    /// Code at an index of the client's.
    fn code(&self, index: usize) -> u64 {
        self.machine.entry(domain_of(CLIENT), index)
    }

    /// What a client's index leads to behind so many calls through the interposer.
    fn behind(&self, of: InstanceId, index: usize, depth: usize) -> Meaning {
        let mut meaning = self.machine.meaning(of, index).expect("it leads somewhere");
        for _ in 0..depth {
            let entered = (meaning.server, meaning.entry);
            assert_eq!(entered, (BETWEEN, entry(BETWEEN, ENTRANCE)), "the interposer first");
            assert_eq!(meaning.constant >> 16, index as u64, "the client's index");
            let inner = inner_index(&meaning);
            let code = self.machine.entry(domain_of(BETWEEN), inner);
            let literal =
                |literal: i64| self.machine.words(code.wrapping_add_signed(literal), 2)[0];
            let came = self
                .machine
                .words(self.machine.back(of, index).wrapping_add_signed(LITERAL_QUEUE), 2)[0];
            assert_eq!(literal(LITERAL_BEHALF), came, "only with the client's threads");
            meaning = self.machine.meaning(BETWEEN, inner).expect("it leads on");
        }
        meaning
    }
}

/// The interposer's index in the word with which it is entered.
fn inner_index(meaning: &Meaning) -> usize {
    (meaning.constant & 0xffff) as usize
}

/// That of what a client has at an index.
pub fn inner_of(world: &World, client: InstanceId, index: usize) -> usize {
    inner_index(&world.machine.meaning(client, index).unwrap())
}

fn service(method: u64) -> Meaning {
    Meaning { server: SERVER, entry: entry(SERVER, method), constant: 0 }
}

#[test]
fn unwrapped_all_is_as_it_was() {
    let mut world = with_interposer();
    let import = import_of(SERVER) as usize;
    let first = world.open();
    let before = [import, import + 1, first, first + 1].map(|index| world.code(index));
    let mut free = None;
    for _ in 0..300 {
        assert_eq!(world.wrap(RULE, false), Ok(4));
        for (index, former) in [import, import + 1, first, first + 1].into_iter().zip(before) {
            assert_ne!(world.code(index), former);
            let World { machine, manager } = &world;
            assert_eq!(manager.original(machine, CLIENT, index), former);
        }
        assert_eq!(world.behind(CLIENT, first, 1), service(4));
        assert_eq!(world.behind(CLIENT, first + 1, 1), service(5));
        assert_eq!(world.wrap(RULE, false), Err(Error::Busy));
        assert_eq!(world.unwrap(RULE), Ok(4));
        let after = [import, import + 1, first, first + 1].map(|index| world.code(index));
        assert_eq!(after, before);
        let left = world.free();
        assert_eq!(*free.get_or_insert(left), left, "nothing is left of it");
    }
    assert_eq!(world.unwrap(RULE), Err(Error::NotFound));
}

#[test]
fn what_a_client_gets_is_wrapped_before_it_has_it() {
    let mut world = with_interposer();
    world.wrap(RULE, false).unwrap();
    // By name, and an object; through a portal that is wrapped itself.
    let first = world.open();
    assert_eq!(world.behind(CLIENT, first, 1), service(4));
    let word = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
    world.fill(SERVER, (CLIENT, word), b"Numbers", 7).unwrap();
    let numbers = Meaning { server: SERVER, entry: entry(SERVER, NUMBERS), constant: 7 };
    assert_eq!(world.behind(CLIENT, word as u16 as usize, 1), numbers);
    // Others' are not, nor the interposer's own.
    let World { machine, manager } = &mut world;
    let other = manager.open_export(machine, client(SECOND), SERVICE, ANY).unwrap();
    assert_eq!(world.machine.meaning(SECOND, other as usize), Some(service(4)));
    let all = world.wrap(ALL, false).unwrap();
    assert!(all > 0);
    assert_eq!(world.behind(SECOND, other as usize, 1), service(4));
    assert_eq!(world.behind(CLIENT, first, 2), service(4));
    let World { machine, manager } = &mut world;
    let own = manager.open_export(machine, client(BETWEEN), SERVICE, ANY).unwrap();
    assert_eq!(world.machine.meaning(BETWEEN, own as usize), Some(service(4)));
    // A semaphore is the scheduler's.
    let everything = (CLIENT, NO_INSTANCE, BETWEEN);
    world.wrap(everything, false).unwrap();
    let World { machine, manager } = &mut world;
    let semaphore = manager.make(machine, client(CLIENT), Some(0)).unwrap() as usize;
    let meaning = world.behind(CLIENT, semaphore, 1);
    assert_eq!((meaning.server, meaning.constant), (SCHEDULER, machine_semaphore(&world)));
}

fn machine_semaphore(world: &World) -> u64 {
    world.machine.allocated.get()
}

#[test]
fn wraps_come_apart_in_any_order() {
    let everything = (CLIENT, NO_INSTANCE, BETWEEN);
    let rules = [RULE, ALL, everything];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut world = with_interposer();
    let first = world.open();
    let (before, mut free) = (world.code(first), None);
    for order in orders {
        rules.iter().for_each(|rule| assert!(world.wrap(*rule, false).is_ok()));
        let later = world.open();
        for (left, number) in [3, 2, 1].into_iter().zip(order) {
            assert_eq!(world.behind(CLIENT, first, left), service(4), "{order:?}");
            assert_eq!(world.behind(CLIENT, later, left), service(4), "{order:?}");
            world.unwrap(rules[number]).unwrap();
        }
        assert_eq!(world.code(first), before);
        assert_eq!(world.machine.meaning(CLIENT, later), Some(service(4)));
        let World { machine, manager } = &mut world;
        manager.close(machine, client(CLIENT), later as u64).unwrap();
        let left = world.free();
        assert_eq!(*free.get_or_insert(left), left, "nothing is left of it");
    }
}

#[test]
fn who_is_called_home_while_it_unwraps_leaves_what_another_takes_back() {
    let mut world = with_interposer();
    let opened: Vec<_> = (0..20).map(|_| world.open()).collect();
    let codes = |world: &World| opened.iter().map(|first| world.code(*first)).collect::<Vec<_>>();
    let before = codes(&world);
    world.wrap(RULE, false).unwrap();
    let World { machine, manager } = &mut world;
    let rule = Rule::between(RULE.0, RULE.1, RULE.2);
    assert!(manager.unwrap_step(machine, &rule).unwrap() > 0, "its thread comes no further");
    let wrapped = manager.wrap_client(machine, &rule, CLIENT);
    assert_eq!(wrapped, Err(Error::NotFound), "nor does one that wraps meanwhile");
    // Nobody stands before what the client gets now, and the rest can still be taken back.
    let first = world.open();
    assert_eq!(world.behind(CLIENT, first, 0), service(4));
    assert_eq!(world.wrap(RULE, false), Err(Error::Busy));
    assert!(world.unwrap(RULE).unwrap() > 0);
    assert_eq!(world.unwrap(RULE), Err(Error::NotFound));
    assert_eq!(codes(&world), before, "all lead to the server");
    assert!(world.manager.maker().wraps().wraps.all().is_empty());
}

#[test]
fn a_call_that_is_in_the_interposer_finds_the_way_on() {
    let mut world = with_interposer();
    world.wrap(RULE, false).unwrap();
    let first = world.open();
    let inner = inner_of(&world, CLIENT, first);
    let inside = world.machine.enter(CLIENT, first);
    world.unwrap(RULE).unwrap();
    assert_eq!(world.machine.meaning(CLIENT, first), Some(service(4)));
    assert_eq!(world.machine.meaning(BETWEEN, inner), Some(service(4)), "it calls on");
    // Nobody else gets the index meanwhile.
    world.wrap(RULE, false).unwrap();
    assert_ne!(inner_of(&world, CLIENT, first), inner);
    world.unwrap(RULE).unwrap();
    assert_eq!(world.machine.meaning(BETWEEN, inner), Some(service(4)));
    world.machine.leave(inside);
    world.wrap(RULE, false).unwrap();
    world.unwrap(RULE).unwrap();
    assert_eq!(world.machine.meaning(BETWEEN, inner), None);
}

#[test]
fn what_ends_leads_nowhere_for_the_interposer_either() {
    let mut world = with_interposer();
    world.wrap(RULE, false).unwrap();
    let free = world.free();
    for round in 0..100 {
        let word = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
        world.fill(SERVER, (CLIENT, word), b"Numbers", 7).unwrap();
        let index = word as u16 as usize;
        let inner = inner_of(&world, CLIENT, index);
        let inside = world.machine.enter(CLIENT, index);
        let World { machine, manager } = &mut world;
        assert_eq!(manager.end_object(machine, client(SERVER), b"Numbers", 7), Ok(1));
        assert_eq!(machine.meaning(CLIENT, index), None);
        assert_eq!(machine.meaning(BETWEEN, inner), None, "{round}");
        // With the index in a register, it must not get at another's.
        let first = world.open();
        assert_ne!(inner_of(&world, CLIENT, first), inner);
        let World { machine, manager } = &mut world;
        machine.leave(inside);
        manager.close(machine, client(CLIENT), word & 0xffff).unwrap();
        manager.close(machine, client(CLIENT), first as u64).unwrap();
        assert_eq!(world.wrap(RULE, false), Err(Error::Busy), "sweeps");
    }
    assert_eq!(world.free(), free);
}

#[test]
fn an_interposer_that_dies_is_gone_or_is_missed() {
    for falls_back in [false, true] {
        let mut world = with_interposer();
        let first = world.open();
        world.wrap(ALL, falls_back).unwrap();
        world.machine.set_alive(BETWEEN, false);
        let World { machine, manager } = &mut world;
        while manager.instance_died(machine, BETWEEN).unwrap() != 0 {}
        manager.instance_starts(BETWEEN).unwrap();
        world.machine.set_alive(BETWEEN, true);
        let later = world.open();
        for index in [first, later] {
            match falls_back {
                true => assert_eq!(world.machine.meaning(CLIENT, index), Some(service(4))),
                // Its next life goes on.
                false => assert_eq!(world.behind(CLIENT, index, 1), service(4)),
            }
        }
        assert_eq!(world.unwrap(ALL).is_ok(), !falls_back);
        assert_eq!(world.machine.meaning(CLIENT, first), Some(service(4)));
    }
}

#[test]
fn a_client_does_not_get_rid_of_it_by_dying() {
    let mut world = with_interposer();
    world.wrap(RULE, false).unwrap();
    let import = import_of(SERVER) as usize;
    let first = world.open();
    let inner = inner_of(&world, CLIENT, first);
    world.machine.set_alive(CLIENT, false);
    world.die(CLIENT);
    assert_eq!(world.machine.meaning(CLIENT, first), None);
    assert_eq!(world.machine.meaning(BETWEEN, inner), None);
    world.machine.set_alive(CLIENT, true);
    assert_eq!(world.machine.meaning(CLIENT, import).unwrap().server, BETWEEN);
    let first = world.open();
    assert_eq!(world.behind(CLIENT, first, 1), service(4));
}

#[test]
fn an_import_that_is_exchanged_stays_wrapped() {
    let mut world = with_interposer();
    let import = import_of(SERVER) as usize;
    let former = world.code(import);
    let everything = (CLIENT, NO_INSTANCE, BETWEEN);
    world.wrap(everything, false).unwrap();
    let to_other = Meaning { server: OTHER, entry: entry(OTHER, 4), constant: 0 };
    let exports = (SERVICE, SERVICE + 3);
    let World { machine, manager } = &mut world;
    // To the interposer itself nobody stands between.
    manager.exchange(machine, CLIENT, exports).unwrap();
    assert_eq!(machine.meaning(CLIENT, import), Some(to_other));
    manager.exchange(machine, CLIENT, (SERVICE, SERVICE)).unwrap();
    assert_eq!(world.machine.meaning(CLIENT, import).unwrap().server, BETWEEN);
    assert_eq!(world.behind(CLIENT, import + 1, 1).server, SERVER);
    let World { machine, manager } = &mut world;
    manager.exchange(machine, CLIENT, exports).unwrap();
    world.unwrap(everything).unwrap();
    assert_eq!(world.machine.meaning(CLIENT, import), Some(to_other));
    let World { machine, manager } = &mut world;
    manager.exchange(machine, CLIENT, (SERVICE, SERVICE)).unwrap();
    assert_eq!(world.code(import), former);
}

#[test]
fn who_cannot_stand_between_or_be_wrapped() {
    let mut world = with_interposer();
    for (rule, error) in [
        ((NO_INSTANCE, NO_INSTANCE, BETWEEN), Error::BadArgument),
        ((CLIENT, SERVER, CLIENT), Error::BadArgument),
        ((CLIENT, SERVER, SERVER), Error::BadArgument),
        ((SERVER, SERVER, BETWEEN), Error::BadArgument),
        ((CLIENT, InstanceId(200), BETWEEN), Error::BadArgument),
        ((InstanceId(200), SERVER, BETWEEN), Error::BadArgument),
        ((CLIENT, SERVER, InstanceId(200)), Error::BadArgument),
        ((CLIENT, SERVER, SECOND), Error::NotSupported),
        ((CLIENT, SERVER, SCHEDULER), Error::NotSupported),
        ((CLIENT, OTHER, SERVER), Error::NotFound),
        ((SCHEDULER, SERVER, BETWEEN), Error::NotAllowed),
        ((MANAGER, NO_INSTANCE, BETWEEN), Error::NotAllowed),
    ] {
        assert_eq!(world.wrap(rule, false), Err(error), "{rule:?}");
    }
    // The manager's own calls lead to nobody in between, whatever is said of all.
    let own = world.machine.meaning(MANAGER, FIRST as usize);
    let all = (NO_INSTANCE, SCHEDULER, BETWEEN);
    world.wrap(all, false).unwrap();
    assert_eq!(world.machine.meaning(MANAGER, FIRST as usize), own);
}

#[test]
fn what_an_interposer_has_no_room_for_the_client_does_not_get() {
    let mut world = with_interposer();
    world.wrap(RULE, false).unwrap();
    let mut held = vec![];
    let error = loop {
        let World { machine, manager } = &mut world;
        match manager.open_export(machine, client(CLIENT), SERVICE, ANY) {
            Ok(first) => held.push(first as usize),
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::Exhausted);
    assert!(held.len() > 20);
    for index in &held {
        assert_eq!(world.behind(CLIENT, *index, 1), service(4));
    }
    let free = world.free();
    world.machine.enter(CLIENT, held[0]);
    let World { machine, manager } = &mut world;
    assert!(manager.open_export(machine, client(CLIENT), SERVICE, ANY).is_err());
    assert_eq!(world.free(), free, "nothing is left of what could not be made");
    world.unwrap(RULE).unwrap();
    assert_eq!(world.machine.meaning(CLIENT, held[0]), Some(service(4)));
}

#[test]
fn nothing_is_wrapped_for_who_is_gone_for_good() {
    for gone in [CLIENT, SERVER] {
        let mut world = with_interposer();
        let everything = (CLIENT, NO_INSTANCE, BETWEEN);
        world.wrap(RULE, false).unwrap();
        world.wrap(everything, false).unwrap();
        let first = world.open();
        let inner = inner_of(&world, CLIENT, first);
        world.machine.set_alive(gone, false);
        let World { machine, manager } = &mut world;
        while manager.instance_died(machine, gone).unwrap() != 0 {}
        let (mut from, mut steps) = (0, 0);
        loop {
            from = manager.retire_domain(machine, gone, from).unwrap();
            steps += 1;
            assert!(steps < 100);
            if from == 0 {
                break;
            }
        }
        assert_eq!(machine.meaning(CLIENT, first), None);
        assert_eq!(machine.meaning(BETWEEN, inner), None);
        assert_eq!(machine.meaning(CLIENT, import_of(SERVER) as usize), None);
        assert!(world.unwrap(RULE).is_err());
    }
}

/// Whoever comes under its number is not called by who was on the way to it when nobody stood there any more.
#[test]
fn nobody_is_on_the_way_to_who_is_gone_for_good() {
    let mut world = with_interposer();
    world.wrap(RULE, false).unwrap();
    let import = import_of(SERVER) as usize;
    let inner = inner_of(&world, CLIENT, import);
    world.machine.enter(CLIENT, import);
    world.unwrap(RULE).unwrap();
    assert_eq!(world.machine.meaning(BETWEEN, inner).unwrap().server, SERVER, "on its way");
    let World { machine, manager } = &mut world;
    machine.set_alive(SERVER, false);
    while manager.instance_died(machine, SERVER).unwrap() != 0 {}
    let mut from = manager.retire_domain(machine, SERVER, 0).unwrap();
    while from != 0 {
        from = manager.retire_domain(machine, SERVER, from).unwrap();
    }
    assert_eq!(machine.meaning(BETWEEN, inner), None);
}

#[test]
fn nothing_is_left_of_an_interposer_that_is_gone_for_good() {
    let mut world = world();
    let rule = (CLIENT, OTHER, SERVER);
    let mut methods = [0; 32];
    methods[8..17].copy_from_slice(b"ciiiiiii4");
    methods[24..].copy_from_slice(&entry(SERVER, ENTRANCE).to_le_bytes());
    let World { machine, manager } = &mut world;
    manager.register(machine, client(SERVER), "server.interposer", "", &methods).unwrap();
    let import = import_of(OTHER) as usize;
    let (before, free) = (world.code(import), world.free());
    let kept = world.manager.maker().pools_mut().kept();
    assert!(world.wrap(rule, false).is_ok());
    assert_eq!(world.machine.meaning(CLIENT, import).unwrap().server, SERVER);
    let World { machine, manager } = &mut world;
    machine.set_alive(SERVER, false);
    while manager.instance_died(machine, SERVER).unwrap() != 0 {}
    let mut from = 0;
    loop {
        from = manager.retire_domain(machine, SERVER, from).unwrap();
        if from == 0 {
            break;
        }
    }
    assert_eq!((world.code(import), world.free()), (before, free));
    assert_eq!(world.manager.maker().pools_mut().kept(), kept, "no way back to it is left");
}
