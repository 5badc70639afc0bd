//! A client of hostile servers, in safe code: whatever they do, its words stay words.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../../../portals/components/tester/src/report.rs"]
mod report;
mod reserve;

use cairn::InstanceId;
use cairn::object::Places;
use cairn::{Error, Object};
use cairn_interfaces::{PortalControl, PortalListing, Portals, Threads};
use cairn_test_hostile_objects_contract::{Bank, BankProxy, Numbers, how};
use core::hint::black_box;
use report::Failed;

cairn::component! {
    name: "hostile-objects-victim",
    imports: {
        portals: Portals,
        control: PortalControl,
        listing: PortalListing,
        threads: Threads,
        bank: Bank,
        second: Bank,
    },
    main: main,
}

use imports::{BANK, PORTALS, SECOND};

/// What nobody else may read.
static SECRET: [u8; 8] = *b"PASSWORD";

/// A word that a server asked for; to this program it is not an address.
fn cookie() -> u64 {
    black_box(&SECRET).as_ptr().expose_provenance() as u64
}

type Test = fn() -> Result<(), Failed>;

fn main() {
    let tests: [(&str, Test); 10] = [
        ("an object of other letters", other_letters),
        ("another object where one was", swapped),
        ("what a server says of a place", sayings),
        ("objects that nobody asked for", unasked),
        ("a place of a former reservation", former),
        ("objects that end at once", ended),
        ("places for a server that died", died_before),
        ("a client that dies with places", client_dies),
        ("hostile reservations", reserve::arguments),
        ("places that nobody gives back", reserve::leak),
    ];
    let mut failed = 0;
    for (name, test) in tests {
        match test() {
            Ok(()) => say!("ok {name}"),
            Err(Failed) => failed += 1,
        }
    }
    say!("hostile-objects: {failed} failed");
}

fn close(first: u32) -> Result<(), Error> {
    PORTALS.close(first.into())
}

fn open(bank: BankProxy, how: u64) -> Result<Object<dyn Numbers>, Error> {
    bank.open(PORTALS, how)
}

/// The server puts an object there whose first word is a buffer's address.
fn other_letters() -> Result<(), Failed> {
    let numbers = succeed!(open(BANK, how::OTHER_LETTERS));
    expect!(numbers.proxy().pair(cookie(), 8), Err(Error::NoPortal));
    succeed!(close(numbers.first_portal()));
    Ok(())
}

/// Inside a later call, the server takes its object back and has the client open one of other letters.
fn swapped() -> Result<(), Failed> {
    let numbers = succeed!(open(BANK, how::HONEST));
    expect!(numbers.proxy().pair(cookie(), 8), Ok(cookie() + 8));
    expect!(BANK.end(), Ok(1));
    let first = u64::from(numbers.first_portal());
    for place in [first, first | 1 << 16, first | 2 << 16] {
        expect!(BANK.fill(own().into(), place, true), Err(Error::NotFound));
    }
    // Whatever the client itself opens is elsewhere.
    let mut readers = [0; 8];
    for reader in &mut readers {
        *reader = succeed!(BANK.reader(PORTALS)).first_portal();
        expect!(numbers.proxy().pair(cookie(), 8), Err(Error::NoPortal));
    }
    readers.into_iter().try_for_each(|reader| {
        succeed!(close(reader));
        Ok(())
    })?;
    expect!(numbers.proxy().pair(cookie(), 8), Err(Error::NoPortal));
    succeed!(close(numbers.first_portal()));
    // Only now the index can mean something else.
    let reader = succeed!(BANK.reader(PORTALS));
    expect!(reader.first_portal(), numbers.first_portal());
    expect!(reader.proxy().pair(&SECRET), Ok(u64::from_le_bytes(SECRET)));
    succeed!(close(reader.first_portal()));
    Ok(())
}

fn sayings() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    for (how, found) in [
        (how::NOTHING, Err(Error::NoPortal)),
        (how::TWICE, Ok(3)),
        (how::ENDED, Err(Error::NoPortal)),
    ] {
        let numbers = succeed!(open(BANK, how));
        expect!((how, numbers.proxy().pair(1, 2)), (how, found));
        succeed!(close(numbers.first_portal()));
    }
    // The proxy has given the place back, filled or not.
    for _ in 0..1000 {
        expect!(open(BANK, how::FAILED).err(), Some(Error::Busy));
    }
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// How much of its share this client can still get.
fn left() -> u64 {
    let mut made = [0; 512];
    let mut count = 0;
    while let Ok(word) = PORTALS.reserve_for::<dyn Numbers>(BANK.first_portal()) {
        made[count] = word;
        count += 1;
    }
    for word in &made[..count] {
        let _ = close(*word as u16 as u32);
    }
    count as u64
}

