//! Serves valves. Each is a thing that only one client can have, so the server remembers who has it.
#![no_std]
#![cfg_attr(not(test), no_main)]
#![forbid(unsafe_code)]

use cairn::object::ObjectTable;
use cairn::sync::Mutex;
use cairn::{Caller, Object, Place};
use cairn_example_valves_contract::{Valve, ValveError, Valves};
use cairn_interfaces::Portals;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

const VALVES: usize = 4;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "valves-server",
    imports: { portals: Portals },
    exports: { valves: Valves = SERVER },
    objects: { valve: Valve = HELD },
}

/// The client that has a valve, in which of its lives, and the object by which it does.
#[derive(Clone, Copy)]
struct Owner {
    client: Caller,
    life: u64,
    control: u64,
}

/// A valve that somebody has.
struct Held {
    number: usize,
    percent: AtomicU8,
    /// Its own control word, once it is in the table.
    control: AtomicU64,
}

static OWNERS: Mutex<[Option<Owner>; VALVES]> = Mutex::new([None; VALVES]);
/// Twice as many as there are valves: one that was released lasts until the last call in it has left.
static HELD: ObjectTable<Held, { 2 * VALVES }> = ObjectTable::new();

impl Owner {
    /// Nobody tells a server that a client died: it asks.
    fn has_ended(&self) -> bool {
        imports::PORTALS.has_ended(self.client, self.life)
    }
}

impl Valves for Server {
    fn reserve(&self, place: Place, number: u64) -> Result<Object<dyn Valve>, ValveError> {
        let number = usize::try_from(number).map_err(|_| ValveError::NoSuchValve)?;
        let mut owners = OWNERS.lock()?;
        let owner = owners.get_mut(number).ok_or(ValveError::NoSuchValve)?;
        if let Some(before) = owner {
            if !before.has_ended() {
                return Err(ValveError::Reserved);
            }
            // Its portals went with the client.
            let _ = HELD.remove(before.control);
            *owner = None;
        }
        let client = place.client();
        let life = imports::PORTALS.life(client.0)?;
        let held = Held { number, percent: AtomicU8::new(0), control: AtomicU64::new(0) };
        let control = HELD.insert(held)?;
        HELD.with(control, |held| held.control.store(control, Relaxed))?;
        let object = imports::PORTALS.grant(place, control).inspect_err(|_| {
            // Nobody knows it.
            let _ = HELD.remove(control);
        })?;
        *owner = Some(Owner { client, life, control });
        Ok(object)
    }

    fn position(&self, number: u64) -> Result<u8, ValveError> {
        let number = usize::try_from(number).map_err(|_| ValveError::NoSuchValve)?;
        let owner = *OWNERS.lock()?.get(number).ok_or(ValveError::NoSuchValve)?;
        let Some(owner) = owner.filter(|owner| !owner.has_ended()) else { return Ok(0) };
        Ok(HELD.with(owner.control, |held| held.percent.load(Relaxed)).unwrap_or(0))
    }
}

impl Valve for Held {
    fn turn(&self, percent: u8) -> Result<(), ValveError> {
        if percent > 100 {
            return Err(ValveError::TooFar);
        }
        self.percent.store(percent, Relaxed);
        Ok(())
    }

    fn release(&self) -> Result<(), ValveError> {
        let control = self.control.load(Relaxed);
        let mut owners = OWNERS.lock()?;
        owners[self.number].take_if(|owner| owner.control == control);
        Ok(HELD.remove(control)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn::{Error, InstanceId};
    use cairn_interfaces::PortalsMock;

    #[test]
    fn a_valve_is_its_owners_until_that_has_ended() {
        let client = Caller(InstanceId(7));
        let held = Held { number: 2, percent: AtomicU8::new(0), control: AtomicU64::new(0) };
        let control = HELD.insert(held).unwrap();
        OWNERS.lock().unwrap()[2] = Some(Owner { client, life: 3, control });
        HELD.with(control, |held| held.turn(40)).unwrap().unwrap();
        assert_eq!(HELD.with(control, |held| held.turn(101)), Ok(Err(ValveError::TooFar)));

        for (life, percent) in
            [(Ok(3), 40), (Err(Error::Exhausted), 40), (Ok(4), 0), (Err(Error::Dead), 0)]
        {
            imports::PORTALS.answered_by(PortalsMock::default().life(move |asked| {
                assert_eq!(asked, InstanceId(7));
                life
            }));
            assert_eq!(SERVER.position(2), Ok(percent), "{life:?}");
        }
        assert_eq!(SERVER.position(4), Err(ValveError::NoSuchValve));
    }
}
