//! An instance that moves, to the kernel domain or into the page table of another, and back: what leads to it leads there, and nobody is led where it is not.

mod random;

use super::*;
use cairn_abi::record::PagedRange;
use zerocopy::FromZeros;

fn moving() -> World {
    world_on(Fake::that_moves())
}

/// The same to each of both kinds of places: the kernel domain, and the page table of another.
fn both() -> [World; 2] {
    [None, Some(OTHER)].map(|host| world_on(Fake::that_moves_to(host)))
}

/// Where a portal leads, and whether its callers wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leads {
    is_away: bool,
    waits: bool,
}

impl World {
    fn renew(&mut self) {
        let World { machine, manager } = self;
        manager.maker().instances_mut().renew(machine.layout());
    }

    fn row(&mut self, of: InstanceId) -> &'static cairn_abi::record::Instance {
        self.manager.instances().get(of).unwrap()
    }

    fn hold_to_move(&mut self, held: InstanceId) -> Result<(), Error> {
        self.hold_by(held, Purpose::Move)
    }

    /// What the supervisor and the memory manager do between holding and releasing.
    fn exchange_places(&mut self, of: InstanceId) {
        self.end_life(of);
        self.machine.exchange_places(of);
        self.renew();
        let domain = self.row(of).domain;
        self.machine.set_domain_alive(domain, true);
        self.manager.instance_starts(of).unwrap();
    }

    fn end_life(&mut self, of: InstanceId) {
        let domain = self.row(of).domain;
        self.machine.set_domain_alive(domain, false);
        self.leave(of).unwrap();
    }

    fn moves(&mut self, of: InstanceId) {
        self.hold_to_move(of).unwrap();
        self.exchange_places(of);
        self.relink(of).unwrap();
        self.release(of).unwrap();
    }

    /// Every portal that leads to the server, in whatever place: whose table, and which index.
    fn all_leads(&self) -> Vec<(InstanceId, usize, Leads)> {
        let mut all = Vec::new();
        for of in (1..=8).map(InstanceId) {
            for index in FIRST as usize..PORTALS_DESCRIBED {
                let Some(meaning) = self.machine.meaning(of, index) else { continue };
                if meaning.server != SERVER && meaning.server != PLACE {
                    continue;
                }
                let queue = self.literal(of, index, LITERAL_QUEUE);
                let waits = queue == stack_queue(HELD_QUEUE);
                all.push((of, index, Leads { is_away: meaning.server == PLACE, waits }));
            }
        }
        all
    }

    /// That all who call the server are where it is and wait for nothing, and come in where the record says; how many portals.
    fn check_moved(&mut self) -> usize {
        let row = self.row(SERVER);
        let wanted = Leads { is_away: row.is_away != 0, waits: false };
        let all = self.all_leads();
        for (of, index, leads) in &all {
            assert_eq!(*leads, wanted, "{of} {index}");
            if row.in_kernel == 0 {
                let back = self.machine.back(*of, *index).wrapping_add_signed(LITERAL_QUEUE);
                let own = self.machine.load(back).unwrap();
                assert_eq!(self.literal(*of, *index, LITERAL_QUEUE), own, "{of} {index}");
            }
        }
        all.len()
    }

    /// The same while it is held: who waits does so before the domain, and the holder is led where the instance is.
    fn check_held(&mut self, relinked: bool) {
        let is_away = self.row(SERVER).is_away != 0;
        for (of, index, leads) in self.all_leads() {
            match of {
                HOLDER if relinked => {
                    assert_eq!(leads, Leads { is_away, waits: false }, "{of} {index}");
                }
                HOLDER => assert!(!leads.waits, "{of} {index}"),
                _ => assert_eq!(leads, Leads { is_away: false, waits: true }, "{of} {index}"),
            }
        }
    }

    fn check_entries(&self, methods: &[(InstanceId, usize, u64)]) {
        let server = self.manager.instances().get(SERVER).unwrap();
        let differs = if server.in_kernel != 0 { PLACE_ENTRY } else { 0 };
        for (of, index, method) in methods {
            let meaning = self.machine.meaning(*of, *index).unwrap();
            assert_eq!(meaning.entry, entry(SERVER, *method) ^ differs, "{of} {index}");
            assert_eq!(self.literal(*of, *index, LITERAL_STUB), server.stub, "{of} {index}");
        }
    }
}

