//! Instances that come and go while the system runs.

use super::{KEPT, NAMES, SERVER, STATE_VERSION, Server, know, locked, who};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, DomainId, Error, InstanceId};
use cairn_abi::signature::{SIGNATURE_MAXIMUM, split};
use cairn_interfaces::{DomainPortals, InPlace, PAIRS_SIZE, RUN_TIME_NAMES, StatePlace};
use cairn_portals::known::Known;
use cairn_portals::machine::Machine;
use cairn_portals::make::Purpose;
use cairn_portals::registrations::NAME_MAXIMUM;

impl DomainPortals for Server {
    fn add_domain(&self, instance: InstanceId) -> Result<(), Error> {
        locked(|manager, machine| {
            manager.make_domain(machine, instance)?;
            know(instance, machine.layout().instance(instance)?.domain);
            Ok(())
        })
    }

    fn connect(
        &self,
        instance: InstanceId,
        first: u64,
        server: ReadWindow<'_>,
        version: u64,
        interface: ReadWindow<'_>,
    ) -> Result<(), Error> {
        let mut name_buffer = [0; NAME_MAXIMUM];
        let name = &*server.copy(&mut name_buffer)?;
        let mut buffer = [0; SIGNATURE_MAXIMUM];
        let (interface, signature) =
            split(interface.copy(&mut buffer)?).ok_or(Error::BadArgument)?;
        let known = Known { version, signature };
        locked(|manager, machine| {
            // In the name of the instance; what servers register at run time can go at any time, so no import leads there.
            let number = match NAMES.look_up(instance, name)? {
                number @ ..RUN_TIME_NAMES => number as usize,
                _ => return Err(Error::NotSupported),
            };
            manager.connect(machine, (instance, first), number, interface, known)
        })
    }

    fn fork(&self, instance: InstanceId, intercept: u64, from: u64) -> Result<u64, Error> {
        locked(|manager, machine| manager.fork(machine, instance, intercept, from))
    }

    fn user_of(&self, instance: InstanceId, from: InstanceId) -> Result<InstanceId, Error> {
        locked(|manager, machine| manager.user_of(machine, instance, from))
    }

    fn retire_domain(&self, instance: InstanceId, from: u64) -> Result<u64, Error> {
        locked(|manager, machine| {
            let next = manager.retire_domain(machine, instance, from)?;
            if next == 0 {
                know(instance, DomainId(0));
            }
            Ok(next)
        })
    }

    fn hold(&self, caller: Caller, instance: InstanceId, in_place: bool) -> Result<(), Error> {
        let purpose = if in_place { Purpose::InPlace } else { Purpose::Successor };
        hold(caller, instance, purpose)
    }

    fn hold_to_move(&self, caller: Caller, instance: InstanceId) -> Result<(), Error> {
        hold(caller, instance, Purpose::Move)
    }

    fn is_quiet(&self, caller: Caller, instance: InstanceId) -> Result<bool, Error> {
        locked(|manager, machine| manager.is_quiet(machine, instance, caller.0))
    }

    fn lead(&self, caller: Caller, first: u64, to: InstanceId) -> Result<(), Error> {
        locked(|manager, machine| manager.lead(machine, caller.0, first, to))
    }

    fn leave_domain(&self, instance: InstanceId, from: u64) -> Result<u64, Error> {
        locked(|manager, machine| manager.leave_domain(machine, instance, from))
    }

    fn relink(&self, instance: InstanceId) -> Result<(), Error> {
        let mut next = Some(0);
        while let Some(place) = next {
            next = locked(|manager, machine| manager.relink(machine, instance, place))?;
        }
        // One that moves is in another.
        locked(|manager, _| {
            know(instance, manager.instances().get(instance)?.domain);
            Ok(())
        })
    }

    fn enter_between(&self, instance: InstanceId) -> Result<(), Error> {
        locked(|manager, _| manager.enter_between(instance))
    }

    fn repoint(&self, pairs: ReadWindow<'_>, step: u64) -> Result<u64, Error> {
        let mut buffer = [0; PAIRS_SIZE];
        let pairs = cairn_interfaces::pairs(pairs.copy(&mut buffer)?);
        locked(|manager, machine| Ok(manager.repoint(machine, pairs, step).unwrap_or(0)))
    }

    fn release(&self, caller: Caller, instance: InstanceId) -> Result<(), Error> {
        while !locked(|manager, machine| manager.release_step(machine, caller.0, instance))? {}
        Ok(())
    }
}

fn hold(caller: Caller, instance: InstanceId, purpose: Purpose) -> Result<(), Error> {
    let holder = who(caller)?;
    locked(|manager, machine| manager.begin_hold(machine, holder, instance, purpose))?;
    loop {
        match locked(|manager, machine| manager.hold_step(machine, caller.0, instance)) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => {
                // A wait for the lock may have been cancelled. Of what was refused nothing is left.
                let _ = SERVER.release(caller, instance);
                return Err(error);
            }
        }
    }
}

impl InPlace for Server {
    fn state(&self) -> Result<StatePlace, Error> {
        Ok(StatePlace::of(&KEPT, STATE_VERSION))
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, env!("CARGO_PKG_VERSION").as_bytes())
    }
}
