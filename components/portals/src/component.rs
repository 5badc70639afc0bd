//! Entry points: from the portals' registers to the manager and back.

use crate::manager::{MANAGER, Manager, Target};
use crate::services::Known;
use cairn::measure::Cost;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, CallerThread, Error, Object, environment, time};
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};
use cairn_abi::signature::SIGNATURE_MAXIMUM;
use cairn_abi::{address, domain};
use cairn_interfaces::{self as interfaces, LockError, ParameterError, RUN_TIME_NAMES};
use cairn_portal::parameter::{FRAGMENT_MAXIMUM, Why};
use cairn_portal::{Parameter, Specification, Stack};
use cairn_portals::blocks::Kind;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Most bytes of a name `instance.export`.
pub const NAME_MAXIMUM: usize = 63;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "portals",
    imports: {
        scheduler: interfaces::SchedulerControl,
        threads: interfaces::Threads,
        names: interfaces::Names,
        name_control: interfaces::NameControl,
    },
    exports: {
        portals: interfaces::Portals = SERVER,
        control: interfaces::PortalControl = SERVER,
        listing: interfaces::PortalListing = SERVER,
        types: interfaces::ParameterTypes = SERVER,
    },
    main: main,
}

pub use imports::{NAME_CONTROL, NAMES, SCHEDULER, THREADS};

/// First portal of the lock around the manager, when it has been started.
static LOCK: AtomicU32 = AtomicU32::new(0);
static PHASE: AtomicU8 = AtomicU8::new(UNTOUCHED);
const UNTOUCHED: u8 = 0;
const STARTING: u8 = 1;
const STARTED: u8 = 2;

/// Whoever comes first, mostly this, starts the manager.
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
                let begun = MANAGER.with(Manager::begin);
                LOCK.store(begun.unwrap_or(0) as u32, Ordering::Release);
                PHASE.store(if begun.is_ok() { STARTED } else { UNTOUCHED }, Ordering::Release);
                return begun.map(drop);
            }
            Err(STARTED) => return Ok(()),
            Err(_) => THREADS.sleep_until(time::now() + time::ticks(200))?,
        }
    }
}

/// Runs `body` with the manager, one caller at a time. The lock inherits priorities.
fn locked<R>(body: impl FnOnce(&mut Manager) -> Result<R, Error>) -> Result<R, Error> {
    start()?;
    let lock = interfaces::LockProxy::at(LOCK.load(Ordering::Acquire));
    lock.lock().map_err(|error| match error {
        // Nobody ends a thread that is in here; if one did, the tables would be half changed.
        LockError::OwnerEnded => panic!("a thread ended inside the portal manager"),
        LockError::Portal(error) => error,
    })?;
    let result = MANAGER.with(body);
    lock.unlock()?;
    result
}

fn number(domain: u64) -> Result<u8, Error> {
    u8::try_from(domain).ok().filter(|number| *number != 0).ok_or(Error::BadArgument)
}

/// A word of a domain block.
fn domain_word(domain: u8, field: i64) -> Result<u64, Error> {
    let domains = environment::section("domains").ok_or(Error::NotSupported)?;
    let table = domain::portal_table(domain.into()) - address::DOMAINS;
    let at = table.wrapping_add_signed(field) as usize;
    if at >= domains.size() { Err(Error::BadArgument) } else { Ok(domains.load(at)) }
}

/// How often the caller's domain was started: a thread that outlives its domain in here must not
/// open anything for the successor.
fn generation(domain: u8) -> Result<u64, Error> {
    domain_word(domain, domain::FIELD_GENERATION)
}

impl interfaces::Portals for Server {
    fn open(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        version: u64,
        signature: ReadWindow<'_>,
    ) -> Result<u64, Error> {
        let client = number(caller.0.into())?;
        let generation = generation(client)?;
        let mut buffer = [0; NAME_MAXIMUM];
        let name = name.text(&mut buffer)?;
        let mut buffer = [0; SIGNATURE_MAXIMUM];
        let known = Known { version, signature: signature.copy(&mut buffer)? };
        locked(|manager| {
            // Inside the lock: one thread at a time calls the name server, so nobody waits for its one
            // stack, and who waits for the lock lends its priority.
            let number = NAMES.look_up(client.into(), name)?;
            match number {
                ..RUN_TIME_NAMES => manager.open_export(client, generation, number as usize, known),
                _ => manager.open_registration(client, generation, number, known),
            }
        })
    }

