//! Takes all that its description promises: so many semaphores and locks as its argument says, pages, threads, names and sections
//! as a fourth number and those behind it say, and the server by its name. The last of so many as the argument's third number says ends the system.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment;
use cairn::text::Line;
use cairn::thread::{Stack, sleep, spawn};
use cairn::time::Duration;
use cairn_interfaces::{Console, Memory, Portals, Supervisor, Threads};
use cairn_test_growth_contract::{Roll, RollProxy};

cairn::component! {
    name: "shares-client",
    imports: {
        console: Console,
        supervisor: Supervisor,
        portals: Portals,
        memory: Option<Memory>,
        threads: Option<Threads>,
    },
    main: main,
}

/// Instances of the system that are no clients.
const OTHERS: u64 = 9;
static STACKS: [Stack<4096>; 2] = [const { Stack::new() }; 2];

fn main() {
    let mut numbers = environment::argument().split(' ').map(|number| number.parse::<u64>());
    let mut number = || numbers.next().and_then(Result::ok).expect("the argument is three numbers");
    let (semaphores, locks, clients) = (number(), number(), number());
    for made in 0..semaphores {
        if let Err(error) = imports::PORTALS.make_semaphore(1) {
            panic!("semaphore {made} of {semaphores}: {error:?}");
        }
    }
    for made in 0..locks {
        if let Err(error) = imports::PORTALS.make_lock() {
            panic!("lock {made} of {locks}: {error:?}");
        }
    }
    let mut number = || numbers.next().map_or(0, |number| number.expect("what follows is numbers"));
    let (pages, threads, names, sections) = (number(), number(), number(), number());
    let memory = || imports::MEMORY.get().expect("memory needs its manager");
    if pages > 0 {
        memory().allocate(pages).expect("there are pages");
    }
    if threads > 0 {
        let urgent = spawn(&STACKS[0], 255, || ()).map(drop);
        assert_eq!(urgent, Err(Error::NotAllowed), "its description says less");
    }
    for stack in &STACKS[..threads as usize] {
        spawn(stack, 50, || sleep(Duration::from_secs(3600))).expect("there is a thread");
    }
    // One method without parameters, which nobody calls.
    let mut methods = [0; 32];
    methods[8] = b'c';
    methods[24..].copy_from_slice(&environment::startup().heap.to_le_bytes());
    for named in 0..names {
        let name = Line::<64>::of(format_args!("{}.n{named}", environment::name()));
        if let Err(error) = imports::PORTALS.register(name.text(), "*", &methods) {
            panic!("name {named} of {names}: {error:?}");
        }
    }
    for made in 0..sections {
        if let Err(error) = memory().make_section(1) {
            panic!("section {made} of {sections}: {error:?}");
        }
    }
    let server = imports::PORTALS.open_object::<dyn Roll>("server.roll").expect("it is opened");
    let server = RollProxy::at(server.first_portal());
    let own = u64::from(environment::startup().instance.0) - OTHERS;
    server.call(own).expect("the server answers every client");
    if server.count(1) == Ok(clients) {
        let _ = imports::CONSOLE.write(b"shares: everyone has what the description promises\n");
        let _ = imports::SUPERVISOR.halt(0);
    }
}
