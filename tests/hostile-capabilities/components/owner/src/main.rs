//! Passes on what it holds, to components that do with it what they can: nobody gets more than was given, or keeps what was taken
//! back.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../../../portals/components/tester/src/report.rs"]
mod report;
mod crowds;
mod deaths;
mod kinds;
mod waits;

use cairn::{Caller, Error, Grant, InstanceId, Object};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Grants, PortalControl, PortalListing, Portals, Rights, Threads};
use cairn_test_hostile_capabilities_contract::{Agent, AgentProxy, Bank, Coin};
use report::Failed;

cairn::component! {
    name: "capabilities-owner",
    imports: {
        portals: Portals,
        grants: Grants,
        control: PortalControl,
        listing: PortalListing,
        threads: Threads,
        bank: Bank,
        one: Agent,
        two: Agent,
        forger: Echo,
        branch: Bank,
    },
    main: main,
}

use imports::{BANK, GRANTS, ONE, PORTALS, TWO};

/// Methods of a coin.
const VALUE: u64 = 0;
const ADD: u64 = 1;
const CALLER: u64 = 2;
const WAIT: u64 = 3;
const SUM: u64 = 4;

type Test = fn() -> Result<(), Failed>;

fn main() {
    let tests: [(&str, Test); 26] = [
        ("a coin goes from hand to hand", hand_to_hand),
        ("forged words", forged),
        ("the same word again", replay),
        ("another receiver", another_receiver),
        ("more methods than given", more_methods),
        ("more calls than given", more_calls),
        ("more calls by several threads", crowds::more_calls),
        ("more calls by threads that wait for a stack", crowds::stack_waits),
        ("after the time", late),
        ("what may not be passed on", not_transferable),
        ("what its server did not know", deposit),
        ("revoked while a thread is inside", crowds::inside),
        ("revoked with all that came of it", crowds::tree),
        ("a flood of grants", flood),
        ("a granter that dies", deaths::granter),
        ("a receiver that dies", deaths::receiver),
        ("a call that fails", kinds::failed_call),
        ("semaphores and imports", kinds::other_kinds),
        ("semaphores for so many calls", waits::semaphore_calls),
        ("semaphores by several threads", waits::crowd),
        ("a lock for so many calls", waits::lock_calls),
        ("who waits, and the time ends", waits::late),
        ("who waits, and it is taken back", waits::taken_back),
        ("the scheduler for so many calls", waits::scheduler),
        ("a coin of another bank", kinds::changed),
        ("a forger in C", kinds::in_c),
    ];
    let mut failed = 0;
    for (name, test) in tests {
        match test() {
            Ok(()) => say!("ok {name}"),
            Err(Failed) => failed += 1,
        }
    }
    say!("hostile-capabilities: {failed} failed");
}

/// This instance.
fn own() -> u64 {
    cairn::environment::startup().instance.into()
}

/// The two agents: those before this one.
fn agents() -> (u64, u64) {
    (own() - 2, own() - 1)
}

fn close(coin: Object<dyn Coin>) -> Result<(), Error> {
    PORTALS.close(coin.first_portal().into())
}

fn coin(value: u64) -> Result<Object<dyn Coin>, Error> {
    BANK.coin(PORTALS, value)
}

/// Passes a coin on to an agent: the grant, and where that has it.
fn give(
    agent: AgentProxy,
    coin: &Object<dyn Coin>,
    rights: Rights,
) -> Result<(Grant<dyn Coin>, u64), Error> {
    let grant = GRANTS.pass(coin, agent.first_portal(), rights)?;
    Ok((grant, agent.keep(grant)?))
}

