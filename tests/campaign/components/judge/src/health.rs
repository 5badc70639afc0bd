//! What answers whatever happened to others.

use crate::harness::{self, Judge};
use crate::imports::{BANK, FAR, GRANTS, INTERPOSITION, LOADER, NEAR, PORTALS, PROBE, SUPERVISOR};
use cairn::text::Line;
use cairn::{Error, Object, environment};
use cairn_interfaces::Rights;
use cairn_test_hostile_contract::judge;
use cairn_test_loading_contract::Guest;

/// The value of the judge's coin: no actor has one of it.
const VALUE: u64 = 1;
const OWN_WORD: u64 = 0x1234_5678;

fn close<I: ?Sized>(object: Object<I>) -> Result<(), Error> {
    PORTALS.close(object.first_portal().into())
}

/// Each service does what it is for.
pub fn all(judge: &mut Judge, when: &str) {
    // Who was started may have to register before others are served.
    harness::wait_until(|| between().is_ok());
    judge.expect(when, ("loading", loading()), ("loading", Ok(101)));
    judge.expect(when, ("passing on", passing()), ("passing on", Ok((VALUE, VALUE))));
    judge.expect(when, ("interposing", between()), ("interposing", Ok(())));
    judge.expect(when, ("paging", paging()), ("paging", Ok(OWN_WORD)));
    let orphan = judge::life(SUPERVISOR, "child000", |_, _| ());
    judge.expect(when, ("children", orphan), ("children", None));
}

fn loading() -> Result<u64, Error> {
    LOADER.load("guest", "judged")?;
    let guest = PORTALS.open_object::<dyn Guest>("judged.guest")?;
    let count = guest.proxy().count();
    close(guest)?;
    LOADER.unload("judged")?;
    count
}

fn passing() -> Result<(u64, u64), Error> {
    let coin = BANK.coin(PORTALS, VALUE)?;
    let grant = GRANTS.pass(&coin, NEAR.first_portal(), Rights::ALL.calls(2))?;
    let place = NEAR.keep(grant)?;
    let found = (NEAR.call(place, 0)?, NEAR.call(place, 0)?);
    GRANTS.take_back(grant)?;
    NEAR.drop(place)?;
    BANK.melt(VALUE)?;
    close(coin)?;
    FAR.drop(0).map_or(Ok(found), |()| Err(Error::Malformed))
}

fn between() -> Result<(), Error> {
    let own = environment::name();
    for interposer in ["between-1", "between-2"] {
        INTERPOSITION.wrap(own, "bank", interposer, false)?;
        let waiting = BANK.waiting();
        INTERPOSITION.unwrap(own, "bank", interposer)?;
        waiting?;
    }
    Ok(())
}

fn paging() -> Result<u64, Error> {
    PROBE.store(0, OWN_WORD)?;
    PROBE.load(0)
}

/// How many members can be loaded, coins passed on, and pages had: what is lost in places of tables that no figure shows.
pub fn capacity() -> (u64, u64) {
    let name = |number| Line::<16>::of(format_args!("member{number}"));
    let loaded = (0..64).take_while(|number| LOADER.load("member", name(*number).text()).is_ok());
    let loaded = loaded.count() as u64;
    for number in 0..loaded {
        let _ = LOADER.unload(name(number).text());
    }
    let Ok(coin) = BANK.coin(PORTALS, VALUE) else { return (loaded, 0) };
    let granted =
        (0..1000).take_while(|_| GRANTS.pass(&coin, FAR.first_portal(), Rights::ALL).is_ok());
    let granted = granted.count() as u64;
    let _ = close(coin);
    let _ = BANK.melt(VALUE);
    (loaded, granted)
}
