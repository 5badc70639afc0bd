//! A ring of domains with a thread each: who is who, and finding each other's semaphores.

use crate::order;
use crate::text::text;
use cairn::environment;
use cairn_interfaces::{PortalsProxy, Semaphore, SemaphoreProxy, ThreadsProxy};

/// Most members of a ring.
pub const MEMBERS: usize = 8;

/// A member makes semaphores under these names, with these first values.
pub type Semaphores<const COUNT: usize> = [(&'static str, u64); COUNT];

/// What the description itself says to this instance: its argument without the orders.
pub fn argument() -> &'static str {
    order::plain()
}

/// This instance's number: its argument, without the orders.
pub fn member() -> usize {
    argument().parse().expect("the description's argument is the member's number")
}

/// Makes this instance's semaphores and lets every other open them.
pub fn publish<const COUNT: usize>(
    portals: PortalsProxy,
    semaphores: &Semaphores<COUNT>,
) -> [SemaphoreProxy; COUNT] {
    semaphores.map(|(name, first)| {
        let semaphore = portals.semaphore(first).expect("the quota has room for the semaphore");
        let name = text(format_args!("{}.{name}", environment::name()));
        portals
            .publish(semaphore.first_portal().into(), name.text(), "*")
            .expect("the name is free");
        semaphore.proxy()
    })
}

/// Opens a semaphore of another member's, as soon as it is there.
pub fn open(
    portals: PortalsProxy,
    threads: ThreadsProxy,
    ring: &str,
    member: usize,
    name: &str,
) -> SemaphoreProxy {
    let name = text(format_args!("{ring}{member}.{name}"));
    let name = name.text();
    loop {
        match portals.open_proxy::<dyn Semaphore>(name) {
            Ok(semaphore) => return semaphore,
            Err(cairn::Error::NotFound) => _ = threads.yield_now(),
            Err(error) => panic!("cannot open {name}: {error:?}"),
        }
    }
}