/// As a parameter, and as what a method returns.
fn hand_to_hand() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let own_coin = succeed!(coin(10));
    let (grant, place) = succeed!(give(ONE, &own_coin, Rights::ALL.passed_on(2)));
    for (method, value) in [(VALUE, 10), (ADD, 11), (SUM, 6), (CALLER, agents().0)] {
        expect!(ONE.call(place, method), Ok(value));
    }
    // Who calls is who it says, not who passed it on.
    expect!(own_coin.proxy().caller(), Ok(own()));
    let word = succeed!(ONE.pass(place, agents().1, 1, 0));
    let second = succeed!(TWO.keep_word(agents().0, word));
    expect!(TWO.call(second, CALLER), Ok(agents().1));
    // Back to where it came from, through both.
    let lent = succeed!(TWO.lend(second));
    expect!(GRANTS.take_from(ONE.first_portal(), lent).err(), Some(Error::NotFound));
    let back = succeed!(GRANTS.take_from(TWO.first_portal(), lent));
    expect!(back.proxy().value(), Ok(10));
    expect!(back.proxy().caller(), Ok(own()));
    succeed!(GRANTS.take_back(grant));
    expect!(ONE.call(place, VALUE), Err(Error::NoPortal));
    expect!(TWO.call(second, VALUE), Err(Error::NoPortal));
    expect!(back.proxy().value(), Err(Error::NoPortal));
    expect!(own_coin.proxy().value(), Ok(10));
    // What is open is passed on like an object.
    succeed!(ONE.drop(place));
    succeed!(TWO.drop(second));
    succeed!(close(back));
    expect!(BANK.melt(10), Ok(1));
    succeed!(close(own_coin));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

fn forged() -> Result<(), Failed> {
    let coin = succeed!(coin(11));
    let grant = succeed!(GRANTS.pass(&coin, TWO.first_portal(), Rights::ALL));
    let word = grant.word();
    // All words around it, said to be anybody's.
    for near in [0, word & !0xffff, word - 2, word + (1 << 16), word ^ 1 << 40] {
        expect!(ONE.guess(near, 5, own() + 1), Ok(0));
    }
    // Those of before, and of after.
    for number in 0..word >> 16 {
        expect!(ONE.guess(number << 16, 4, own()), Ok(0));
    }
    // It is there still for who it is for, and of who granted it.
    expect!(TWO.keep_word(agents().0, word), Err(Error::NotFound));
    let place = succeed!(TWO.keep(grant));
    succeed!(TWO.drop(place));
    expect!(GRANTS.revoke(word), Err(Error::NotFound));
    expect!(GRANTS.revoke(u64::MAX), Err(Error::NotFound));
    for to in [1 << 33, u64::MAX, 1 << 32 | 999] {
        expect!(GRANTS.grant(coin.first_portal().into(), to, Rights::ALL), Err(Error::BadArgument));
    }
    for first in [0, 15, 16, u64::MAX, u64::from(ONE.first_portal())] {
        let to = u64::from(ONE.first_portal());
        expect!(GRANTS.grant(first, to, Rights::ALL), Err(Error::NotFound));
    }
    expect!(BANK.melt(11), Ok(1));
    succeed!(close(coin));
    Ok(())
}

fn replay() -> Result<(), Failed> {
    let coin = succeed!(coin(12));
    let (grant, place) = succeed!(give(ONE, &coin, Rights::ALL));
    for _ in 0..3 {
        expect!(ONE.keep(grant), Err(Error::NotFound));
    }
    succeed!(GRANTS.take_back(grant));
    expect!(ONE.keep(grant), Err(Error::NotFound));
    expect!(GRANTS.take_back(grant), Err(Error::NotFound));
    // Another one in its place is not it.
    let (next, second) = succeed!(give(ONE, &coin, Rights::ALL));
    expect!((next.word() & 0xffff, next.word() != grant.word()), (grant.word() & 0xffff, true));
    expect!(ONE.keep(grant), Err(Error::NotFound));
    expect!(GRANTS.take_back(grant), Err(Error::NotFound));
    expect!((ONE.call(place, VALUE), ONE.call(second, VALUE)), (Err(Error::NoPortal), Ok(12)));
    succeed!(ONE.drop(second));
    expect!(ONE.keep(next), Err(Error::NotFound));
    succeed!(ONE.drop(place));
    expect!(BANK.melt(12), Ok(1));
    succeed!(close(coin));
    Ok(())
}

