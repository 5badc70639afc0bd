//! Asks the portal manager for a name that nobody has, again and again, at the lowest priority.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_interfaces::Portals;

cairn::component! {
    name: "portal-test-pest",
    imports: { portals: Portals },
    main: main,
}

fn main() {
    while imports::PORTALS.open("server.nothing", 0, &[]).is_err() {}
}
