//! Instances that are held: whatever leads to one waits, is exchanged, and goes on, whatever else happens meanwhile.

mod again;
mod between;
mod between_lives;
mod dropped;
mod faults;
pub mod fellows;
mod in_place;
mod moved;
mod pagers;
mod repointed;
mod weaker;

use super::*;
use crate::blocks::NO_INSTANCE;
use crate::make::Purpose;
use crate::wraps::Rule;
use cairn_abi::domain::{HELD_QUEUE, stack_queue};
use cairn_abi::grant::{Peer, Rights};
use cairn_portal::invocation::Words;
use cairn_portal::literal::*;

const HOLDER: InstanceId = SECOND;
const BETWEEN: InstanceId = OTHER;
const RULE: Rule = Rule::between(NO_INSTANCE, SERVER, BETWEEN);
const ALL: Rights = Rights { methods: u32::MAX, passes: 0, uses: 0, until: 0 };

impl World {
    pub fn hold(&mut self, held: InstanceId) -> Result<(), Error> {
        self.hold_by(held, Purpose::Successor)
    }

    fn hold_by(&mut self, held: InstanceId, purpose: Purpose) -> Result<(), Error> {
        let World { machine, manager } = self;
        manager.begin_hold(machine, client(HOLDER), held, purpose)?;
        while !manager.hold_step(machine, HOLDER, held)? {}
        Ok(())
    }

    fn release(&mut self, held: InstanceId) -> Result<(), Error> {
        let World { machine, manager } = self;
        while !manager.release_step(machine, HOLDER, held)? {}
        Ok(())
    }

    fn relink(&mut self, held: InstanceId) -> Result<(), Error> {
        let World { machine, manager } = self;
        let mut next = Some(0);
        while let Some(place) = next {
            next = manager.relink(machine, held, place)?;
        }
        Ok(())
    }

    /// What the server registers while it runs, opened by the client.
    fn opened_late(&mut self) -> u64 {
        let mut methods = [0; 32];
        methods[8..11].copy_from_slice(b"cii");
        methods[24..].copy_from_slice(&entry(SERVER, 3).to_le_bytes());
        let World { machine, manager } = self;
        manager.register(machine, client(SERVER), "server.late", "*", &methods).unwrap();
        manager.open_registration(machine, client(CLIENT), REGISTERED, ANY).unwrap()
    }

    fn leave(&mut self, instance: InstanceId) -> Result<usize, Error> {
        let World { machine, manager } = self;
        let (mut next, mut steps) = (manager.leave_domain(machine, instance, 0)?, 1);
        while next != 0 {
            next = manager.leave_domain(machine, instance, next)?;
            steps += 1;
        }
        Ok(steps)
    }

    /// It ends, and has other content in its next life.
    fn exchange(&mut self, held: InstanceId) {
        self.machine.set_alive(held, false);
        self.leave(held).unwrap();
        self.relink(held).unwrap();
        self.machine.set_alive(held, true);
    }

    fn opened(&mut self, of: InstanceId) -> usize {
        self.opened_by(client(of), SERVICE)
    }

    fn opened_by(&mut self, by: Client, export: usize) -> usize {
        self.manager.open_export(&self.machine, by, export, ANY).unwrap() as usize
    }

    fn numbers(&mut self, of: InstanceId, control: u64) -> usize {
        let word = self.reserve(of, SERVER, b"Numbers", b"cii ").unwrap();
        self.fill(SERVER, (of, word), b"Numbers", control).unwrap();
        word as u16 as usize
    }

    /// From now on the record says of a server's methods that they are entered so much behind.
    fn move_entries(&mut self, server: InstanceId, by: u64) {
        let layout = &mut self.machine.layout;
        let mut methods = layout.methods.to_vec();
        for export in layout.exports.iter().filter(|export| export.instance == server) {
            let first = export.first_method as usize;
            let all = &mut methods[first..first + export.method_count as usize];
            all.iter_mut().for_each(|method| method.entry = method.entry.wrapping_add(by));
        }
        layout.methods = leak(methods);
    }

