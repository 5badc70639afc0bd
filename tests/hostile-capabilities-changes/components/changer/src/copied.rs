//! Who has it makes a copy of itself.

use crate::imports::{LISTING, LOADER, ONE, TWO};
use crate::*;
use cairn::fork::{Quotas, Side};
use cairn::interpose::{Answer, Interposer, Passing};

const QUOTAS: Quotas = Quotas { pages: 200, threads: 1, semaphores: 2, locks: 2, children: 0 };

/// With this word no call comes by.
const SIGN: u64 = 0x5167_0000;

struct Through;
impl Interposer for Through {
    fn intercept(call: &Passing) -> Answer {
        match call.argument(1) {
            SIGN => Answer::error(Error::NotAllowed),
            _ => call.forward(),
        }
    }
}

/// What was granted to one is not its copy's; what a copy passes on of what it shares with it ends with either.
pub fn copied() {
    let mut before = None;
    let done = PORTALS.semaphore(0).expect("a semaphore");
    for round in 0..6 {
        let ends_first = round % 2 == 0;
        let coin = coin(70);
        let (_, place) = give(ONE, &coin, Rights::ALL.passed_on(8));
        let lent = ONE.lend(place).expect("it is lent");
        let granted = GRANTS.take_from(ONE.first_portal(), lent).expect("it is accepted");
        let offered = ONE.pass(place, own(), 0, 0).expect("it is offered");
        match LOADER.domain_fork::<Through>("copy", QUOTAS) {
            Ok(Side::Child) => {
                let value = granted.proxy().value();
                expect("what one was granted is not its copy's", value, Err(Error::NoPortal));
                let passed = GRANTS.pass(&granted, TWO.first_portal(), Rights::ALL).err();
                expect("nor to be passed on", passed, Some(Error::NotFound));
                let offered = Grant::<dyn Coin>::from_word(offered);
                let taken = GRANTS.take_from(ONE.first_portal(), offered).err();
                expect("nor what is offered to it", taken, Some(Error::NotFound));
                expect("what it has of its own is", coin.proxy().value(), Ok(70));
                // What is held of an import is wrapped as that is.
                let bank = GRANTS.held::<dyn Bank>(BANK.first_portal());
                let melted = bank.map(|bank| [0, SIGN].map(|value| bank.proxy().melt(value)));
                let refused = Ok([Err(Error::NotFound), Err(Error::NotAllowed)]);
                expect("and what it imports it holds", melted, refused);
                // The first place that is free.
                expect("and is passed on", give(TWO, &coin, Rights::ALL).1, 0);
                let _ = done.proxy().v();
                loop {
                    pause(1_000_000);
                }
            }
            Ok(Side::Parent(_)) => {
                expect("the copy does all this", done.proxy().p(), Ok(()));
                expect("who has it has it still", granted.proxy().value(), Ok(70));
                expect("and who had it of the copy", TWO.call(0, VALUE), Ok(70));
                if ends_first {
                    expect("the copy ends", LOADER.unload("copy"), Ok(()));
                    expect("it has not then", TWO.call(0, VALUE), Err(Error::NoPortal));
                    close(coin);
                } else {
                    close(coin);
                    expect("nor without the first", TWO.call(0, VALUE), Err(Error::NoPortal));
                    expect("the copy ends", LOADER.unload("copy"), Ok(()));
                }
                expect("all of it", granted.proxy().value(), Err(Error::NoPortal));
            }
            Err(error) => expect("a copy is made", Some(error), None),
        }
        let _ = (ONE.drop(place), TWO.drop(0), BANK.melt(70));
        close(granted);
        // What is kept for the next is there from the first ones on.
        if round % 2 == 1 {
            let now = LISTING.usage();
            expect("nothing is left of it", now, *before.get_or_insert(now));
        }
    }
    let _ = PORTALS.close(done.first_portal().into());
    say!("ok: who has it is copied");
}
