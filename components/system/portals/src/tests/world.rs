//! The manager and its machine.

use super::*;

pub const ANY: Known<'static> = Known { version: 0, signature: b"" };

pub struct World {
    pub machine: Fake,
    pub manager: Box<Manager>,
}

pub fn world() -> World {
    world_on(Fake::new())
}

pub fn world_on(machine: Fake) -> World {
    let mut manager = Box::new(Manager::EMPTY);
    manager.begin(&machine, MANAGER, FIRST, machine.interfaces(), 0).unwrap();
    World { machine, manager }
}

pub fn client(instance: InstanceId) -> Client {
    Client { instance, domain: domain_of(instance), generation: 0 }
}

impl World {
    pub fn reserve(
        &mut self,
        instance: InstanceId,
        server: InstanceId,
        interface: &[u8],
        letters: &[u8],
    ) -> Result<u64, Error> {
        let known = Known { version: VERSION, signature: letters };
        self.manager.reserve(&self.machine, client(instance), import_of(server), interface, known)
    }

    pub fn fill(
        &mut self,
        server: InstanceId,
        to: (InstanceId, u64),
        interface: &[u8],
        control: u64,
    ) -> Result<(), Error> {
        let server =
            Client { domain: self.manager.instances().get(server)?.domain, ..client(server) };
        self.manager.make_object(&self.machine, server, to, interface, control)
    }

    pub fn die(&mut self, instance: InstanceId) {
        while self.manager.instance_died(&self.machine, instance).unwrap() != 0 {}
        self.manager.instance_starts(instance).unwrap();
    }

    pub fn free(&mut self) -> u64 {
        self.manager.usage().1
    }
}