fn another_receiver() -> Result<(), Failed> {
    let coin = succeed!(coin(13));
    let grant = succeed!(GRANTS.pass(&coin, ONE.first_portal(), Rights::ALL));
    expect!(TWO.keep(grant), Err(Error::NotFound));
    expect!(GRANTS.take_from(ONE.first_portal(), grant).err(), Some(Error::NotFound));
    let caller = Caller(InstanceId(own() as u16));
    expect!(GRANTS.pass_to(&coin, caller, Rights::ALL).err(), Some(Error::NotAllowed));
    // Nor does anybody else take it back.
    expect!(TWO.revoke(grant.word()), Err(Error::NotFound));
    expect!(ONE.revoke(grant.word()), Err(Error::NotFound));
    let place = succeed!(ONE.keep(grant));
    expect!(ONE.revoke(grant.word()), Err(Error::NotFound));
    succeed!(ONE.drop(place));
    expect!(BANK.melt(13), Ok(1));
    succeed!(close(coin));
    Ok(())
}

fn more_methods() -> Result<(), Failed> {
    let coin = succeed!(coin(14));
    let some = const { Rights::ALL.only::<dyn Coin>(&["value", "sum"]).passed_on(3) };
    let (_, place) = succeed!(give(ONE, &coin, some));
    for method in [VALUE, ADD, CALLER, WAIT, SUM] {
        let is_given = [VALUE, SUM].contains(&method);
        expect!((method, ONE.call(place, method).is_ok()), (method, is_given));
    }
    expect!(ONE.call(place, ADD), Err(Error::NoPortal));
    // Who passes it on has no others to give.
    let word = succeed!(ONE.pass(place, agents().1, 0, 0));
    let second = succeed!(TWO.keep_word(agents().0, word));
    expect!((TWO.call(second, SUM), TWO.call(second, CALLER)), (Ok(6), Err(Error::NoPortal)));
    let nothing = Rights { methods: 1 << 5, ..Rights::ALL };
    let refused = GRANTS.pass(&coin, ONE.first_portal(), nothing);
    expect!(refused.err(), Some(Error::BadArgument));
    for none in [Rights::ALL.calls(0), Rights::ALL.calls(0).only::<dyn Coin>(&["value"])] {
        let refused = GRANTS.pass(&coin, ONE.first_portal(), none);
        expect!(refused.err(), Some(Error::BadArgument));
    }
    succeed!(ONE.drop(place));
    succeed!(TWO.drop(second));
    expect!(BANK.melt(14), Ok(1));
    succeed!(close(coin));
    Ok(())
}

fn more_calls() -> Result<(), Failed> {
    let coin = succeed!(coin(15));
    let (_, once) = succeed!(give(ONE, &coin, Rights::ONCE));
    expect!((ONE.call(once, VALUE), ONE.call(once, VALUE)), (Ok(15), Err(Error::Exhausted)));
    // Of any of its methods, those with buffers among them.
    expect!(ONE.call(once, SUM), Err(Error::Exhausted));
    let (_, five) = succeed!(give(ONE, &coin, Rights::ALL.calls(5).passed_on(8)));
    expect!(ONE.hammer(five, 3), Ok(3));
    // The calls that it passes on it has no more, and all together are five.
    expect!(ONE.pass(five, agents().1, 0, 3), Err(Error::Exhausted));
    let word = succeed!(ONE.pass(five, agents().1, 0, 1));
    let second = succeed!(TWO.keep_word(agents().0, word));
    expect!((ONE.hammer(five, 9), TWO.hammer(second, 9)), (Ok(1), Ok(1)));
    expect!(ONE.pass(five, agents().1, 0, 0), Err(Error::Exhausted));
    expect!(ONE.pass(five, agents().1, 0, 1), Err(Error::Exhausted));
    // What was not used comes back, once.
    let (_, three) = succeed!(give(ONE, &coin, Rights::ALL.calls(3).passed_on(8)));
    let word = succeed!(ONE.pass(three, agents().1, 0, 0));
    expect!(ONE.call(three, VALUE), Err(Error::Exhausted));
    succeed!(ONE.revoke(word));
    expect!(ONE.revoke(word), Err(Error::NotFound));
    expect!(ONE.hammer(three, 9), Ok(3));
    for place in [once, five, three] {
        succeed!(ONE.drop(place));
    }
    succeed!(TWO.drop(second));
    expect!(BANK.melt(15), Ok(1));
    succeed!(close(coin));
    Ok(())
}

