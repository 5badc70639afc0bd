//! Entry points: from the portals' registers to the manager and back.

mod grants;
mod interposition;
mod listing;
mod loading;
mod parameters;

use crate::describe::counters_used;
use crate::memory::Memory;
use cairn::component::Interface;
use cairn::exclusive::Exclusive;
use cairn::in_place::State as InPlace;
use cairn::measure::{Cost, Stamp};
use cairn::sync::methods::A_LOCK;
use cairn::window::ReadWindow;
use cairn::{Caller, DomainId, Error, InstanceId, environment, time};
use cairn_abi::address;
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM, NAME_SIZE};
use cairn_abi::domain::{self, Tables};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::semaphore::{LOCK_PORTALS, SEMAPHORE_PORTALS};
use cairn_abi::signature::{SIGNATURE_MAXIMUM, split};
use cairn_interfaces::{self as interfaces, LockError, RUN_TIME_NAMES};
use cairn_portal::Trust;
use cairn_portal::specification::{self, Specification, Stack};
use cairn_portals::known::{Client, Known};
use cairn_portals::machine::Machine;
use cairn_portals::manager::Manager;
use cairn_portals::manager::wrap::ENTRANCE;
use cairn_portals::registrations::NAME_MAXIMUM;
use cairn_portals::synchronisation::Interfaces;
use core::num::NonZero;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};

struct Server;
static SERVER: Server = Server;

/// Bytes of the signatures of most interfaces.
const SHORT: usize = 64;

/// All that lasts: a successor goes on with it. What in it names something of this content, [`renew`] says.
static KEPT: InPlace<Kept> = InPlace::new(Kept {
    state: Exclusive::new(State { manager: Manager::EMPTY, machine: None }),
    domains: [const { AtomicU16::new(0) }; INSTANCES_MAXIMUM],
    lock: AtomicU32::new(0),
    table_entries: AtomicU16::new(0),
});
/// Raise it with each change of what is in there.
const STATE_VERSION: u64 = 4;

struct Kept {
    /// The one manager, and what it reaches, once it has begun.
    state: Exclusive<State>,
    /// Each instance's domain as the record has it, zero where it has none: known without the lock once the manager has begun.
    domains: [AtomicU16; INSTANCES_MAXIMUM],
    /// First portal of the lock around the manager, when it has been started.
    lock: AtomicU32,
    /// Entries of the portal tables, known with the domains.
    table_entries: AtomicU16,
}

struct State {
    manager: Manager,
    machine: Option<Memory>,
}

const SYNCHRONISATION: Interfaces = Interfaces {
    semaphore: &<dyn interfaces::Semaphore>::DESCRIPTOR,
    lock: &<dyn interfaces::Lock>::DESCRIPTOR,
};

cairn::component! {
    name: "portals",
    imports: {
        scheduler: interfaces::SchedulerObjects,
        threads: interfaces::Threads,
        names: interfaces::Names,
        name_control: interfaces::NameControl,
    },
    exports: {
        portals: interfaces::Portals = SERVER,
        control: interfaces::PortalControl = SERVER,
        domains: interfaces::DomainPortals = SERVER,
        listing: interfaces::PortalListing = SERVER,
        types: interfaces::ParameterTypes = SERVER,
        connections: interfaces::Connections = SERVER,
        grants: interfaces::Grants = SERVER,
        interposition: interfaces::Interposition = SERVER,
        in_place: interfaces::InPlace = SERVER,
    },
    main: main,
}

pub use imports::{NAME_CONTROL, SCHEDULER};
use imports::{NAMES, THREADS};

// For each that a client may make the layout keeps room for so many portals.
const _: () = assert!(
    <dyn interfaces::Semaphore>::DESCRIPTOR.method_count == SEMAPHORE_PORTALS
        && <dyn interfaces::Lock>::DESCRIPTOR.method_count == LOCK_PORTALS
);

/// Of this content.
static PHASE: AtomicU8 = AtomicU8::new(UNTOUCHED);
const UNTOUCHED: u8 = 0;
const STARTING: u8 = 1;
const STARTED: u8 = 2;

/// Starts the manager, unless a call of a client came first and did.
fn main() {
    // A caller that comes later tries again, and is told why not.
    let _ = start();
}

