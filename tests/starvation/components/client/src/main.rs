//! A client of the lowest priority, which asks what its argument says again and again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn_interfaces as interfaces;
use cairn_interfaces::TimerProxy;

cairn::component! {
    name: "starvation-client",
    imports: {
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
        clock: interfaces::Clock,
    },
    main: main,
}

fn main() {
    loop {
        match environment::argument() {
            "supervisor" => {
                let _ = imports::SUPERVISOR.describe(1, &mut [0; 64]);
            }
            _ => {
                let Ok(timer) = imports::CLOCK.timer(imports::PORTALS, 1_000_000_000) else {
                    continue;
                };
                let first = timer.first_portal();
                let _ = TimerProxy::at(first).close();
                let _ = imports::PORTALS.close(first.into());
            }
        }
    }
}