#[test]
fn whatever_leads_to_it_leads_where_it_is() {
    for mut world in both() {
        let [opened, holders] = [CLIENT, HOLDER].map(|of| world.opened(of));
        let object = world.numbers(CLIENT, 7);
        let methods = [
            (CLIENT, FIRST as usize + 1, 4),
            (CLIENTS_PLACE, FIRST as usize + 1, 4),
            (HOLDER, FIRST as usize + 1, 4),
            (CLIENT, opened, 4),
            (CLIENT, opened + 1, 5),
            (HOLDER, holders, 4),
            (CLIENT, object, NUMBERS),
        ];
        let before = world.check_moved();
        // Of the client's place that is asleep, too.
        assert_eq!(before, 8);
        for round in 0..4 {
            let free = world.free();
            world.hold_to_move(SERVER).unwrap();
            world.check_held(false);
            assert_eq!(world.all_leads().len(), before);
            world.exchange_places(SERVER);
            world.check_held(false);
            world.relink(SERVER).unwrap();
            world.check_held(true);
            world.check_entries(&[methods[2], methods[5]]);
            world.release(SERVER).unwrap();
            assert_eq!(world.check_moved(), before);
            assert_eq!(world.row(SERVER).is_away, 1 - round % 2);
            world.check_entries(&methods);
            assert_eq!(world.machine.meaning(CLIENT, object).unwrap().constant, 7);
            assert_eq!(world.free(), free, "a move takes no room");
            assert_eq!(world.machine.released.get(), round as usize + 1, "who waited goes on");
        }
    }
}

/// Its host and a client in a page table of its own open the same export in turn; the code is the one's or the other's.
#[test]
fn whoever_is_in_its_page_table_has_code_that_stays_there() {
    let mut world = world_on(Fake::that_moves_to(Some(OTHER)));
    let methods = ["cii", "c"].map(str::to_string);
    for round in 0..4 {
        let is_away = round % 2 == 1;
        let (host, place) = (world.machine.space_of(OTHER), world.machine.space_of(PLACE));
        assert_eq!(host, place);
        let opened = [OTHER, CLIENT, OTHER, HOLDER].map(|of| (of, world.opened(of)));
        for (of, first) in opened {
            check_code(&world.machine, of, first as u64, &methods);
            let to = world.machine.meaning(of, first).unwrap().server;
            assert_eq!(to, if is_away { PLACE } else { SERVER });
        }
        world.moves(SERVER);
        for (of, first) in opened {
            check_code(&world.machine, of, first as u64, &methods);
            let World { machine, manager } = &mut world;
            manager.close(machine, client(of), first as u64).unwrap();
        }
    }
}

