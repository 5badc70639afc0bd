//! Registers names at run time, which no description knows, and passes on what it has opened.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Caller, InstanceId};
use cairn_abi::Error;
use cairn_abi::descriptor::Reply;
use cairn_interfaces::{Clock, Grants, Portals, Rights};

cairn::component! {
    name: "shell-registrar",
    imports: { portals: Portals, grants: Grants },
    main: main,
}

extern "C" fn sum(_: u64, left: u64, right: u64, _: u64, _: u64, _: u64, _: u64, _: u64) -> Reply {
    match left.checked_add(right) {
        Some(value) => Reply { status: 0, value },
        None => Reply { status: Error::BadArgument as i64, value: 0 },
    }
}

fn main() {
    // Any version, then the method's letters and entry point.
    let mut methods = [0; 32];
    methods[8..11].copy_from_slice(b"cii");
    methods[24..].copy_from_slice(&(sum as *const () as u64).to_le_bytes());
    for (name, policy) in
        [("registrar.sum", "*"), ("registrar.asks", "ask"), ("registrar.others", "console")]
    {
        imports::PORTALS.register(name, policy, &methods).expect("the name is free");
    }
    let bell = imports::PORTALS.semaphore(0).expect("the quota has one");
    imports::PORTALS
        .publish(bell.first_portal().into(), "registrar.bell", "shell")
        .expect("the name is free");
    // To the shell, the instance before this one, which never accepts it.
    let clock = imports::PORTALS.open_object::<dyn Clock>("clock.clock").expect("it is open");
    let shell = Caller(InstanceId(cairn::environment::startup().instance.0 - 1));
    let rights = const { Rights::ALL.only::<dyn Clock>(&["uptime", "timer"]).passed_on(2) };
    for rights in [rights, Rights::ALL.calls(3).until(1)] {
        imports::GRANTS.pass_to(&clock, shell, rights).expect("it may be passed on");
    }
}