    fn close(&self, caller: Caller, first: u64) -> Result<(), Error> {
        let client = number(caller.0.into())?;
        locked(|manager| manager.close(client, first))
    }

    fn revoke(&self, caller: Caller, export: ReadWindow<'_>, client: u64) -> Result<u64, Error> {
        let server = number(caller.0.into())?;
        let mut buffer = [0; NAME_MAXIMUM];
        let export = export.text(&mut buffer)?;
        locked(|manager| manager.revoke(server, export, client))
    }

    fn make_object(
        &self,
        caller: Caller,
        thread: CallerThread,
        client: u64,
        interface: ReadWindow<'_>,
        control: u64,
    ) -> Result<u64, Error> {
        let server = number(caller.0.into())?;
        let client = number(client)?;
        let generation = generation(client)?;
        let mut buffer = [0; NAME_MAXIMUM];
        let interface = interface.text(&mut buffer)?;
        locked(|manager| {
            manager.check_inside(thread.0, client, server)?;
            manager.make_object((client, generation), server, interface, control)
        })
    }

    fn end_object(
        &self,
        caller: Caller,
        interface: ReadWindow<'_>,
        control: u64,
    ) -> Result<u64, Error> {
        let server = number(caller.0.into())?;
        let mut buffer = [0; NAME_MAXIMUM];
        let interface = interface.text(&mut buffer)?;
        locked(|manager| {
            let export = manager.object_export(server, interface)?;
            Ok(manager.close_all(|block| block.kind == Kind::Object(export, control)))
        })
    }

    fn semaphore(
        &self,
        caller: Caller,
        initial: u64,
    ) -> Result<Object<dyn interfaces::Semaphore>, Error> {
        let client = number(caller.0.into())?;
        let generation = generation(client)?;
        let first = locked(|manager| manager.make_semaphore(client, generation, initial))?;
        Ok(Object::from_first_portal(first as u32))
    }

    fn lock(&self, caller: Caller) -> Result<Object<dyn interfaces::Lock>, Error> {
        let client = number(caller.0.into())?;
        let generation = generation(client)?;
        let first = locked(|manager| manager.make_lock(client, generation))?;
        Ok(Object::from_first_portal(first as u32))
    }

    fn publish(
        &self,
        caller: Caller,
        first: u64,
        name: ReadWindow<'_>,
        policy: ReadWindow<'_>,
    ) -> Result<(), Error> {
        let server = number(caller.0.into())?;
        let (mut name_buffer, mut policy_buffer) = ([0; NAME_MAXIMUM], [0; 256]);
        let (name, policy) = (name.text(&mut name_buffer)?, policy.text(&mut policy_buffer)?);
        locked(|manager| manager.publish(server, first, name, policy))
    }

    fn register(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        policy: ReadWindow<'_>,
        methods: ReadWindow<'_>,
    ) -> Result<(), Error> {
        let server = number(caller.0.into())?;
        let (mut name_buffer, mut policy_buffer) = ([0; NAME_MAXIMUM], [0; 256]);
        let (name, policy) = (name.text(&mut name_buffer)?, policy.text(&mut policy_buffer)?);
        let mut bytes = [0; 8 + 24 * METHODS_MAXIMUM];
        let bytes: &[u8] = methods.copy(&mut bytes)?;
        locked(|manager| manager.register(server, name, policy, bytes))
    }

    fn unregister(&self, caller: Caller, name: ReadWindow<'_>) -> Result<(), Error> {
        let server = number(caller.0.into())?;
        let mut buffer = [0; NAME_MAXIMUM];
        let name = name.text(&mut buffer)?;
        locked(|manager| manager.unregister(server, name))
    }

    fn admit(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        client: u64,
        admitted: bool,
    ) -> Result<(), Error> {
        let server = number(caller.0.into())?;
        let client = number(client)?;
        let mut buffer = [0; NAME_MAXIMUM];
        let name = name.text(&mut buffer)?;
        locked(|_| NAME_CONTROL.admit(server.into(), name, client.into(), admitted))
    }

