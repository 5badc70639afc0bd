//! The tester's partner: a thread of a higher priority in another domain.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces::{Lock, Portals, Semaphore};
use cairn_test_portals_contract::{Service, Slow, progress};

cairn::component! {
    name: "portal-test-partner",
    imports: { portals: Portals },
    main: main,
}

fn main() {
    let Ok(service) = imports::PORTALS.open_proxy::<dyn Service>("server.service") else { return };
    if let Err(error) = run(|number| service.report(number)) {
        let _ = service.report(progress::WRONG.wrapping_sub(error.status() as u64));
    }
}

fn run(report: impl Fn(u64) -> Result<(), Error>) -> Result<(), Error> {
    let slow = imports::PORTALS.open_proxy::<dyn Slow>("server.slow")?;
    // The tester has the portal revoked while this thread is in there.
    if slow.hold()? == 42 {
        report(progress::RETURNED)?;
    }
    if slow.hold() == Err(Error::NoPortal) {
        report(progress::REVOKED)?;
    }
    let go = imports::PORTALS.open_proxy::<dyn Semaphore>("tester.go")?;
    let back = imports::PORTALS.open_proxy::<dyn Semaphore>("tester.back")?;
    let lock = imports::PORTALS.open_proxy::<dyn Lock>("tester.lock")?;
    report(progress::OPENED)?;
    for _ in 0..100 {
        go.p()?;
        back.v()?;
    }
    go.p()?;
    lock.lock().map_err(|_| Error::Unknown)?;
    report(progress::LOCKED)?;
    lock.unlock()?;
    go.p()?;
    if back.v() == Err(Error::NoPortal) {
        report(progress::CLOSED)?;
    }
    Ok(())
}