/// Starts the manager. A caller with a higher priority that comes meanwhile sleeps until that is done;
/// it happens once. If it fails, because the caller's invocation stack is almost full, it is as if it
/// had not begun.
fn start() -> Result<(), Error> {
    loop {
        match PHASE.compare_exchange(UNTOUCHED, STARTING, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                let begun = match KEPT.lock.load(Ordering::Acquire) {
                    0 => KEPT.state.with(begin),
                    // Somebody may be in the former content.
                    _ => with_lock(|| KEPT.state.with(renew)),
                };
                PHASE.store(if begun.is_ok() { STARTED } else { UNTOUCHED }, Ordering::Release);
                return begun;
            }
            Err(STARTED) => return Ok(()),
            Err(_) => THREADS.sleep_until(time::now() + time::ticks(200))?,
        }
    }
}

fn begin(State { manager, machine }: &mut State) -> Result<(), Error> {
    let memory = machine.insert(Memory::find()?);
    KEPT.table_entries.store(memory.layout().header.table_entries as u16, Ordering::Relaxed);
    memory.layout().described().for_each(|one| know(one.number, one.domain));
    let own = environment::startup().instance;
    let counters = counters_used(memory);
    let lock = manager.begin(memory, own, SCHEDULER.first_portal(), SYNCHRONISATION, counters)?;
    KEPT.lock.store(lock as u32, Ordering::Release);
    Ok(())
}

/// This content takes over from another one.
fn renew(State { manager, machine }: &mut State) -> Result<(), Error> {
    machine.replace(Memory::find()?);
    manager.renew(SYNCHRONISATION);
    Ok(())
}

/// Says in this component's log what there is no more of, if that is why somebody got an error.
#[cold]
#[inline(never)]
fn tell(manager: &mut Manager) {
    if let Some(refusal) = manager.refusal() {
        cairn::log::warn!(target: "refused", "{refusal}");
    }
}

/// Runs `body` with the manager, one caller at a time. The lock inherits priorities.
fn locked<R>(body: impl FnOnce(&mut Manager, &Memory) -> Result<R, Error>) -> Result<R, Error> {
    start()?;
    with_lock(|| {
        KEPT.state.with(|state| match &state.machine {
            Some(machine) => {
                body(&mut state.manager, machine).inspect_err(|_| tell(&mut state.manager))
            }
            None => Err(Error::NotSupported),
        })
    })
}

/// Runs `body`, one caller at a time.
#[inline(always)]
fn with_lock<R>(body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let lock = interfaces::LockProxy::at(KEPT.lock.load(Ordering::Acquire));
    lock.lock().map_err(|error| match error {
        // No component ends a thread that is in here; if one did, the tables would be half changed.
        LockError::OwnerEnded => panic!("a thread ended inside the portal manager"),
        LockError::Portal(error) => error,
    })?;
    let result = body();
    lock.unlock()?;
    result
}

/// From now on an instance has this domain; [`DomainId`] 0: there is none.
fn know(instance: InstanceId, domain: DomainId) {
    if let Some(place) = KEPT.domains.get(instance.index()) {
        place.store(domain.0, Ordering::Relaxed);
    }
}

/// The domain of an instance, if it is one of the record.
fn domain_of(instance: InstanceId) -> Result<DomainId, Error> {
    let domain =
        || KEPT.domains.get(instance.index()).map_or(0, |domain| domain.load(Ordering::Relaxed));
    let known = match domain() {
        0 => {
            start()?;
            domain()
        }
        known => known,
    };
    if known == 0 { Err(Error::BadArgument) } else { Ok(DomainId(known)) }
}

/// A word of a domain block.
fn domain_word(domain: DomainId, field: i64) -> Result<u64, Error> {
    let domains = environment::section("domains").ok_or(Error::NotSupported)?;
    let tables = Tables::of(KEPT.table_entries.load(Ordering::Relaxed).into());
    let table = tables.portal_table(domain) - address::DOMAINS;
    let at = table.wrapping_add_signed(field) as usize;
    if at >= domains.size() { Err(Error::BadArgument) } else { Ok(domains.load(at)) }
}

/// How often a domain was started: a thread that outlives its domain in here must not
/// open anything for the successor.
fn generation(domain: DomainId) -> Result<u64, Error> {
    domain_word(domain, domain::FIELD_GENERATION)
}

/// The caller, in the life that it has now.
fn who(caller: Caller) -> Result<Client, Error> {
    let domain = domain_of(caller.0)?;
    Ok(Client { instance: caller.0, domain, generation: generation(domain)? })
}

