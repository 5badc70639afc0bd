//! Takes all that it can at run time, others' names among it, keeps it until it dies, and dies in each of its lives.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::{name, startup};
use cairn::text::Line;
use cairn::thread::{Stack, sleep, spawn};
use cairn::time::Duration;
use cairn_interfaces::{Console, Memory, Portals, Threads};

cairn::component! {
    name: "hostile-grabber",
    imports: { console: Console, portals: Portals, memory: Memory, threads: Threads },
    main: main,
}

/// More than there can be of anything.
const MOST: u64 = 2_000;
static STACKS: [Stack<4096>; 4] = [const { Stack::new() }; 4];

fn main() {
    let mut methods = [0; 32];
    methods[8] = b'c';
    methods[24..].copy_from_slice(&startup().heap.to_le_bytes());
    let register = |name: &str, policy: &str| imports::PORTALS.register(name, policy, &methods);
    let long = Line::<128>::of(format_args!("{}.{:->80}", name(), ""));
    let escape = Line::<64>::of(format_args!("{}.\x1b[2J", name()));
    let foreign =
        ["honest.n0", "honest.", "", ".", "console.console", "shell", "supervisor.supervisor"];
    for bad in foreign.into_iter().chain([long.text(), escape.text(), name()]) {
        if register(bad, "*").is_ok() {
            let _ = imports::CONSOLE.print(format_args!("FAILED: {bad:?} was registered\n"));
        }
    }
    for number in 0..MOST {
        let own = Line::<64>::of(format_args!("{}.n{number}", name()));
        if register(own.text(), "*").is_err() {
            break;
        }
    }
    for stack in &STACKS {
        let _ = spawn(stack, 40, || sleep(Duration::from_secs(3600)));
    }
    // What is registered leads to portals of this life, and of lives that are over.
    for server in ["honest.n0", "server.roll", "grabber-1.n0", "grabber-2.n0", "grabber-3.n0"] {
        while imports::PORTALS.open(server, 0, &[]).is_ok() {}
    }
    while imports::PORTALS.make_semaphore(1).is_ok() {}
    while imports::PORTALS.make_lock().is_ok() {}
    while imports::MEMORY.make_section(1).is_ok() {}
    while imports::MEMORY.allocate(1).is_ok() {}
    panic!("in life {}", startup().generation);
}
