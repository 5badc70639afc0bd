//! What an actor's thread does, and what it has.

use crate::imports::{BANK, FAR, GRANTS, INTERPOSITION, LOADER, MEMORY, NEAR, PORTALS};
use crate::{arguments, own};
use cairn::abi::address::PAGE_SIZE;
use cairn::text::Line;
use cairn::{Error, Grant, InstanceId, Object, environment};
use cairn_interfaces::Rights;
use cairn_random::Random;
use cairn_test_campaign_contract::{self as course, ACTORS, Operation, THREADS};
use cairn_test_hostile_capabilities_contract::Coin;
use cairn_test_loading_contract::Guest;

/// A coin that was passed on, and where its receivers have it.
struct Given {
    coin: Object<dyn Coin>,
    value: u64,
    grant: Option<Grant<dyn Coin>>,
    near: Option<u64>,
    far: Option<u64>,
}

/// What a thread has.
pub struct Things {
    thread: u64,
    given: Option<Given>,
    coins: u64,
    section: u64,
    pages: u64,
}

impl Things {
    pub fn of(thread: u64) -> Things {
        Things { thread, given: None, coins: 0, section: 0, pages: 0 }
    }

    pub fn operate(&mut self, operation: Operation, chance: &mut Random) -> Result<(), Error> {
        match operation {
            Operation::Nothing => Ok(()),
            Operation::Load => self.load(chance),
            Operation::Unload => self.unload(chance),
            Operation::Wrap => wrap(chance),
            Operation::Unwrap => unwrap(chance),
            Operation::Pass => self.pass(chance),
            Operation::TakeBack => self.take_back(),
            Operation::Map => self.map(chance),
            Operation::Miss => miss(chance),
        }
    }

    /// One of the names that this thread gives.
    fn child(&self, chance: &mut Random) -> Line<24> {
        Line::of(format_args!("child{}{}{}", own(), self.thread, chance.below(2)))
    }

    fn load(&self, chance: &mut Random) -> Result<(), Error> {
        let package = ["member", "guest", "nest"][chance.index(3)];
        let name = self.child(chance);
        match chance.below(4) {
            // Whoever prepares it may not come so far that it begins.
            0 => {
                let child = LOADER.prepare(package, name.text())?;
                LOADER.begin(child)?;
            }
            // What nobody has begin is unloaded, or ends with its parent.
            1 => return LOADER.prepare(package, name.text()).map(drop),
            _ => drop(LOADER.load(package, name.text())?),
        }
        let export = Line::<40>::of(format_args!("{}.guest", name.text()));
        let child = PORTALS.open_object::<dyn Guest>(export.text())?;
        let called = child.proxy().count();
        PORTALS.close(child.first_portal().into())?;
        called.map(drop)
    }

    fn unload(&self, chance: &mut Random) -> Result<(), Error> {
        LOADER.unload(self.child(chance).text())
    }

    fn pass(&mut self, chance: &mut Random) -> Result<(), Error> {
        if self.given.is_some() {
            return Err(Error::Busy);
        }
        // No coin of this actor's has the value of another.
        self.coins += 1;
        let value = self.coins * (THREADS * ACTORS) as u64 + own() * THREADS as u64 + self.thread;
        let coin = BANK.coin(PORTALS, value)?;
        let given = Given { coin, value, grant: None, near: None, far: None };
        let given = self.given.insert(given);
        let rights = Rights::ALL.passed_on(2);
        let rights = match chance.below(3) {
            0 => rights,
            1 => rights.calls(4),
            _ => rights.until(cairn::time::now() + chance.below(20_000)),
        };
        let grant = GRANTS.pass(&given.coin, NEAR.first_portal(), rights)?;
        given.grant = Some(grant);
        let near = NEAR.keep(grant)?;
        given.near = Some(near);
        let _ = NEAR.call(near, 0);
        let word = NEAR.pass(near, arguments::far(), 0, 0)?;
        let far = FAR.keep_word(arguments::near(), word)?;
        given.far = Some(far);
        FAR.call(far, 4).map(drop)
    }

    fn take_back(&mut self) -> Result<(), Error> {
        let given = self.given.take().ok_or(Error::NotFound)?;
        let taken = given.grant.map_or(Ok(()), |grant| GRANTS.take_back(grant));
        if let Some(near) = given.near {
            let _ = NEAR.drop(near);
        }
        if let Some(far) = given.far {
            let _ = FAR.drop(far);
        }
        let _ = BANK.melt(given.value);
        PORTALS.close(given.coin.first_portal().into())?;
        taken
    }

    fn map(&mut self, chance: &mut Random) -> Result<(), Error> {
        match chance.below(4) {
            0 if self.section == 0 => {
                self.section = MEMORY.make_section(1 + chance.below(3))?;
                course::set_section(self.section);
                let other = arguments::first() + (own() + 1) % ACTORS as u64;
                MEMORY.share(self.section, InstanceId(other as u16), true)
            }
            0 => MEMORY.drop_section(core::mem::take(&mut self.section)),
            1 => MEMORY.accept(course::section()).map(drop),
            2 => MEMORY.drop_section(course::section()),
            _ if self.pages == 0 => {
                self.pages = MEMORY.allocate(1 + chance.below(3))?;
                Ok(())
            }
            _ => MEMORY.free(core::mem::take(&mut self.pages), 1),
        }
    }
}

/// What it calls of the bank, or all that it calls, or all calls of the bank.
fn wrapped(chance: &mut Random) -> (&'static str, &'static str, &'static str) {
    let own = environment::name();
    let (client, server) = [(own, "bank"), (own, ""), ("", "bank")][chance.index(3)];
    (client, server, ["between-1", "between-2"][chance.index(2)])
}

fn wrap(chance: &mut Random) -> Result<(), Error> {
    let (client, server, interposer) = wrapped(chance);
    INTERPOSITION.wrap(client, server, interposer, chance.below(2) == 0).map(drop)
}

fn unwrap(chance: &mut Random) -> Result<(), Error> {
    let (client, server, interposer) = wrapped(chance);
    INTERPOSITION.unwrap(client, server, interposer).map(drop)
}

/// Who dies of a page that its dead pager had lives again.
fn miss(chance: &mut Random) -> Result<(), Error> {
    let section = environment::section("scratch").ok_or(Error::NotFound)?;
    let pages = section.size() / PAGE_SIZE as usize;
    for _ in 0..4 {
        let offset = chance.index(pages) * PAGE_SIZE as usize;
        match chance.below(2) {
            0 => section.store(offset, offset as u64),
            _ => drop(section.load(offset)),
        }
    }
    Ok(())
}
