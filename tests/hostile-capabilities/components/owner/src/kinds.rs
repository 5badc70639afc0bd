//! Semaphores and imports are passed on as objects are; a call that fails leaves nothing; who tries in C gets no more.

use crate::imports::{BRANCH, FORGER};
use crate::*;
use cairn_interfaces::Semaphore;

/// What was passed on in a call that fails is nobody's, whether it was accepted or not.
pub fn failed_call() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let own_coin = succeed!(coin(40));
    for _ in 0..200 {
        // More than could stay offered.
        let refused =
            GRANTS.pass_in(&own_coin, ONE.first_portal(), Rights::ALL, |grant| TWO.keep(grant));
        expect!(refused.err(), Some(Error::NotFound));
        let late = GRANTS.pass_in(&own_coin, ONE.first_portal(), Rights::ALL, |grant| {
            let place = ONE.keep(grant)?;
            ONE.drop(place)?;
            Err::<(), _>(Error::Malformed)
        });
        expect!(late.err(), Some(Error::Malformed));
    }
    let kept = GRANTS.pass_in(&own_coin, ONE.first_portal(), Rights::ALL, |grant| ONE.keep(grant));
    let (place, grant) = succeed!(kept);
    expect!(ONE.call(place, VALUE), Ok(40));
    succeed!(GRANTS.take_back(grant));
    succeed!(ONE.drop(place));
    expect!(BANK.melt(40), Ok(1));
    succeed!(close(own_coin));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// Semaphores, and what the description connects; an agent that keeps what it gets as a coin keeps none of them.
pub fn other_kinds() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let to = ONE.first_portal();
    let semaphore: Object<dyn Semaphore> = succeed!(PORTALS.semaphore(0));
    let grant = succeed!(GRANTS.pass(&semaphore, to, Rights::ALL));
    expect!(ONE.keep(Grant::from_word(grant.word())), Err(Error::VersionMismatch));
    expect!(ONE.raise(grant), Ok(()));
    succeed!(semaphore.proxy().p());
    expect!(GRANTS.take_back(grant), Err(Error::NotFound));
    // Who may not raise it does not.
    let low = const { Rights::ALL.only::<dyn Semaphore>(&["p"]) };
    let grant = succeed!(GRANTS.pass(&semaphore, to, low));
    expect!(ONE.raise(grant), Err(Error::NoPortal));
    succeed!(PORTALS.close(semaphore.first_portal().into()));

    let bank: Object<dyn Bank> = succeed!(GRANTS.held(BANK.first_portal()));
    let waited = succeed!(BANK.waiting());
    expect!(bank.proxy().waiting(), Ok(waited));
    let grant = succeed!(GRANTS.pass(&bank, to, Rights::ALL));
    expect!(ONE.keep(Grant::from_word(grant.word())), Err(Error::VersionMismatch));
    expect!(ONE.ask(grant), Ok(waited));
    let few = const { Rights::ALL.only::<dyn Bank>(&["coin", "melt"]) };
    let grant = succeed!(GRANTS.pass(&bank, to, few));
    expect!(ONE.ask(grant), Err(Error::NoPortal));
    succeed!(PORTALS.close(bank.first_portal().into()));
    // Of the scheduler, which runs to completion.
    let threads: Object<dyn Threads> = succeed!(GRANTS.held(imports::THREADS.first_portal()));
    expect!(threads.proxy().own_name(), imports::THREADS.own_name());
    succeed!(GRANTS.pass(&threads, to, Rights::ALL));
    succeed!(PORTALS.close(threads.first_portal().into()));
    // No import begins there.
    for first in [BANK.first_portal() + 1, bank.first_portal(), 0, u32::MAX] {
        expect!(GRANTS.held::<dyn Bank>(first).err(), Some(Error::NotFound));
    }
    expect!(BANK.waiting(), Ok(waited));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// A bank answers with another's coin, as long as it has that.
pub fn changed() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let own_coin = succeed!(coin(42));
    let pass = |rights| GRANTS.pass(&own_coin, BRANCH.first_portal(), rights);
    let grant = succeed!(pass(Rights::ALL.calls(2).passed_on(1)));
    let changed = succeed!(BRANCH.change(PORTALS, grant));
    expect!(changed.proxy().caller(), Ok(own()));
    expect!(changed.proxy().add(1), Ok(43));
    expect!(changed.proxy().value(), Err(Error::Exhausted));
    // What ends it is what ends any grant; its place is its client's.
    succeed!(BRANCH.close());
    expect!(changed.proxy().value(), Err(Error::NoPortal));
    succeed!(close(changed));
    let grant = succeed!(pass(Rights::ALL.passed_on(1)));
    let changed = succeed!(BRANCH.change(PORTALS, grant));
    expect!(changed.proxy().value(), Ok(42));
    succeed!(GRANTS.take_back(grant));
    expect!(changed.proxy().value(), Err(Error::NoPortal));
    succeed!(BRANCH.close());
    succeed!(close(changed));
    // What the branch may not pass on it cannot answer with; the place that was reserved is given back.
    let grant = succeed!(pass(Rights::ALL));
    expect!(BRANCH.change(PORTALS, grant).err(), Some(Error::NotAllowed));
    succeed!(BRANCH.close());
    // Nor with what was not passed to it.
    expect!(BRANCH.change(PORTALS, grant).err(), Some(Error::NotFound));
    expect!(BANK.melt(42), Ok(1));
    succeed!(close(own_coin));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// In C: what was meant for another is there for that one still.
pub fn in_c() -> Result<(), Failed> {
    let coin = succeed!(coin(41));
    let grant = succeed!(GRANTS.pass(&coin, ONE.first_portal(), Rights::ALL));
    for attack in 0..4 {
        expect!((attack, FORGER.add(attack, grant.word())), (attack, Ok(0)));
    }
    succeed!(deaths::died(own() + 1));
    let place = succeed!(ONE.keep(grant));
    expect!(ONE.call(place, VALUE), Ok(41));
    succeed!(ONE.drop(place));
    expect!(BANK.melt(41), Ok(1));
    succeed!(close(coin));
    Ok(())
}