    /// A literal of the code that an index leads to.
    pub fn literal(&self, of: InstanceId, index: usize, literal: i64) -> u64 {
        let code = self.machine.entry(domain_of(of), index);
        self.machine.load(code.wrapping_add_signed(literal)).unwrap()
    }

    /// Puts an interposer between the server and all its clients.
    fn put_between(&mut self) {
        self.register_entrance((BETWEEN, "other.interposer"), 99);
        let World { machine, manager } = self;
        let rule = manager.add_rule(machine, RULE).unwrap();
        for of in (1..10).map(InstanceId) {
            manager.wrap_client(machine, &rule, of).unwrap();
        }
    }

    /// Every portal that leads to a server: whose it is, or for whom, whose table it is in, and its index.
    fn leads_to(&self, server: InstanceId) -> Vec<(InstanceId, InstanceId, usize)> {
        let mut leads = Vec::new();
        for of in [MANAGER, SERVER, OTHER, CLIENT, SECOND] {
            for index in FIRST as usize..PORTALS_DESCRIBED {
                if self.machine.meaning(of, index).is_some_and(|meaning| meaning.server == server) {
                    let wrap = self.manager.wrap_behind(of, index);
                    leads.push((wrap.map_or(of, |wrap| wrap.client), of, index));
                }
            }
        }
        leads
    }

    /// That the portals which lead to a server are held, or none of them; how many.
    fn check(&self, server: InstanceId, is_held: bool) -> usize {
        let leads = self.leads_to(server);
        for (client, of, index) in &leads {
            let back = self.machine.back(*of, *index).wrapping_add_signed(LITERAL_QUEUE);
            let own = self.machine.load(back).unwrap();
            let queue = self.literal(*of, *index, LITERAL_QUEUE);
            let waits = is_held && *client != HOLDER && *client != server;
            let wanted = if waits { stack_queue(HELD_QUEUE) } else { own };
            assert_eq!(queue, wanted, "{client} {of} {index}");
            assert_ne!(own, stack_queue(HELD_QUEUE));
        }
        leads.len()
    }
}

#[test]
fn all_that_leads_to_it_waits_and_goes_on() {
    for wrapped in [false, true] {
        let mut world = world();
        let first = world.opened(CLIENT);
        let holders = world.opened(HOLDER);
        let number = world.numbers(CLIENT, 7);
        if wrapped {
            world.put_between();
        }
        let free = world.free();
        let before = world.check(SERVER, false);
        assert!(before >= 6);
        world.hold(SERVER).unwrap();
        assert_eq!(world.check(SERVER, true), before);
        // What is made meanwhile is held as well: opened, an object, passed on.
        let later = world.opened(CLIENT);
        let another = world.numbers(CLIENT, 8);
        let mine = world.opened(HOLDER);
        let World { machine, manager } = &mut world;
        let offer = (client(CLIENT), later as u64, Peer::Instance(OTHER), ALL);
        let word = manager.grant(machine, offer.0, offer.1, offer.2, offer.3).unwrap();
        let from = Peer::Instance(CLIENT);
        manager.accept(machine, client(OTHER), from, word, ANY).unwrap();
        // An import that leads elsewhere meanwhile.
        manager.exchange(machine, CLIENT, (SERVICE, SERVICE + 3)).unwrap();
        assert!(world.check(SERVER, true) > before + 5);
        let World { machine, manager } = &mut world;
        manager.exchange(machine, CLIENT, (SERVICE, SERVICE)).unwrap();
        for (of, index) in [(CLIENT, later), (CLIENT, another), (HOLDER, mine)] {
            manager.close(machine, client(of), index as u64).unwrap();
        }
        assert_eq!(world.check(SERVER, true), before);
        assert_eq!(world.machine.released.get(), 0);
        world.release(SERVER).unwrap();
        assert_eq!(world.check(SERVER, false), before);
        assert_eq!(world.machine.released.get(), 1, "who waited goes on");
        assert_eq!(world.release(SERVER), Err(Error::NotFound));
        let World { machine, manager } = &mut world;
        let _ = manager.close(machine, client(OTHER), 0);
        assert!(world.free() <= free);
        assert!([first, number].iter().all(|one| world.machine.meaning(CLIENT, *one).is_some()));
        assert!(world.machine.meaning(HOLDER, holders).is_some());
    }
}

