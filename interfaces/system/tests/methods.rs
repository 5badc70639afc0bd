//! The library calls some methods by their places, since it knows no interfaces.

use cairn::abi::descriptor::{InterfaceDescriptor, name_text};
use cairn::component::Interface;
use cairn::sync::methods::*;
use cairn_interfaces::{Lock, Memory, Portals, Semaphore, Threads};

fn is_called(interface: &InterfaceDescriptor, method: u32, name: &str) {
    assert_eq!(name_text(&interface.methods[method as usize].name), name, "lib/cairn/src/sync.rs");
}

#[test]
fn the_library_has_the_places_of_methods() {
    let lock = <dyn Lock>::DESCRIPTOR;
    is_called(&lock, LOCK, "lock");
    is_called(&lock, UNLOCK, "unlock");
    let semaphore = <dyn Semaphore>::DESCRIPTOR;
    is_called(&semaphore, P, "p");
    is_called(&semaphore, V, "v");
    is_called(&semaphore, TRY_P, "try_p");
    is_called(&semaphore, P_UNTIL, "p_until");
    let threads = <dyn Threads>::DESCRIPTOR;
    is_called(&threads, YIELD_NOW, "yield_now");
    is_called(&threads, SLEEP_UNTIL, "sleep_until");
    is_called(&threads, SPAWN, "spawn");
    is_called(&threads, JOIN, "join");
    is_called(&threads, SET_PRIORITY, "set_priority");
    let portals = <dyn Portals>::DESCRIPTOR;
    is_called(&portals, CLOSE, "close");
    is_called(&portals, MAKE_ONCE, "make_once");
    is_called(&<dyn Memory>::DESCRIPTOR, EXTEND, "extend");
}