/// Runs `body` with an interface as the caller knows it.
#[inline(always)]
fn with_known<R>(
    version: u64,
    signature: ReadWindow<'_>,
    body: impl FnOnce(Known<'_>) -> Result<R, Error>,
) -> Result<R, Error> {
    let (mut short, mut long);
    let buffer: &mut [u8] = match signature.len() {
        // What most interfaces need: clearing the longest would be a tenth of an opening.
        ..=SHORT => {
            short = [0; SHORT];
            &mut short
        }
        _ => {
            long = [0; SIGNATURE_MAXIMUM];
            &mut long
        }
    };
    body(Known { version, signature: signature.copy(buffer)? })
}

/// Registers methods; whether they are an interposer's entrance. What this takes of the stack is free again when that is put before others.
#[inline(never)]
fn register_methods(
    server: Client,
    name: ReadWindow<'_>,
    policy: ReadWindow<'_>,
    methods: ReadWindow<'_>,
) -> Result<bool, Error> {
    let (mut name_buffer, mut policy_buffer) = ([0; NAME_MAXIMUM], [0; 256]);
    let (name, policy) = (name.text(&mut name_buffer)?, policy.text(&mut policy_buffer)?);
    let mut bytes = [0; 8 + 24 * METHODS_MAXIMUM];
    let bytes: &[u8] = methods.copy(&mut bytes)?;
    locked(|manager, machine| manager.register(machine, server, name, policy, bytes))?;
    Ok(matches!(name.rsplit_once('.'), Some((_, ENTRANCE))))
}

impl interfaces::Portals for Server {
    fn open(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        version: u64,
        signature: ReadWindow<'_>,
    ) -> Result<u64, Error> {
        let client = who(caller)?;
        let mut buffer = [0; NAME_MAXIMUM];
        let name = &*name.copy(&mut buffer)?;
        with_known(version, signature, |known| {
            locked(|manager, machine| {
                // Inside the lock: one thread at a time calls the name server, so none waits for its one
                // stack, and a thread that waits for the lock lends its priority.
                let found = NAMES.look_up(client.instance, name);
                // Every name that there is is text: only of others does it matter that they are not.
                let number = found.map_err(|error| match core::str::from_utf8(name) {
                    Err(_) if error == Error::NotFound => Error::Malformed,
                    _ => error,
                })?;
                match number {
                    ..RUN_TIME_NAMES => {
                        manager.open_export(machine, client, number as usize, known)
                    }
                    _ => manager.open_registration(machine, client, number, known),
                }
            })
        })
    }

    fn close(&self, caller: Caller, first: u64) -> Result<(), Error> {
        let client = who(caller)?;
        locked(|manager, machine| manager.close(machine, client, first))
    }

    fn revoke(
        &self,
        caller: Caller,
        export: ReadWindow<'_>,
        client: InstanceId,
    ) -> Result<u64, Error> {
        let server = who(caller)?;
        let mut buffer = [0; NAME_MAXIMUM];
        let export = export.text(&mut buffer)?;
        locked(|manager, machine| manager.revoke(machine, server, export, client))
    }

    fn reserve(
        &self,
        caller: Caller,
        server: u64,
        version: u64,
        interface: ReadWindow<'_>,
    ) -> Result<u64, Error> {
        let client = who(caller)?;
        let mut buffer = [0; SIGNATURE_MAXIMUM];
        let interface: &[u8] = interface.copy(&mut buffer)?;
        let (name, letters) = split(interface).ok_or(Error::BadArgument)?;
        let known = Known { version, signature: letters };
        locked(|manager, machine| manager.reserve(machine, client, server, name, known))
    }

    fn make_object(
        &self,
        caller: Caller,
        client: InstanceId,
        place: u64,
        interface: ReadWindow<'_>,
        control: u64,
    ) -> Result<(), Error> {
        let server = who(caller)?;
        domain_of(client)?;
        let mut buffer = [0; NAME_SIZE];
        let interface: &[u8] = interface.copy(&mut buffer)?;
        locked(|manager, machine| {
            manager.make_object(machine, server, (client, place), interface, control)
        })
    }

    fn end_object(
        &self,
        caller: Caller,
        interface: ReadWindow<'_>,
        control: u64,
    ) -> Result<u64, Error> {
        let server = who(caller)?;
        let mut buffer = [0; NAME_SIZE];
        let interface: &[u8] = interface.copy(&mut buffer)?;
        locked(|manager, machine| manager.end_object(machine, server, interface, control))
    }

    fn make_semaphore(&self, caller: Caller, initial: u64) -> Result<u64, Error> {
        let client = who(caller)?;
        locked(|manager, machine| manager.make(machine, client, Some(initial)))
    }

    fn make_lock(&self, caller: Caller) -> Result<u64, Error> {
        let client = who(caller)?;
        locked(|manager, machine| manager.make(machine, client, None))
    }

    fn make_once(&self, caller: Caller, label: u32, initial: u64) -> Result<u64, Error> {
        let client = who(caller)?;
        let label = NonZero::new(label).ok_or(Error::BadArgument)?;
        let initial = (initial != A_LOCK).then_some(initial);
        locked(|manager, machine| manager.make_once(machine, client, label, initial))
    }

    fn publish(
        &self,
        caller: Caller,
        first: u64,
        name: ReadWindow<'_>,
        policy: ReadWindow<'_>,
    ) -> Result<(), Error> {
        let server = who(caller)?;
        let (mut name_buffer, mut policy_buffer) = ([0; NAME_MAXIMUM], [0; 256]);
        let (name, policy) = (name.text(&mut name_buffer)?, policy.text(&mut policy_buffer)?);
        locked(|manager, machine| manager.publish(machine, server, first, name, policy))
    }

    fn register(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        policy: ReadWindow<'_>,
        methods: ReadWindow<'_>,
    ) -> Result<(), Error> {
        let server = who(caller)?;
        match register_methods(server, name, policy, methods)? {
            true => {
                interposition::go_on(server.instance)?;
                interposition::stand_as_described(server.instance)
            }
            false => Ok(()),
        }
    }

    fn unregister(&self, caller: Caller, name: ReadWindow<'_>) -> Result<(), Error> {
        let server = who(caller)?;
        let mut buffer = [0; NAME_MAXIMUM];
        let name = name.text(&mut buffer)?;
        locked(|manager, machine| manager.unregister(machine, server, name))
    }

    fn admit(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error> {
        let server = who(caller)?;
        domain_of(client)?;
        let mut buffer = [0; NAME_MAXIMUM];
        let name = name.text(&mut buffer)?;
        locked(|_, machine| server.admit(machine, name, client, admitted))
    }

    fn size(&self, caller: Caller, first: u64) -> Result<u64, Error> {
        domain_of(caller.0)?;
        locked(|manager, _| manager.size(caller.0, first))
    }

    fn life(&self, instance: InstanceId) -> Result<u64, Error> {
        let domain = domain_of(instance)?;
        match domain_word(domain, domain::FIELD_ALIVE)? {
            0 => Err(Error::Dead),
            _ => generation(domain),
        }
    }
}

impl interfaces::PortalControl for Server {
    fn instance_died(&self, instance: InstanceId) -> Result<u64, Error> {
        locked(|manager, machine| manager.instance_died(machine, instance))
    }

    fn instance_starts(&self, instance: InstanceId) -> Result<(), Error> {
        locked(|manager, _| manager.instance_starts(instance))
    }

    fn measure(&self, caller: Caller, specification: ReadWindow<'_>) -> Result<Cost, Error> {
        let client = who(caller)?;
        let mut buffer = [0; 2 + LETTERS_SIZE];
        let text = specification.text(&mut buffer)?;
        let specification = Specification::parse(text).map_err(|_| Error::BadArgument)?;
        // The caller neither runs to completion nor in the kernel domain.
        if matches!(specification.stack, Stack::RunToCompletion | Stack::Kernel) {
            return Err(Error::BadArgument);
        }
        let trust = Trust {
            shared_stack: specification.stack == Stack::Shared,
            minimal_state: specification.state == specification::State::Minimal,
        };
        let mut letters = [0; LETTERS_SIZE];
        letters[..text.len() - 2].copy_from_slice(&text.as_bytes()[2..]);
        locked(|manager, machine| {
            let before = Stamp::begin();
            let made = manager.make_measured(machine, client, trust, letters);
            let after = Stamp::end();
            manager.close(machine, client, made?)?;
            Ok(after - before)
        })
    }
}

impl interfaces::Connections for Server {
    fn exchange(
        &self,
        client: InstanceId,
        from: ReadWindow<'_>,
        to: ReadWindow<'_>,
    ) -> Result<(), Error> {
        domain_of(client)?;
        let (mut from_buffer, mut to_buffer) = ([0; NAME_MAXIMUM], [0; NAME_MAXIMUM]);
        let (from, to) = (&*from.copy(&mut from_buffer)?, &*to.copy(&mut to_buffer)?);
        locked(|manager, machine| {
            // The client may open both.
            let number = |name| match NAMES.look_up(client, name)? {
                number @ ..RUN_TIME_NAMES => Ok(number as usize),
                _ => Err(Error::NotSupported),
            };
            manager.exchange(machine, client, (number(from)?, number(to)?))
        })
    }
}