#[test]
fn a_wrap_that_comes_or_goes_changes_nothing_of_it() {
    let mut world = world();
    world.opened(CLIENT);
    world.hold(SERVER).unwrap();
    world.put_between();
    assert!(world.check(SERVER, true) >= 4);
    let World { machine, manager } = &mut world;
    while manager.unwrap_step(machine, &RULE).unwrap() != 0 {}
    world.check(SERVER, true);
    world.release(SERVER).unwrap();
    world.check(SERVER, false);
}

#[test]
fn who_cannot_be_held_is_not() {
    let mut world = world();
    let before = world.check(SERVER, false) + world.leads_to(OTHER).len();
    let refused = [
        (SCHEDULER, Error::NotSupported),
        (MANAGER, Error::NotSupported),
        (HOLDER, Error::BadArgument),
        // One that calls it takes no stack.
        (OTHER, Error::NotSupported),
        (NO_INSTANCE, Error::BadArgument),
        (InstanceId(200), Error::BadArgument),
    ];
    for (instance, error) in refused {
        assert_eq!(world.hold(instance), Err(error), "{instance}");
        assert_eq!(world.manager.maker().held(), None);
    }
    let World { machine, manager } = &mut world;
    assert_eq!(
        manager.begin_hold(machine, client(CLIENT), SECOND, Purpose::Successor),
        Err(Error::NotSupported)
    );
    assert_eq!(world.check(SERVER, false) + world.leads_to(OTHER).len(), before);
    world.machine.set_alive(SERVER, false);
    assert_eq!(world.hold(SERVER), Err(Error::Dead));
    world.machine.set_alive(SERVER, true);
    world.machine.waiters.set(1);
    assert_eq!(world.hold(SERVER), Err(Error::Busy), "one has not gone on yet");
    world.machine.waiters.set(0);
    world.hold(SERVER).unwrap();
    assert_eq!(world.hold(CLIENT), Err(Error::Busy), "one at a time");
    assert_eq!(world.hold(SERVER), Err(Error::Busy));
    world.release(SERVER).unwrap();
    assert_eq!(world.hold(CLIENT), Ok(()), "nobody calls it");
    world.release(CLIENT).unwrap();
}

#[test]
fn it_is_quiet_when_all_are_home_but_the_holders() {
    let mut world = world();
    let [first, holders] = [CLIENT, HOLDER].map(|of| world.opened(of));
    let inside = world.machine.enter(CLIENT, first);
    let own = world.machine.enter(HOLDER, holders);
    assert_eq!(world.relink(SERVER), Err(Error::NotAllowed), "it is not held");
    world.hold(SERVER).unwrap();
    let quiet = |world: &World| world.manager.is_quiet(&world.machine, SERVER, HOLDER);
    assert_eq!(quiet(&world), Ok(false));
    world.machine.leave(inside);
    assert_eq!(quiet(&world), Ok(true));
    assert_eq!(world.relink(SERVER), Err(Error::Busy), "the holder's own");
    world.machine.leave(own);
    assert_eq!(world.relink(SERVER), Ok(()));
    assert_eq!(world.relink(OTHER), Err(Error::NotAllowed));
    // That it is in a call of its own does not matter.
    let World { machine, manager } = &mut world;
    let out = manager.open_export(machine, client(SERVER), SERVICE + 3, ANY).unwrap();
    let _inside = machine.enter(SERVER, out as usize);
    assert_eq!(quiet(&world), Ok(true));
}