#[test]
fn what_is_made_meanwhile_is_right_in_both_places() {
    for (starts_away, mut world) in
        [false, true].into_iter().flat_map(|away| both().map(|world| (away, world)))
    {
        if starts_away {
            world.moves(SERVER);
        }
        let free = world.free();
        let mut made = Vec::new();
        let mut make = |world: &mut World| {
            let first = world.opened(CLIENT);
            let object = world.numbers(CLIENT, 9);
            let holders = world.opened(HOLDER);
            let mine = manager_grant(world, CLIENT, first, OTHER);
            made.extend([
                (CLIENT, first, 4),
                (CLIENT, object, NUMBERS),
                (HOLDER, holders, 4),
                (OTHER, mine, 4),
            ]);
        };
        make(&mut world);
        world.check_moved();
        let World { machine, manager } = &mut world;
        manager.begin_hold(machine, client(HOLDER), SERVER, Purpose::Move).unwrap();
        let mut make_all = |world: &mut World| make(world);
        make_all(&mut world);
        loop {
            let World { machine, manager } = &mut world;
            if manager.hold_step(machine, HOLDER, SERVER).unwrap() {
                break;
            }
            make_all(&mut world);
        }
        world.check_held(false);
        make_all(&mut world);
        world.check_held(false);
        world.exchange_places(SERVER);
        world.relink(SERVER).unwrap();
        // The life that begins can make something, too, before the release.
        let object = world.reserve(CLIENT, SERVER, b"Numbers", b"cii ").unwrap();
        world.fill(SERVER, (CLIENT, object), b"Numbers", 3).unwrap();
        world.check_held(true);
        loop {
            let World { machine, manager } = &mut world;
            if manager.release_step(machine, HOLDER, SERVER).unwrap() {
                break;
            }
        }
        world.check_moved();
        world.check_entries(&made);
        world.moves(SERVER);
        world.check_moved();
        world.check_entries(&made);
        for (of, first, _) in made {
            let World { machine, manager } = &mut world;
            if of != OTHER {
                manager.close(machine, client(of), first as u64).unwrap();
            }
        }
        let World { machine, manager } = &mut world;
        manager.close(machine, client(CLIENT), object as u16 as u64).unwrap();
        manager.maker().pools_mut().trim_client(machine, OTHER);
        assert!(world.free() <= free, "nothing is given back twice");
    }
}

/// Passes on the first method alone, twice at most.
fn manager_grant(world: &mut World, of: InstanceId, first: usize, to: InstanceId) -> usize {
    let rights = Rights { methods: 1, passes: 0, uses: 2, until: 0 };
    let World { machine, manager } = world;
    let word =
        manager.grant(machine, client(of), first as u64, Peer::Instance(to), rights).unwrap();
    manager.accept(machine, client(to), Peer::Instance(of), word, ANY).unwrap() as usize
}

#[test]
fn who_does_not_move_is_refused_before_anybody_waits() {
    let mut world = moving();
    let refused = |world: &mut World, of: InstanceId, error: Error| {
        let before = world.all_leads();
        assert_eq!(world.hold_to_move(of), Err(error), "{of}");
        assert_eq!(world.manager.maker().held(), None);
        assert_eq!(world.all_leads(), before);
    };
    refused(&mut world, OTHER, Error::NotSupported);
    refused(&mut world, SECOND, Error::BadArgument);
    refused(&mut world, SCHEDULER, Error::NotSupported);
    refused(&mut world, PLACE, Error::BadArgument);
    refused(&mut world, InstanceId(200), Error::BadArgument);
    let ranges = world.machine.layout.ranges;
    for (of, pager) in [(SERVER, OTHER), (OTHER, SERVER)] {
        let range = PagedRange { client: of, pager, ..PagedRange::new_zeroed() };
        world.machine.layout.ranges = fake::leak(vec![range]);
        refused(&mut world, SERVER, Error::NotSupported);
    }
    world.machine.layout.ranges = ranges;
    // Who is between, or has not gone yet.
    world.put_between();
    refused(&mut world, SERVER, Error::NotAllowed);
    refused(&mut world, OTHER, Error::NotSupported);
    let World { machine, manager } = &mut world;
    while manager.unwrap_step(machine, &RULE).unwrap() != 0 {}
    world.moves(SERVER);
    // It is replaced in its domain alone.
    assert_eq!(world.hold(SERVER), Err(Error::NotSupported));
    assert_eq!(world.hold_by(SERVER, Purpose::InPlace), Err(Error::NotSupported));
    let World { machine, manager } = &mut world;
    let rule = manager.add_rule(machine, RULE).unwrap();
    manager.wrap_client(machine, &rule, CLIENT).unwrap();
    refused(&mut world, SERVER, Error::NotAllowed);
    // One that has left may have a thread on its way.
    let index = world.opened(CLIENT);
    let wrapped = world.machine.enter(CLIENT, index);
    let World { machine, manager } = &mut world;
    while manager.unwrap_step(machine, &RULE).unwrap() != 0 {}
    refused(&mut world, SERVER, Error::Busy);
    world.machine.leave(wrapped);
    world.check_moved();
    world.moves(SERVER);
    world.check_moved();
    let retired = world.manager.retire_domain(&world.machine, SERVER, 0);
    assert_eq!(retired, Err(Error::NotSupported), "its other place would be nobody's");
}

