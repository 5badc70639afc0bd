//! Four threads that do by chance whatever a component can do with memory, sections, timers, terminals, semaphores and
//! locks, and come to an end wherever they are. What each does follows from the instance and how often it was started.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::abi::address::{PAGE_SIZE, SECTION_STRIDE};
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces::{
    Clock, Console, LockProxy, Memory, Portals, SemaphoreProxy, TerminalProxy, Threads, TimerProxy,
    spawn,
};
use cairn_random::Random;
use cairn_test_hostile_contract::{Victim, rounds};
use cairn_test_hostile_machine as machine;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-chance",
    imports: {
        console: Console,
        clock: Clock,
        memory: Memory,
        portals: Portals,
        threads: Threads,
        victim: Victim,
    },
    main: main,
}

static STACKS: [Stack<16384>; 3] = [const { Stack::new() }; 3];
/// The address of the section that this instance made last.
static SECTION: AtomicU64 = AtomicU64::new(0);

/// What a thread has.
#[derive(Default)]
struct Things {
    sections: [u64; 4],
    timers: [u32; 3],
    terminals: [u32; 2],
    semaphores: [u32; 3],
    locks: [u32; 2],
}

fn main() {
    for (number, stack) in STACKS.iter().enumerate() {
        let _ = spawn(
            imports::THREADS,
            stack,
            work,
            number as u64 + 1,
            rounds::priority(30 + number as u8),
        );
    }
    work(0);
}

fn work(number: u64) {
    let startup = environment::startup();
    let seed = u64::from(startup.instance) << 32 | startup.generation << 4 | number;
    let mut chance = Random::of_seed(seed);
    let mut things = Things::default();
    loop {
        // Errors are what hostile components get.
        let _ = step(&mut chance, &mut things);
        rounds::pass(imports::THREADS);
    }
}

fn step(chance: &mut Random, things: &mut Things) -> Result<(), Error> {
    match chance.below(16) {
        0..=2 => pages(chance),
        3..=7 => sections(chance, &mut things.sections),
        8..=9 => timers(chance, &mut things.timers),
        10 => terminals(chance, &mut things.terminals),
        11..=12 => semaphores(chance, &mut things.semaphores),
        13 => locks(chance, &mut things.locks),
        14 => imports::VICTIM.hold(&[1; 64]),
        _ => pause(chance),
    }
}

fn pause(chance: &mut Random) -> Result<(), Error> {
    imports::THREADS.sleep_until(now() + ticks(chance.below(500)))
}

/// One of the places.
fn one<'a, T>(chance: &mut Random, places: &'a mut [T]) -> &'a mut T {
    let index = chance.below(places.len() as u64) as usize;
    &mut places[index]
}

/// Pages of the instance, which each of its threads gives back or passes in a window: address, number.
static PAGES: [(AtomicU64, AtomicU64); 4] = [const { (AtomicU64::new(0), AtomicU64::new(0)) }; 4];
/// The position of `hold` among the victim's methods.
const HOLD: u64 = 3;

fn pages(chance: &mut Random) -> Result<(), Error> {
    let (address, count) = &PAGES[chance.below(4) as usize];
    let (at, pages) = (address.load(Relaxed), count.load(Relaxed));
    if pages == 0 {
        let pages = 1 + chance.below(4);
        address.store(imports::MEMORY.allocate(pages)?, Relaxed);
        count.store(pages, Relaxed);
        return Ok(());
    }
    if chance.below(2) == 0 {
        let hold = u64::from(imports::VICTIM.first_portal()) + HOLD;
        machine::call(hold, [0, at, pages * PAGE_SIZE, 0, 0, 0, 0, 0]);
        return Ok(());
    }
    imports::MEMORY.free(at, pages)?;
    count.store(0, Relaxed);
    Ok(())
}

fn sections(chance: &mut Random, places: &mut [u64]) -> Result<(), Error> {
    let place = one(chance, places);
    match chance.below(4) {
        0 if *place == 0 => {
            *place = imports::MEMORY.make_section(1 + chance.below(3))?;
            SECTION.store(*place, Relaxed);
        }
        1 if *place != 0 => {
            // The others have the numbers next to this one.
            let domain = u64::from(environment::startup().domain) + chance.below(7);
            imports::MEMORY.share(
                *place,
                InstanceId(domain.saturating_sub(3) as u16),
                chance.below(2) == 0,
            )?;
        }
        2 if *place == 0 => {
            let near = SECTION.load(Relaxed) + chance.below(16) * SECTION_STRIDE;
            let section = near.saturating_sub(8 * SECTION_STRIDE);
            imports::MEMORY.accept(section)?;
            *place = section;
        }
        3 if *place != 0 => {
            let section = core::mem::take(place);
            imports::MEMORY.drop_section(section)?;
        }
        _ => {}
    }
    Ok(())
}

fn timers(chance: &mut Random, places: &mut [u32]) -> Result<(), Error> {
    let place = one(chance, places);
    if *place == 0 {
        *place = imports::CLOCK.timer(imports::PORTALS, 1 + chance.below(400_000))?.first_portal();
        return Ok(());
    }
    let timer = TimerProxy::at(*place);
    match chance.below(4) {
        0 => timer.wait().map(drop),
        1 => timer.set_period(1 + chance.below(400_000)),
        2 => timer.close(),
        _ => {
            let portals = core::mem::take(place);
            let _ = timer.close();
            imports::PORTALS.close(portals.into())
        }
    }
}

fn terminals(chance: &mut Random, places: &mut [u32]) -> Result<(), Error> {
    let place = one(chance, places);
    if *place == 0 {
        *place = imports::CONSOLE.open(imports::PORTALS)?.first_portal();
        return Ok(());
    }
    let terminal = TerminalProxy::at(*place);
    match chance.below(3) {
        0 => terminal.write(b"~"),
        1 => terminal.set_echo(false),
        _ => {
            let portals = core::mem::take(place);
            let _ = terminal.close();
            imports::PORTALS.close(portals.into())
        }
    }
}

fn semaphores(chance: &mut Random, places: &mut [u32]) -> Result<(), Error> {
    let place = one(chance, places);
    if *place == 0 {
        *place = imports::PORTALS.semaphore(chance.below(3))?.first_portal();
        return Ok(());
    }
    let semaphore = SemaphoreProxy::at(*place);
    match chance.below(4) {
        0 => semaphore.v(),
        1 => semaphore.p_until(now() + ticks(chance.below(300))),
        2 => semaphore.try_p(),
        _ => {
            imports::PORTALS.close((*place).into())?;
            *place = 0;
            Ok(())
        }
    }
}

fn locks(chance: &mut Random, places: &mut [u32]) -> Result<(), Error> {
    let place = one(chance, places);
    if *place == 0 {
        *place = imports::PORTALS.lock()?.first_portal();
        return Ok(());
    }
    let lock = LockProxy::at(*place);
    match chance.below(3) {
        0 => {
            let _ = lock.lock();
            pause(chance)
        }
        1 => lock.unlock(),
        _ => {
            let _ = lock.unlock();
            imports::PORTALS.close((*place).into())?;
            *place = 0;
            Ok(())
        }
    }
}
