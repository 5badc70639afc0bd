//! Granters and receivers die.

use crate::*;

/// What the supervisor does when an instance died, without its death.
pub fn died(instance: u64) -> Result<(), Error> {
    let instance = InstanceId(instance as u16);
    while imports::CONTROL.instance_died(instance)? != 0 {}
    imports::CONTROL.instance_starts(instance)
}

/// What it passed on ends with it, in everyone's hands, and what it was about to.
pub fn granter() -> Result<(), Failed> {
    let (first, second) = agents();
    let before = succeed!(imports::LISTING.usage());
    for _ in 0..20 {
        let coin = succeed!(coin(30));
        let (_, place) = succeed!(give(ONE, &coin, Rights::ALL.passed_on(8)));
        let word = succeed!(ONE.pass(place, second, 1, 0));
        let last = succeed!(TWO.keep_word(first, word));
        let offered = succeed!(ONE.pass(place, second, 0, 0));
        let lent = succeed!(TWO.lend(last));
        succeed!(died(first));
        expect!(TWO.call(last, VALUE), Err(Error::NoPortal));
        expect!(TWO.keep_word(first, offered), Err(Error::NotFound));
        expect!(GRANTS.take_from(TWO.first_portal(), lent).err(), Some(Error::NotFound));
        expect!(TWO.pass(last, first, 0, 0), Err(Error::NotFound));
        succeed!(TWO.drop(last));
        // Its own memory is as it was; the place there is free again.
        expect!(ONE.drop(place), Err(Error::NotFound));
        expect!(coin.proxy().value(), Ok(30));
        expect!(BANK.melt(30), Ok(1));
        succeed!(close(coin));
    }
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// Its successor has nothing of it, and gets nothing by words that it knows.
pub fn receiver() -> Result<(), Failed> {
    let (first, second) = agents();
    let coin = succeed!(coin(31));
    let offered = succeed!(GRANTS.pass(&coin, ONE.first_portal(), Rights::ALL));
    let (taken, place) = succeed!(give(ONE, &coin, Rights::ALL.passed_on(2)));
    let word = succeed!(ONE.pass(place, second, 0, 0));
    let last = succeed!(TWO.keep_word(first, word));
    succeed!(died(first));
    for word in [offered, taken] {
        expect!(ONE.keep(word), Err(Error::NotFound));
        expect!(GRANTS.take_back(word), Err(Error::NotFound));
    }
    expect!(ONE.call(place, VALUE), Err(Error::NoPortal));
    expect!(ONE.pass(place, second, 0, 0), Err(Error::NotFound));
    expect!(TWO.call(last, VALUE), Err(Error::NoPortal));
    expect!(ONE.drop(place), Err(Error::NotFound));
    succeed!(TWO.drop(last));
    // It can be given the coin anew.
    let (_, place) = succeed!(give(ONE, &coin, Rights::ALL));
    expect!(ONE.call(place, VALUE), Ok(31));
    // The end of the coin is the end of all of that.
    expect!(BANK.melt(31), Ok(2));
    expect!(ONE.call(place, VALUE), Err(Error::NoPortal));
    succeed!(ONE.drop(place));
    succeed!(close(coin));
    Ok(())
}