#[test]
fn nobody_comes_between_while_it_moves() {
    let mut world = moving();
    world.opened(CLIENT);
    let mut methods = [0; 32];
    methods[8..17].copy_from_slice(b"ciiiiiii4");
    methods[24..].copy_from_slice(&entry(BETWEEN, 99).to_le_bytes());
    let World { machine, manager } = &mut world;
    manager.register(machine, client(BETWEEN), "other.interposer", "", &methods).unwrap();
    // Before all that a client calls, of which it has nothing of the server's: no obstacle.
    let all = Rule::between(SECOND, NO_INSTANCE, BETWEEN);
    let all = manager.add_rule(machine, all).unwrap();
    world.hold_to_move(SERVER).unwrap();
    for rule in [RULE, Rule::between(SERVER, NO_INSTANCE, BETWEEN)] {
        let World { machine, manager } = &mut world;
        assert_eq!(manager.add_rule(machine, rule), Err(Error::Busy));
    }
    let before = world.all_leads();
    let World { machine, manager } = &mut world;
    assert_eq!(manager.wrap_client(machine, &all, SECOND), Err(Error::Busy));
    let opened = manager.open_export(machine, client(SECOND), SERVICE, ANY);
    assert_eq!(opened, Err(Error::Busy), "it would be wrapped");
    assert_eq!(world.all_leads(), before);
    world.check_held(false);
    world.exchange_places(SERVER);
    world.relink(SERVER).unwrap();
    world.release(SERVER).unwrap();
    world.check_moved();
    let World { machine, manager } = &mut world;
    assert!(manager.wrap_client(machine, &all, SECOND).unwrap() > 0);
    assert!(manager.open_export(machine, client(SECOND), SERVICE, ANY).is_ok());
    assert_eq!(world.hold_to_move(SERVER), Err(Error::NotAllowed));
    let World { machine, manager } = &mut world;
    while manager.unwrap_step(machine, &all).unwrap() != 0 {}
    world.check_moved();
    world.moves(SERVER);
    world.check_moved();
}

/// The holder dies at each step of a move, there and back: all go on where the record says.
#[test]
fn the_death_of_the_holder_leads_all_where_it_is() {
    for (back, host) in [(false, None), (true, None), (false, Some(OTHER)), (true, Some(OTHER))] {
        for steps in 0.. {
            let mut world = world_on(Fake::that_moves_to(host));
            world.opened(CLIENT);
            world.numbers(CLIENT, 7);
            for control in 0..40 {
                world.numbers(CLIENT, control);
                world.numbers(HOLDER, control);
            }
            if back {
                world.moves(SERVER);
            }
            let released = world.machine.released.get();
            let World { machine, manager } = &mut world;
            manager.begin_hold(machine, client(HOLDER), SERVER, Purpose::Move).unwrap();
            let mut left = steps;
            let mut is_on = false;
            while left > 0 && !is_on {
                is_on = world.manager.hold_step(&world.machine, HOLDER, SERVER).unwrap();
                left -= 1;
            }
            let (mut place, mut stage) = (Some(0), 0);
            while left > 0 && is_on {
                match stage {
                    0 => world.exchange_places(SERVER),
                    1 => {
                        place =
                            world.manager.relink(&world.machine, SERVER, place.unwrap()).unwrap();
                        stage -= usize::from(place.is_some());
                    }
                    2 => {
                        let World { machine, manager } = &mut world;
                        let last = manager.release_step(machine, HOLDER, SERVER).unwrap();
                        stage -= usize::from(!last);
                    }
                    _ => break,
                }
                (stage, left) = (stage + 1, left - 1);
            }
            world.machine.set_alive(HOLDER, false);
            world.die(HOLDER);
            assert_eq!(world.manager.maker().held(), None);
            world.check_moved();
            assert_eq!(world.machine.released.get(), released + 1);
            assert_eq!(world.row(SERVER).is_away != 0, back != (stage > 0));
            if stage > 2 {
                assert!(steps > 6, "{steps}");
                break;
            }
        }
    }
}