#[test]
fn its_portals_lead_into_the_next_content() {
    for wrapped in [false, true] {
        let mut world = world();
        let first = world.opened(CLIENT);
        world.opened(HOLDER);
        let number = world.numbers(CLIENT, 7);
        if wrapped {
            world.put_between();
        }
        let leads = world.leads_to(SERVER);
        let others = world.leads_to(OTHER);
        let meanings = |world: &World, of: &[(InstanceId, InstanceId, usize)]| {
            let meaning = |(_, of, index): &_| world.machine.meaning(*of, *index).unwrap();
            of.iter().map(meaning).collect::<Vec<_>>()
        };
        let before = (meanings(&world, &leads), meanings(&world, &others));
        world.hold(SERVER).unwrap();
        world.move_entries(SERVER, 0x100);
        world.move_entries(OTHER, 0x100);
        world.relink(SERVER).unwrap();
        world.check(SERVER, true);
        assert_eq!(meanings(&world, &others), before.1, "others' lead where they did");
        for ((before, now), lead) in
            before.0.iter().zip(meanings(&world, &leads)).zip(world.leads_to(SERVER))
        {
            let is_laid_out = before.entry == 0;
            assert!(is_laid_out || now.entry == before.entry + 0x100, "{lead:?} {now:?}");
            let methods = [4, 5].map(|method| entry(SERVER, method) + 0x100);
            assert!(!is_laid_out || methods.contains(&now.entry), "{lead:?} {now:?}");
            assert_eq!(now.constant, before.constant, "an object keeps its word");
            let stub = world.manager.instances().get(SERVER).unwrap().stub;
            assert_eq!(world.literal(lead.1, lead.2, LITERAL_STUB), stub);
        }
        world.release(SERVER).unwrap();
        assert!([first, number].iter().all(|one| world.machine.meaning(CLIENT, *one).is_some()));
    }
}

#[test]
fn what_others_have_of_a_life_with_a_successor_stays() {
    let mut world = world();
    let first = world.opened(CLIENT);
    let numbers: Vec<usize> = (0..40).map(|control| world.numbers(CLIENT, control)).collect();
    let place = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
    let late = world.opened_late();
    let World { machine, manager } = &mut world;
    let opened: Vec<u64> = (0..20)
        .map(|_| manager.open_export(machine, client(SERVER), SERVICE + 3, ANY).unwrap())
        .collect();
    let made = manager.make(machine, client(SERVER), Some(0)).unwrap();
    let offered =
        manager.grant(machine, client(CLIENT), first as u64, Peer::Instance(OTHER), ALL).unwrap();
    let import = FIRST as usize;
    assert_eq!(world.leave(SERVER), Err(Error::Busy), "it lives");
    world.hold(SERVER).unwrap();
    world.machine.set_alive(SERVER, false);
    assert_eq!(world.manager.instance_starts(SERVER), Err(Error::Busy));
    assert!(world.leave(SERVER).unwrap() > 2, "in steps");
    assert_eq!(world.manager.instance_starts(SERVER), Ok(()));
    world.machine.set_alive(SERVER, true);
    let led = |world: &World, of, index| world.machine.meaning(of, index).is_some();
    assert!(numbers.iter().chain([&first]).all(|index| led(&world, CLIENT, *index)));
    assert!(!led(&world, CLIENT, late as usize), "what it registered ends");
    assert!(opened.iter().chain([&made]).all(|index| !led(&world, SERVER, *index as usize)));
    assert!(led(&world, SERVER, import), "its imports stay");
    world.fill(SERVER, (CLIENT, place), b"Numbers", 99).expect("its successor fills it");
    let World { machine, manager } = &mut world;
    manager.accept(machine, client(OTHER), Peer::Instance(CLIENT), offered, ANY).unwrap();
    world.check(SERVER, true);
    world.release(SERVER).unwrap();
    // A life without a successor ends as ever.
    world.machine.set_alive(SERVER, false);
    assert_eq!(world.manager.instance_died(&world.machine, SERVER), Ok(1));
    assert_eq!(world.manager.instance_starts(SERVER), Err(Error::Busy));
    world.die(SERVER);
    assert!(numbers.iter().all(|index| !led(&world, CLIENT, *index)));
    assert!(led(&world, CLIENT, first));
}

