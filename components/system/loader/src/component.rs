//! Entry points.

use super::failure::{failed, unloading};
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
    let Loads { prepared, failures, is_clear } = &mut *loads;
    let cleared = asked::check_calls().and_then(|()| {
        if !*is_clear {
            INSTANCES.retire_made()?;
            *is_clear = true;
        }
        Ok(())
    });
    let done = cleared.and_then(|()| HEAD.with(|head| body(head, prepared)));
    // Who is to call again has not failed.
    done.inspect_err(|error| {
        if *error != Error::Moved {
            failures.keep(caller.0, *error);
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

/// Where a name of an instance or a package is copied: no longer one can be any's.
type NameBuffer = [u8; NAME_SIZE - 1];

/// The name in a window; why there is none is noted.
fn name<'a>(window: &ReadWindow<'_>, buffer: &'a mut NameBuffer) -> Result<&'a str, Error> {
    let longest = buffer.len();
    window.text(buffer).map_err(|error| {
        let length = window.len();
        match error {
            Error::TooLarge => failed(
                Error::BadArgument,
                format_args!("a name has at most {longest} characters, and this one {length}"),
            ),
            error => failed(error, format_args!("a name is text in UTF-8")),
        }
    })
}

/// Loads a package by its name as an instance of a name.
fn load(
    caller: Caller,
    (package, called): (ReadWindow<'_>, ReadWindow<'_>),
    begins: bool,
) -> Result<InstanceId, Error> {
    let mut buffers = [[0; _]; 2];
    let [first, second] = &mut buffers;
    with(caller, |head, prepared| {
        let names = (name(&package, first)?, name(&called, second)?);
        let instance = load::load(head, caller.0, names, begins)?;
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
        called: ReadWindow<'_>,
        intercept: u64,
        begins: u64,
        stack: u64,
        quotas: u64,
    ) -> Result<InstanceId, Error> {
        let mut buffer = [0; _];
        let point = Point { begins, stack };
        with(caller, |_, _| {
            fork::fork(caller.0, name(&called, &mut buffer)?, intercept, point, quotas)
        })
    }

    fn unload(&self, caller: Caller, called: ReadWindow<'_>) -> Result<(), Error> {
        let mut buffer = [0; _];
        with(caller, |_, _| {
            let called = name(&called, &mut buffer)?;
            let ended = INSTANCES.retire_child(caller.0, called);
            ended.map_err(|error| unloading(called, error))
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
        called: ReadWindow<'_>,
        package: ReadWindow<'_>,
        milliseconds: u64,
    ) -> Result<u64, Error> {
        let mut buffers = [[0; _]; 2];
        let [first, second] = &mut buffers;
        with_settled(caller, |head| {
            let (called, package) = (name(&called, first)?, name(&package, second)?);
            let again = asked::answer(caller.0, package);
            let replace = || replace::replace(head, caller.0, called, package, milliseconds);
            again.unwrap_or_else(replace)
        })
    }

    fn move_to(
        &self,
        caller: Caller,
        called: ReadWindow<'_>,
        to: interfaces::Location,
        milliseconds: u64,
    ) -> Result<u64, Error> {
        let mut buffer = [0; _];
        with_settled(caller, |_| moving::move_to(name(&called, &mut buffer)?, to, "", milliseconds))
    }

    fn move_with(
        &self,
        caller: Caller,
        called: ReadWindow<'_>,
        other: ReadWindow<'_>,
        milliseconds: u64,
    ) -> Result<u64, Error> {
        let mut buffers = [[0; _]; 2];
        let [first, second] = &mut buffers;
        with_settled(caller, |_| {
            let (called, other) = (name(&called, first)?, name(&other, second)?);
            if other.is_empty() {
                let why = format_args!("cannot move `{called}`: it has to be said with whom");
                return Err(failed(Error::BadArgument, why));
            }
            moving::move_to(called, interfaces::Location::With, other, milliseconds)
        })
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