/// Two servers together try to fill their client's share.
fn unasked() -> Result<(), Failed> {
    let before = left();
    expect!((before > 8, before), (true, before));
    expect!(BANK.flood(own().into(), 4), Ok(0));
    expect!(SECOND.flood(own().into(), 4), Ok(0));
    expect!(left(), before);
    // A place for one server is not for another.
    let word = succeed!(PORTALS.reserve_for::<dyn Numbers>(BANK.first_portal()));
    expect!(SECOND.fill(own().into(), word, false), Err(Error::NotAllowed));
    expect!(BANK.fill(own().into(), word, true), Err(Error::NotAllowed));
    for other in (0..12).filter(|other| *other != own().into()) {
        expect!(BANK.fill(other, word, false).is_err(), true);
    }
    succeed!(BANK.fill(own().into(), word, false));
    succeed!(close(word as u16 as u32));
    Ok(())
}

/// The server keeps the name of a place, until its client uses the index for something else.
fn former() -> Result<(), Failed> {
    let first = succeed!(PORTALS.reserve_for::<dyn Numbers>(BANK.first_portal()));
    succeed!(close(first as u16 as u32));
    expect!(BANK.fill(own().into(), first, false), Err(Error::NotFound));
    let second = succeed!(PORTALS.reserve_for::<dyn Numbers>(BANK.first_portal()));
    expect!(second as u16, first as u16);
    expect!(BANK.fill(own().into(), first, false), Err(Error::NotFound));
    succeed!(BANK.fill(own().into(), second, false));
    succeed!(close(second as u16 as u32));
    Ok(())
}

/// The server takes each object back as soon as it is there; the client does not close what is left.
fn ended() -> Result<(), Failed> {
    let before = left();
    let mut kept = [0; 512];
    let mut count = 0;
    let error = loop {
        match open(BANK, how::ENDED) {
            Ok(numbers) => kept[count] = numbers.first_portal(),
            Err(error) => break error,
        }
        count += 1;
    };
    // The client is who cannot open any more; others can.
    expect!((error, count as u64, left()), (Error::Exhausted, before, 0));
    expect!(SECOND.work(), Ok(()));
    for first in &kept[..count] {
        succeed!(close(*first));
    }
    expect!(left(), before);
    Ok(())
}

/// What the supervisor does when an instance died, without its death.
fn died(instance: InstanceId) -> Result<(), Error> {
    while imports::CONTROL.instance_died(instance)? != 0 {}
    imports::CONTROL.instance_starts(instance)
}

/// This instance.
fn own() -> InstanceId {
    cairn::environment::startup().instance
}

/// The two servers: those before this one.
fn servers() -> (InstanceId, InstanceId) {
    (InstanceId(own().0 - 2), InstanceId(own().0 - 1))
}

/// Its successor knows the name of the place.
fn died_before() -> Result<(), Failed> {
    let word = succeed!(PORTALS.reserve_for::<dyn Numbers>(BANK.first_portal()));
    let numbers = succeed!(open(BANK, how::HONEST));
    expect!(imports::CONTROL.instance_starts(servers().0), Err(Error::Busy));
    succeed!(died(servers().0));
    expect!(BANK.fill(own().into(), word, false), Err(Error::NotFound));
    expect!(numbers.proxy().pair(1, 2), Err(Error::NoPortal));
    let next = succeed!(open(BANK, how::HONEST));
    expect!(next.proxy().pair(1, 2), Ok(3));
    expect!(numbers.proxy().pair(1, 2), Err(Error::NoPortal));
    for first in [word as u16 as u32, numbers.first_portal(), next.first_portal()] {
        succeed!(close(first));
    }
    Ok(())
}

fn client_dies() -> Result<(), Failed> {
    let (_, second) = servers();
    let before = succeed!(imports::LISTING.usage());
    for _ in 0..20 {
        let word = succeed!(SECOND.reserve(8));
        succeed!(died(second));
        expect!(BANK.fill(second.into(), word, false), Err(Error::NotFound));
    }
    expect!(SECOND.work(), Ok(()));
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}