    fn served_by(&self, caller: Caller, first: u64) -> Result<u64, Error> {
        let client = number(caller.0.into())?;
        locked(|manager| {
            let block = manager.blocks.get(manager.block_at(client, first)?);
            Ok(u64::from(block.server) | u64::from(block.count) << 32)
        })
    }

    fn life(&self, domain: u64) -> Result<u64, Error> {
        let domain = number(domain)?;
        match domain_word(domain, domain::FIELD_ALIVE)? {
            0 => Err(Error::Dead),
            _ => generation(domain),
        }
    }
}

impl interfaces::PortalControl for Server {
    fn domain_died(&self, domain: u64, cursor: u64) -> Result<u64, Error> {
        let domain = number(domain)?;
        locked(|manager| manager.domain_died(domain, cursor))
    }

    fn domain_starts(&self, domain: u64) -> Result<(), Error> {
        let domain = number(domain)?;
        locked(|manager| manager.domain_starts(domain))
    }

    fn measure(&self, caller: Caller, specification: ReadWindow<'_>) -> Result<u64, Error> {
        let client = number(caller.0.into())?;
        let generation = generation(client)?;
        let mut buffer = [0; 2 + LETTERS_SIZE];
        let text = specification.text(&mut buffer)?;
        let specification = Specification::parse(text).map_err(|_| Error::BadArgument)?;
        // The caller does not run to completion.
        if specification.stack == Stack::RunToCompletion {
            return Err(Error::BadArgument);
        }
        locked(|manager| {
            let target = Target::own_stub(client, &specification);
            let mut letters = [0; LETTERS_SIZE];
            letters[..text.len() - 2].copy_from_slice(&text.as_bytes()[2..]);
            manager.measure((client, generation), &target, letters).map(Cost::to_word)
        })
    }
}

/// The instructions of a fragment: how many.
fn instructions(
    bytes: ReadWindow<'_>,
    buffer: &mut [u32; FRAGMENT_MAXIMUM],
) -> Result<usize, ParameterError> {
    let mut copy = [0; FRAGMENT_MAXIMUM * 4];
    let copied: &[u8] = bytes.copy(&mut copy).map_err(|_| ParameterError::BadLength)?;
    let (words, []) = copied.as_chunks::<4>() else { return Err(ParameterError::BadLength) };
    for (instruction, bytes) in buffer.iter_mut().zip(words) {
        *instruction = u32::from_le_bytes(*bytes);
    }
    Ok(words.len())
}

fn refusal(error: cairn_portal::ParameterError) -> ParameterError {
    match error.why {
        Why::Letter => ParameterError::BadLetter,
        Why::Taken => ParameterError::Taken,
        Why::Words => ParameterError::BadWords,
        Why::Length => ParameterError::BadLength,
        Why::Jump => ParameterError::Jump,
        Why::System => ParameterError::System,
        Why::Memory => ParameterError::Memory,
        Why::Instruction => ParameterError::BadInstruction,
        Why::Written => ParameterError::WrongRegister,
        Why::Unset => ParameterError::Unset,
    }
}

impl interfaces::ParameterTypes for Server {
    fn register_parameter(
        &self,
        letter: u64,
        words: u64,
        call: ReadWindow<'_>,
        back: ReadWindow<'_>,
    ) -> Result<(), ParameterError> {
        let (mut in_buffer, mut back_buffer) = ([0; FRAGMENT_MAXIMUM], [0; FRAGMENT_MAXIMUM]);
        let (in_count, back_count) =
            (instructions(call, &mut in_buffer)?, instructions(back, &mut back_buffer)?);
        let letter = u8::try_from(letter).map_err(|_| ParameterError::BadLetter)?;
        let (call, back) = (&in_buffer[..in_count], &back_buffer[..back_count]);
        let parameter = Parameter::new(letter, words, call, back).map_err(refusal)?;
        locked(|manager| Ok(manager.types.register(parameter).map_err(refusal)))?
    }
}

impl interfaces::PortalListing for Server {
    fn describe(&self, domain: u64, index: u64, text: WriteWindow<'_>) -> Result<u64, Error> {
        let domain = number(domain)?;
        locked(|manager| {
            let (index, line) = manager.describe(domain, index)?;
            Ok(text.write(0, line.bytes()) as u64 | (index as u64) << 32)
        })
    }

    fn usage(&self) -> Result<u64, Error> {
        locked(|manager| Ok(manager.usage()))
    }
}
