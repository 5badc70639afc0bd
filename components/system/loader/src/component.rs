//! Entry points.

use super::failure::unloading;
use super::lasting::{self, LASTING, Loads, Prepared};
use super::{asked, fork, load, moving, replace};
use cairn::exclusive::Exclusive;
use cairn::fork::Point;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, InstanceId};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::package::HEAD_MAXIMUM;
use cairn_interfaces as interfaces;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "loader",
    imports: {
        packages: interfaces::Packages,
        memory: interfaces::Memory,
        portals: interfaces::Portals,
        domain_memory: interfaces::DomainMemory,
        domain_portals: interfaces::DomainPortals,
        instances: interfaces::InstanceControl,
        threads: interfaces::Threads,
    },
    exports: {
        loader: interfaces::Loader = SERVER,
        replacement: interfaces::Replacement = SERVER,
        in_place: interfaces::InPlace = SERVER,
    },
    arguments: { keys: PublicKeys = "" },
    main: asked::main,
}

/// Public keys, of which one has to have signed what a store brings; no text: nobody has to.
pub fn keys() -> &'static str {
    arguments::keys()
}

pub use imports::{DOMAIN_MEMORY, DOMAIN_PORTALS, INSTANCES, MEMORY, PACKAGES, PORTALS, THREADS};

/// The head of the package that is loaded, in whole pages: it is passed on in a window.
#[repr(C, align(4096))]
pub struct HeadBytes(pub [u8; HEAD_MAXIMUM]);

/// Of the one load at a time.
static HEAD: Exclusive<HeadBytes> = Exclusive::new(HeadBytes([0; HEAD_MAXIMUM]));

fn with<T>(
    caller: Caller,
    body: impl FnOnce(&mut HeadBytes, &mut Prepared) -> Result<T, Error>,
) -> Result<T, Error> {
    asked::check_asker(caller.0)?;
    let mut loads = LASTING.loads.lock()?;
    asked::check_calls()?;
    if !loads.is_clear {
        INSTANCES.retire_made()?;
        loads.is_clear = true;
    }
    let Loads { prepared, failures, .. } = &mut *loads;
    let done = HEAD.with(|head| body(head, prepared));
    // Who is to call again has not failed.
    done.inspect_err(|error| {
        if *error != Error::Moved {
            failures.keep(caller.0);
        }
    })
}

/// The same of an exchange: the one before is over.
fn with_settled<T>(
    caller: Caller,
    body: impl FnOnce(&mut HeadBytes) -> Result<T, Error>,
) -> Result<T, Error> {
    with(caller, |head, _| asked::settled().and_then(|()| body(head)))
}

/// Loads a package by its name as an instance of a name.
fn load(
    caller: Caller,
    (package, name): (ReadWindow<'_>, ReadWindow<'_>),
    begins: bool,
) -> Result<InstanceId, Error> {
    let (mut package_buffer, mut name_buffer) = ([0; NAME_SIZE], [0; NAME_SIZE]);
    let package = package.text(&mut package_buffer)?;
    let name = name.text(&mut name_buffer)?;
    with(caller, |head, prepared| {
        let instance = load::load(head, caller.0, (package, name), begins)?;
        if let Some(by) = prepared.get_mut(instance.index()) {
            *by = if begins { InstanceId(0) } else { caller.0 };
        }
        Ok(instance)
    })
}

impl interfaces::Loader for Server {
    fn load(
        &self,
        caller: Caller,
        package: ReadWindow<'_>,
        name: ReadWindow<'_>,
    ) -> Result<InstanceId, Error> {
        load(caller, (package, name), true)
    }

    fn prepare(
        &self,
        caller: Caller,
        package: ReadWindow<'_>,
        name: ReadWindow<'_>,
    ) -> Result<InstanceId, Error> {
        load(caller, (package, name), false)
    }

    fn begin(&self, caller: Caller, instance: InstanceId) -> Result<(), Error> {
        with(caller, |_, prepared| {
            let by = prepared.get_mut(instance.index()).filter(|by| **by == caller.0);
            *by.ok_or(Error::NotFound)? = InstanceId(0);
            load::begin(instance, "what was prepared")
        })
    }

    fn fork(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        intercept: u64,
        begins: u64,
        stack: u64,
        quotas: u64,
    ) -> Result<InstanceId, Error> {
        let mut buffer = [0; NAME_SIZE];
        let name = name.text(&mut buffer)?;
        let point = Point { begins, stack };
        with(caller, |_, _| fork::fork(caller.0, name, intercept, point, quotas))
    }

    fn unload(&self, caller: Caller, name: ReadWindow<'_>) -> Result<(), Error> {
        let mut buffer = [0; NAME_SIZE];
        let name = name.text(&mut buffer)?;
        with(caller, |_, _| {
            let ended = INSTANCES.retire_child(caller.0, name);
            ended.map_err(|error| unloading(name, error))
        })
    }

    fn explain(&self, caller: Caller, text: WriteWindow<'_>) -> Result<usize, Error> {
        asked::check_asker(caller.0)?;
        let loads = LASTING.loads.lock()?;
        text.write(0, loads.failures.of(caller.0)?.bytes())
    }
}

impl interfaces::Replacement for Server {
    fn replace(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        package: ReadWindow<'_>,
        milliseconds: u64,
    ) -> Result<u64, Error> {
        let (mut package_buffer, mut name_buffer) = ([0; NAME_SIZE], [0; NAME_SIZE]);
        let package = package.text(&mut package_buffer)?;
        let name = name.text(&mut name_buffer)?;
        with_settled(caller, |head| {
            let again = asked::answer(caller.0, package);
            again.unwrap_or_else(|| replace::replace(head, caller.0, name, package, milliseconds))
        })
    }

    fn move_to(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        to: interfaces::Location,
        milliseconds: u64,
    ) -> Result<u64, Error> {
        let mut buffer = [0; NAME_SIZE];
        let name = name.text(&mut buffer)?;
        with_settled(caller, |_| moving::move_to(name, to, "", milliseconds))
    }

    fn move_with(
        &self,
        caller: Caller,
        name: ReadWindow<'_>,
        other: ReadWindow<'_>,
        milliseconds: u64,
    ) -> Result<u64, Error> {
        let mut buffers = [[0; NAME_SIZE]; 2];
        let [first, second] = &mut buffers;
        let (name, other) = (name.text(first)?, other.text(second)?);
        if other.is_empty() {
            return Err(Error::BadArgument);
        }
        let to = interfaces::Location::With;
        with_settled(caller, |_| moving::move_to(name, to, other, milliseconds))
    }
}

impl interfaces::InPlace for Server {
    fn state(&self) -> Result<interfaces::StatePlace, Error> {
        Ok(lasting::place())
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, env!("CARGO_PKG_VERSION").as_bytes())
    }
}
