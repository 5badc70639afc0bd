//! Decides itself who opens what it registered.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::component::Interface;
use cairn::window::ReadWindow;
use cairn::{Caller, Error};
use cairn_abi::InstanceId;
use cairn_abi::descriptor::Reply;
use cairn_interfaces::{Door, Portals, Threads};
use cairn_test_delegation_contract::{Gate, Treasure, mode};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static MODE: AtomicU64 = AtomicU64::new(mode::ALLOW);
static ASKED: AtomicU64 = AtomicU64::new(0);

const NAME: &str = "gate.treasure";

cairn::component! {
    name: "delegation-gate",
    imports: { portals: Portals, threads: Threads },
    exports: { gate: Gate = SERVER, door: Door = SERVER },
    main: main,
}

extern "C" fn look(_: u64, _: u64, _: u64, _: u64, _: u64, _: u64, _: u64, _: u64) -> Reply {
    Reply { status: 0, value: 42 }
}

fn main() {
    let mut methods = [0; 32];
    methods[..8].copy_from_slice(&<dyn Treasure>::DESCRIPTOR.version.to_le_bytes());
    methods[8] = b'c';
    methods[24..].copy_from_slice(&(look as *const () as u64).to_le_bytes());
    imports::PORTALS.register(NAME, "ask", &methods).expect("the name is free");
}

impl Door for Server {
    fn ask(&self, caller: Caller, name: ReadWindow<'_>) -> Result<(), Error> {
        ASKED.fetch_add(1, Relaxed);
        let mut buffer = [0; 64];
        if name.text(&mut buffer)? != NAME {
            return Err(Error::NotFound);
        }
        match MODE.load(Relaxed) {
            mode::ALLOW => imports::PORTALS.admit(NAME, caller.0, true),
            mode::SILENT => imports::THREADS.sleep_until(u64::MAX / 2),
            mode::FORGET => Ok(()),
            _ => Err(Error::NotAllowed),
        }
    }
}

impl Gate for Server {
    fn set_mode(&self, mode: u64) -> Result<(), Error> {
        MODE.store(mode, Relaxed);
        Ok(())
    }

    fn asked(&self) -> Result<u64, Error> {
        Ok(ASKED.load(Relaxed))
    }

    fn dismiss(&self, client: u64) -> Result<(), Error> {
        imports::PORTALS.admit(NAME, InstanceId(client as u16), false)?;
        imports::PORTALS.revoke("treasure", InstanceId(client as u16)).map(drop)
    }
}
