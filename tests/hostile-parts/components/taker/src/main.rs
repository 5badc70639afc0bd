//! Takes all that it can get of what is shared, when it is told to.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::{Error, environment};
use cairn_interfaces::{Clock, Console, Memory, Portals};
use cairn_test_hostile_parts::{Taker, deed};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-taker",
    imports: { console: Console, clock: Clock, memory: Memory, portals: Portals },
    exports: { taker: Taker = SERVER },
}

/// Nanoseconds, some three hundred years.
const FOR_EVER: u64 = 10_000_000_000_000_000_000;
/// More than any part is.
const MOST: u64 = 300;

/// Repeats until it fails; how often it did not.
fn until_refused(most: u64, mut attempt: impl FnMut(u64) -> Result<(), Error>) -> u64 {
    (0..most).take_while(|number| attempt(*number).is_ok()).count() as u64
}

fn owe(times: u64) -> Result<u64, Error> {
    let timer = imports::CLOCK.timer(imports::PORTALS, FOR_EVER)?.proxy();
    Ok(until_refused(times, |_| timer.set_period(FOR_EVER)))
}

fn offer(domain: u64) -> Result<u64, Error> {
    let section = imports::MEMORY.make_section(1)?;
    imports::MEMORY.share(section, InstanceId(domain as u16), true)?;
    Ok(section)
}

fn pages() -> Result<u64, Error> {
    let mut pages = [0; MOST as usize];
    let count = until_refused(MOST, |number| {
        pages[number as usize] = imports::MEMORY.allocate(1)?;
        Ok(())
    });
    for page in pages[..count as usize].iter().step_by(2) {
        imports::MEMORY.free(*page, 1)?;
    }
    Ok(count / 2)
}

impl Taker for Server {
    fn take(&self, deed: u64, argument: u64) -> Result<u64, Error> {
        match deed {
            deed::DOMAIN => Ok(environment::startup().domain.into()),
            deed::TIMERS => Ok(until_refused(argument, |_| {
                imports::CLOCK.timer(imports::PORTALS, FOR_EVER).map(drop)
            })),
            deed::OWE => owe(argument),
            deed::SECTIONS => {
                Ok(until_refused(MOST, |_| imports::MEMORY.make_section(1).map(drop)))
            }
            deed::OFFER => offer(argument),
            deed::ACCEPT => imports::MEMORY.accept(argument).map(|(pages, _)| pages),
            deed::TERMINALS => {
                Ok(until_refused(argument, |_| imports::CONSOLE.open(imports::PORTALS).map(drop)))
            }
            deed::PAGES => pages(),
            _ => Err(Error::BadArgument),
        }
    }
}