#[test]
fn what_ends_with_a_life_ends_with_a_move() {
    for mut world in both() {
        let late = world.opened_late();
        let World { machine, manager } = &mut world;
        let own = manager.open_export(machine, client(SERVER), SERVICE + 3, ANY).unwrap();
        let free = world.free();
        world.hold_to_move(SERVER).unwrap();
        assert!(world.literal(CLIENT, late as usize, LITERAL_QUEUE) == stack_queue(HELD_QUEUE));
        world.exchange_places(SERVER);
        world.relink(SERVER).unwrap();
        world.release(SERVER).unwrap();
        assert_eq!(world.machine.meaning(CLIENT, late as usize), None);
        assert_eq!(world.machine.meaning(SERVER, own as usize), None);
        assert!(world.free() > free);
        // What it has in its other place is in the table of that.
        let row = world.row(SERVER);
        let there = Client { domain: row.domain, ..client(SERVER) };
        let World { machine, manager } = &mut world;
        let former = manager.open_export(machine, client(SERVER), SERVICE + 3, ANY);
        assert_eq!(former, Err(Error::Dead), "a thread of its former life");
        let own = manager.open_export(machine, there, SERVICE + 3, ANY).unwrap() as usize;
        assert_eq!(world.machine.meaning(PLACE, own).unwrap().server, OTHER);
        assert_eq!(world.machine.meaning(SERVER, own), None);
        world.moves(SERVER);
        assert_eq!(world.machine.meaning(PLACE, own), None);
        world.check_moved();
    }
}

/// No step of a move takes room, and what a client has used up is nobody else's matter.
#[test]
fn a_client_without_room_is_in_nobodys_way() {
    for mut world in both() {
        let mut opened = Vec::new();
        loop {
            let World { machine, manager } = &mut world;
            let free = world_free(manager);
            match manager.open_export(machine, client(CLIENT), SERVICE, ANY) {
                Ok(first) => opened.push(first),
                Err(error) => {
                    assert_eq!(error, Error::Exhausted);
                    assert_eq!(world_free(manager), free, "what was made of it went back");
                    break;
                }
            }
        }
        assert!(opened.len() > 10);
        for _ in 0..3 {
            world.moves(SERVER);
            world.check_moved();
        }
        let World { machine, manager } = &mut world;
        for first in &opened {
            manager.close(machine, client(CLIENT), *first).unwrap();
        }
        // All of it is there again.
        for _ in &opened {
            manager.open_export(machine, client(CLIENT), SERVICE, ANY).unwrap();
        }
        world.check_moved();
    }
}

fn world_free(manager: &Manager) -> u64 {
    manager.usage().1
}

/// One that calls it moves as well: in either place it finds the server where that is.
#[test]
fn two_that_move_find_each_other() {
    for mut world in both() {
        let import = FIRST as usize + 1;
        for (round, of) in [SERVER, CLIENT, SERVER, SERVER, CLIENT, CLIENT].into_iter().enumerate()
        {
            world.moves(of);
            world.check_moved();
            let is_away = world.row(SERVER).is_away != 0;
            for place in [CLIENT, CLIENTS_PLACE] {
                let server = world.machine.meaning(place, import).unwrap().server;
                assert_eq!(server == PLACE, is_away, "{round} {place}");
            }
            assert_eq!(
                world.manager.maker().server_of(&world.machine, CLIENT, import as u64),
                Ok(SERVER)
            );
        }
    }
}
