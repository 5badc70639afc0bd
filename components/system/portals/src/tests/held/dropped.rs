//! Exports that came with a successor, and go with the next.

use super::*;
use cairn_abi::descriptor::name;
use cairn_abi::record::Export;

impl World {
    /// The record has one more export, the last, that came with a successor; it says from now on who serves it.
    fn add_export(&mut self) -> usize {
        let exports = self.machine.layout.exports;
        let added = Export { name: name("more"), is_added: 1, ..exports[SERVICE] };
        self.machine.layout.exports = fake::leak([exports, &[added]].concat());
        exports.len()
    }

    fn served_by(&mut self, server: InstanceId) {
        let mut exports = self.machine.layout.exports.to_vec();
        exports.last_mut().unwrap().instance = server;
        self.machine.layout.exports = fake::leak(exports);
    }
}

#[test]
fn what_is_not_served_any_more_leads_nowhere() {
    for wrapped in [false, true] {
        let mut world = world();
        let number = world.add_export();
        let open = |world: &mut World| {
            let World { machine, manager } = world;
            manager.open_export(machine, client(CLIENT), number, ANY).map(|first| first as usize)
        };
        let kept = [world.opened(CLIENT), world.numbers(CLIENT, 7)];
        if wrapped {
            world.put_between();
        }
        let opened: Vec<usize> = (0..20).map(|_| open(&mut world).unwrap()).collect();
        let leads = |world: &World, index: usize| world.machine.meaning(CLIENT, index).is_some();
        // On its trial, and back.
        world.hold(SERVER).unwrap();
        world.served_by(NO_INSTANCE);
        world.relink(SERVER).unwrap();
        assert!(opened.iter().all(|index| leads(&world, *index)), "callers wait");
        world.served_by(SERVER);
        world.relink(SERVER).unwrap();
        world.release(SERVER).unwrap();
        assert!(opened.iter().all(|index| leads(&world, *index)));
        // For good; the holder dies before it releases.
        world.hold(SERVER).unwrap();
        let later = open(&mut world).unwrap();
        world.served_by(NO_INSTANCE);
        world.machine.set_alive(HOLDER, false);
        world.die(HOLDER);
        assert!(opened.iter().chain([&later]).all(|index| !leads(&world, *index)));
        assert!(kept.iter().all(|index| leads(&world, *index)), "what it serves stays");
        assert!(open(&mut world).is_err());
        world.check(SERVER, false);
        // Its holder gives the indexes up, as others.
        for index in opened {
            world.manager.close(&world.machine, client(CLIENT), index as u64).unwrap();
        }
    }
}
