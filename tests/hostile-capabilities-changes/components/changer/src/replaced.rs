//! Who serves it, and who has it and passed it on, is replaced.

use crate::imports::{LISTING, LOADER, ONE, REPLACEMENT, TWO};
use crate::*;

fn replace(name: &str, package: &str) {
    let replaced = REPLACEMENT.replace(name, package, 200).map(drop);
    if replaced.is_err() {
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        say!("{}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
    }
    expect("it is replaced", replaced, Ok(()));
}

/// Whatever was passed on leads to its successor, with the rights that are left.
pub fn server() {
    let coin = coin(50);
    let weak = const { Rights::ALL.only::<dyn Coin>(&["value", "sum"]) };
    let (_, all) = give(ONE, &coin, Rights::ALL.passed_on(4));
    let (_, weak) = give(ONE, &coin, weak);
    let (_, three) = give(ONE, &coin, Rights::ALL.calls(3));
    let (_, over) = give(ONE, &coin, Rights::ALL.until(time::now()));
    let word = ONE.pass(all, agents().1, 0, 2).expect("it is passed on");
    let two = TWO.keep_word(agents().0, word).expect("it is accepted");
    let offered = ONE.pass(all, agents().1, 0, 0).expect("it is offered");
    expect("one of three calls", ONE.call(three, VALUE), Ok(50));
    replace("bank", "bank2");
    expect("the first has it", coin.proxy().value(), Ok(50));
    expect("who has it has it", ONE.call(all, ADD), Ok(51));
    let methods = [VALUE, ADD, SUM].map(|method| ONE.call(weak, method).ok());
    expect("with the methods that it had", methods, [Some(50), None, Some(6)]);
    expect("and the calls that were left", ONE.hammer(three, 9), Ok(2));
    expect("as long as it had", ONE.call(over, VALUE), Err(Error::TimedOut));
    expect("who has it of that one, too", TWO.hammer(two, 9), Ok(2));
    let late = TWO.keep_word(agents().0, offered);
    expect("what was offered is offered", late.map(|late| TWO.call(late, VALUE)), Ok(Ok(50)));

    // Under load: a call that waits at a portal, and is executed again, counts once.
    let (grant, many) = give(ONE, &coin, Rights::ALL.calls(700));
    let hammer = |place: u64| {
        for _ in 0..60 {
            ANSWERED.fetch_add(ONE.hammer(place, 20).unwrap_or(u64::MAX), Relaxed);
            pause(100);
        }
    };
    ANSWERED.store(0, Relaxed);
    let thread = spawn(THREADS, &STACK, hammer, many, 40).expect("a thread");
    for _ in 0..8 {
        replace("bank", "bank2");
        pause(300);
    }
    let _ = thread.join();
    expect("as many calls as there were", ANSWERED.load(Relaxed), 700);
    expect("taken back", GRANTS.take_back(grant), Ok(()));
    expect("from its successor, too", ONE.call(many, VALUE), Err(Error::NoPortal));
    expect("the coin ends for all", BANK.melt(50), Ok(7));
    for place in [all, weak, three, over, many] {
        expect("nobody has it", ONE.call(place, VALUE), Err(Error::NoPortal));
        let _ = ONE.drop(place);
    }
    let _ = (TWO.drop(two), TWO.drop(late.unwrap_or(0)));
    close(coin);
    say!("ok: its server is replaced");
}

/// What it had, what it was offered, and what it passed on, ends with its life.
pub fn holder() {
    let mut before = None;
    for _ in 0..5 {
        let coin = coin(51);
        let (grant, place) = give(ONE, &coin, Rights::ALL.passed_on(8));
        let word = ONE.pass(place, agents().1, 0, 0).expect("it is passed on");
        let two = TWO.keep_word(agents().0, word).expect("it is accepted");
        let to_two = ONE.pass(place, agents().1, 0, 0).expect("it is offered");
        let lent = ONE.lend(place).expect("it is lent");
        let offered = GRANTS.pass(&coin, ONE.first_portal(), Rights::ALL).expect("a grant");
        expect("all have it", (ONE.call(place, VALUE), TWO.call(two, VALUE)), (Ok(51), Ok(51)));
        replace("one", "one2");
        expect("it has nothing", ONE.call(place, VALUE), Err(Error::NotFound));
        expect("nor has who had it of it", TWO.call(two, VALUE), Err(Error::NoPortal));
        expect("nor does that get more", TWO.keep_word(agents().0, to_two), Err(Error::NotFound));
        let taken = GRANTS.take_from(ONE.first_portal(), lent).err();
        expect("nor who was lent it", taken, Some(Error::NotFound));
        expect("it gets nothing by an old word", ONE.keep(offered), Err(Error::NotFound));
        expect("nothing is to be taken back", GRANTS.take_back(grant), Err(Error::NotFound));
        let (_, again) = give(ONE, &coin, Rights::ALL);
        expect("it can be given it anew", ONE.call(again, VALUE), Ok(51));
        let _ = (ONE.drop(again), TWO.drop(two));
        expect("the coin is there", coin.proxy().value(), Ok(51));
        expect("nobody else has it", BANK.melt(51), Ok(1));
        close(coin);
        let now = LISTING.usage();
        expect("nothing is left of it", now, *before.get_or_insert(now));
    }
    say!("ok: who has it is replaced");
}