fn late() -> Result<(), Failed> {
    let coin = succeed!(coin(16));
    let now = cairn::time::now();
    let end = now + cairn::time::ticks(500_000);
    let rights = Rights::ALL.until(end).passed_on(4);
    let (_, place) = succeed!(give(ONE, &coin, rights));
    expect!(ONE.call(place, VALUE), Ok(16));
    let word = succeed!(ONE.pass(place, agents().1, 0, 7));
    let second = succeed!(TWO.keep_word(agents().0, word));
    expect!(TWO.call(second, VALUE), Ok(16));
    let (_, over) = succeed!(give(ONE, &coin, Rights::ALL.until(now)));
    expect!(ONE.call(over, VALUE), Err(Error::TimedOut));
    succeed!(imports::THREADS.sleep_until(end));
    for method in [VALUE, ADD, SUM] {
        expect!(ONE.call(place, method), Err(Error::TimedOut));
        // Whoever passed it on, and however many calls are left.
        expect!(TWO.call(second, method), Err(Error::TimedOut));
    }
    let word = succeed!(ONE.pass(place, agents().1, 0, 0));
    let third = succeed!(TWO.keep_word(agents().0, word));
    expect!(TWO.call(third, VALUE), Err(Error::TimedOut));
    expect!(coin.proxy().value(), Ok(16));
    for place in [place, over] {
        succeed!(ONE.drop(place));
    }
    for place in [second, third] {
        succeed!(TWO.drop(place));
    }
    expect!(BANK.melt(16), Ok(1));
    succeed!(close(coin));
    Ok(())
}

fn not_transferable() -> Result<(), Failed> {
    let coin = succeed!(coin(17));
    let (_, place) = succeed!(give(ONE, &coin, Rights::ALL));
    expect!(ONE.pass(place, agents().1, 0, 0), Err(Error::NotAllowed));
    expect!(ONE.lend(place).err(), Some(Error::NotAllowed));
    // Once is once, for its receiver's receivers too.
    let (_, other) = succeed!(give(ONE, &coin, Rights::ALL.passed_on(1)));
    expect!(ONE.pass(other, agents().1, 1, 0), Err(Error::Exhausted));
    let word = succeed!(ONE.pass(other, agents().1, 0, 0));
    let second = succeed!(TWO.keep_word(agents().0, word));
    expect!(ONE.pass(other, agents().1, 0, 0), Err(Error::NotAllowed));
    expect!(TWO.pass(second, agents().0, 0, 0), Err(Error::NotAllowed));
    succeed!(ONE.drop(place));
    succeed!(ONE.drop(other));
    expect!(TWO.call(second, VALUE), Err(Error::NoPortal));
    succeed!(TWO.drop(second));
    expect!(BANK.melt(17), Ok(1));
    succeed!(close(coin));
    Ok(())
}

/// Nobody is called by its own portals.
fn deposit() -> Result<(), Failed> {
    let coin = succeed!(coin(18));
    let refused = GRANTS.pass(&coin, BANK.first_portal(), Rights::ALL);
    expect!(refused.err(), Some(Error::NotAllowed));
    expect!(BANK.deposit(Grant::from_word(1 << 16)), Err(Error::NotFound));
    expect!(BANK.melt(18), Ok(1));
    succeed!(close(coin));
    Ok(())
}

/// One agent grants all that it may: others grant and get as before.
fn flood() -> Result<(), Failed> {
    let (first, second) = agents();
    let granted = succeed!(ONE.flood(own()));
    expect!((granted > 16, granted), (true, granted));
    expect!(ONE.flood(second), Ok(0));
    let coin = succeed!(coin(19));
    let (grant, place) = succeed!(give(ONE, &coin, Rights::ALL.passed_on(3)));
    // What it got may be passed on: who granted it bears that.
    let word = succeed!(ONE.pass(place, second, 0, 0));
    let last = succeed!(TWO.keep_word(first, word));
    expect!(TWO.call(last, VALUE), Ok(19));
    succeed!(GRANTS.take_back(grant));
    // Its death ends them.
    succeed!(deaths::died(first));
    succeed!(TWO.drop(last));
    expect!(ONE.flood(second), Ok(granted));
    succeed!(deaths::died(first));
    expect!(BANK.melt(19), Ok(1));
    succeed!(close(coin));
    Ok(())
}