#[test]
fn the_death_of_the_holder_releases_however_far_it_came() {
    for wrapped in [false, true] {
        for steps in 0.. {
            let mut world = world();
            world.opened(CLIENT);
            world.numbers(CLIENT, 7);
            if wrapped {
                world.put_between();
            }
            let World { machine, manager } = &mut world;
            manager.begin_hold(machine, client(HOLDER), SERVER, Purpose::Successor).unwrap();
            let mut is_on = false;
            for _ in 0..steps {
                is_on = manager.hold_step(machine, HOLDER, SERVER).unwrap();
            }
            machine.set_alive(HOLDER, false);
            world.die(HOLDER);
            world.check(SERVER, false);
            assert_eq!(world.machine.released.get(), 1);
            let World { machine, manager } = &mut world;
            assert_eq!(manager.hold_step(machine, HOLDER, SERVER), Err(Error::Dead));
            assert_eq!(manager.release_step(machine, HOLDER, SERVER), Err(Error::NotFound));
            if is_on {
                break;
            }
        }
    }
}

#[test]
fn the_end_of_the_held_for_good_releases() {
    let mut world = world();
    let first = world.opened(CLIENT);
    world.numbers(CLIENT, 7);
    world.hold(SERVER).unwrap();
    world.machine.set_alive(SERVER, false);
    world.die(SERVER);
    world.check(SERVER, true);
    assert_eq!(world.machine.released.get(), 0, "it may live again");
    let World { machine, manager } = &mut world;
    let mut next = manager.retire_domain(machine, SERVER, 0).unwrap();
    while next != 0 {
        next = manager.retire_domain(machine, SERVER, next).unwrap();
    }
    assert_eq!(machine.released.get(), 1);
    assert_eq!(machine.meaning(CLIENT, first), None, "who waited finds no portal");
    assert_eq!(manager.release_step(machine, HOLDER, SERVER), Err(Error::NotFound));
}

/// Whatever others do between the steps.
#[test]
fn nothing_is_left_out_and_nothing_stays_held() {
    let mut world = world();
    world.put_between();
    let mut random = Random::new(7);
    let mut number = |below: u64| random.below(below);
    let (mut holds, mut on, mut is_begun) = (0, false, false);
    for _ in 0..20_000 {
        let of = [CLIENT, HOLDER][number(2) as usize];
        let World { machine, manager } = &mut world;
        match number(14) {
            0 | 1 => {
                let _ = manager.open_export(machine, client(of), SERVICE, ANY);
            }
            2 | 3 => {
                if let Ok(word) = world.reserve(of, SERVER, b"Numbers", b"cii ") {
                    let _ = world.fill(SERVER, (of, word), b"Numbers", number(4));
                }
            }
            4 | 5 => {
                let _ = manager.close(machine, client(of), FIRST as u64 + 3 + number(200));
            }
            6 => {
                let _ = manager.end_object(machine, client(SERVER), b"Numbers", number(4));
            }
            7 if number(20) == 0 => world.die(CLIENT),
            8 if manager.rules().is_empty() => {
                if let Ok(rule) = manager.add_rule(machine, RULE) {
                    for of in (1..10).map(InstanceId) {
                        let _ = manager.wrap_client(machine, &rule, of);
                    }
                }
            }
            8 if number(5) == 0 => {
                let _ = manager.unwrap_step(machine, &RULE);
            }
            9 if manager.ends(&RULE) => {
                let _ = manager.unwrap_step(machine, &RULE);
            }
            10 => {
                let to = [SERVICE, SERVICE + 3][number(2) as usize];
                let _ = manager.exchange(machine, CLIENT, (SERVICE, to));
            }
            11 if !is_begun => {
                manager.begin_hold(machine, client(HOLDER), SERVER, Purpose::Successor).unwrap();
                is_begun = true;
            }
            11 | 12 if is_begun && !on => {
                on = manager.hold_step(machine, HOLDER, SERVER).unwrap();
                holds += usize::from(on);
            }
            13 if on && number(8) == 0 => {
                on = false;
                while is_begun {
                    is_begun = !manager.release_step(machine, HOLDER, SERVER).unwrap();
                }
                world.check(SERVER, false);
            }
            _ => {}
        }
        if on {
            world.check(SERVER, true);
        }
    }
    assert!(holds > 50, "{holds}");
}
