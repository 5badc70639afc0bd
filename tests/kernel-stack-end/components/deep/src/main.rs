//! Calls the portal manager with less and less left of the thread's stack in the kernel domain, and then uses all of it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces as interfaces;
use core::hint::black_box;

cairn::component! {
    name: "deep",
    imports: { console: interfaces::Console, portals: interfaces::Portals },
    main: main,
}

/// Steps that all of the stack has room for.
const STEPS: u64 = 22;

/// Uses half a KiB of stack and a little more `depth` times, then opens and closes.
#[inline(never)]
fn descend(depth: u64) -> Result<(), Error> {
    let page = black_box([depth; 64]);
    match depth {
        0 => {
            let clock = imports::PORTALS.open_object::<dyn interfaces::Clock>("clock.clock")?;
            imports::PORTALS.close(clock.first_portal().into())
        }
        _ => descend(black_box(page[3] - 1)),
    }
}

fn main() {
    let refused = |depth: &u64| descend(*depth) == Err(Error::InvocationOverflow);
    let first = (0..STEPS).find(refused).unwrap_or(STEPS);
    let answers_before = (0..first).all(|depth| descend(depth) == Ok(()));
    let refused_behind = (first..STEPS).all(|depth| refused(&depth));
    let is_half = (STEPS / 3..STEPS).contains(&first);
    let word = if answers_before && refused_behind && is_half { "ok" } else { "FAILED" };
    let _ = imports::CONSOLE.print(format_args!("{word}: refused from step {first} on\n"));
    let _ = black_box(descend(3 * STEPS));
}
