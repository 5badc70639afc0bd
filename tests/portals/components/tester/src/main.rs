//! Opens, is refused, closes, exhausts, revokes, synchronises; prints what held.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

#[macro_use]
mod report;
mod lies;
mod registers;
mod starved;
mod types;

use cairn::call::Call;
use cairn::component::Interface;
use cairn::sync::Mutex;
use cairn::{Error, environment, time};
use cairn_abi::InstanceId;
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_interfaces::{
    LockProxy, PortalControl, PortalListing, Portals, PortalsProxy, SemaphoreProxy, Threads,
};
use cairn_test_portals_contract::{
    CounterProxy, Late, Service, ServiceProxy, Slow, Typist, progress,
};
use report::Failed;

cairn::component! {
    name: "portal-test-tester",
    imports: {
        portals: Portals,
        control: PortalControl,
        listing: PortalListing,
        threads: Threads,
        typist: Typist,
    },
    main: main,
}

/// Prints what it finds wrong.
type Test = fn() -> Result<(), Failed>;

fn main() {
    let tests: [(&str, Test); 15] = [
        ("open by name and call", open),
        ("refusals", refusals),
        ("close and open again", close),
        ("exhaust and recover", exhaust),
        ("objects", objects),
        ("registration", registration),
        ("revoke while a thread is inside", revoke),
        ("semaphores between domains", semaphores),
        ("locks", locks),
        ("death", death),
        ("registers that look like names", registers::registers),
        ("a registered parameter type", types::types),
        ("a server that lies", lies::lies),
        ("a starved client", starved::starved),
        ("cost", cost),
    ];
    let mut failed = 0;
    let chosen = cairn::environment::argument();
    for (name, test) in tests.into_iter().filter(|(name, _)| name.contains(chosen)) {
        match test() {
            Ok(()) => say!("ok {name}"),
            Err(Failed) => failed += 1,
        }
    }
    say!("portals: {failed} failed");
}

fn service() -> Result<ServiceProxy, Error> {
    imports::PORTALS.open_proxy::<dyn Service>("server.service")
}

fn drop_block(first: u32) -> Result<(), Error> {
    imports::PORTALS.close(first.into())
}

fn open() -> Result<(), Failed> {
    let service = succeed!(service());
    expect!(service.add(2, 3), Ok(5));
    expect!(service.add(u64::MAX, 1), Err(Error::BadArgument));
    // Copied, and through a window.
    expect!(service.sum(&[1; 64]), Ok(64));
    expect!(service.sum(&[1; 1000]), Ok(1000));
    succeed!(drop_block(service.first_portal()));
    Ok(())
}

fn refusals() -> Result<(), Failed> {
    let portals = imports::PORTALS;
    expect!(portals.open("server.nothing", 0, &[]), Err(Error::NotFound));
    expect!(portals.open("nobody.service", 0, &[]), Err(Error::NotFound));
    expect!(portals.open("", 0, &[]), Err(Error::NotFound));
    expect!(portals.open(".", 0, &[]), Err(Error::NotFound));
    expect!(portals.open("server.", 0, &[]), Err(Error::NotFound));
    expect!(portals.open("server\0.service", 0, &[]), Err(Error::NotFound));
    expect!(portals.open("server.service\0", 0, &[]), Err(Error::NotFound));
    expect!(portals.open("server.secret", 0, &[]), Err(Error::NotAllowed));
    expect!(portals.open("names.control", 0, &[]), Err(Error::NotAllowed));
    expect!(portals.open("server.service", 1, &[]), Err(Error::VersionMismatch));
    // An object has no name.
    expect!(portals.open("server.counter", 0, &[]), Err(Error::NotFound));
    expect!(
        portals.open(core::str::from_utf8(&[b'x'; 64]).unwrap_or(""), 0, &[]),
        Err(Error::TooLarge)
    );
    // Not a name at all.
    let mut call = Call::new();
    call.skip();
    call.bytes(&[0xff, 0xfe]);
    call.word(0);
    expect!(call.invoke(portals.first_portal()).0, Error::Malformed.status());
    for first in [0, 1, 16, 400, 511, 512, 1 << 32, u64::MAX] {
        expect!(portals.close(first), Err(Error::NotFound));
    }
    // This domain serves nothing.
    expect!(portals.revoke("service", InstanceId(0)), Err(Error::NotFound));
    expect!(portals.end_object("counter", 0), Err(Error::NotFound));
    expect!(portals.make_object(InstanceId(1), 16, "counter", 0), Err(Error::NotFound));
    expect!(
        portals.make_object(InstanceId(u64::MAX as u16), 16, "counter", 0),
        Err(Error::BadArgument)
    );
    expect!(portals.unregister("server.service"), Err(Error::NotFound));
    expect!(portals.publish(16, "tester.x", "*"), Err(Error::NotFound));
    Ok(())
}

fn close() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    for _ in 0..100 {
        let service = succeed!(service());
        expect!(service.add(1, 1), Ok(2));
        succeed!(drop_block(service.first_portal()));
        expect!(service.add(1, 1), Err(Error::NoPortal));
        expect!(drop_block(service.first_portal()), Err(Error::NotFound));
    }
    expect!(imports::LISTING.usage(), Ok(before));
    Ok(())
}

/// Opens until it is refused; the value is how many blocks that were.
fn fill() -> Result<(u32, u32), Error> {
    let (mut first, mut count) = (u32::MAX, 0);
    loop {
        match service() {
            Ok(service) => {
                service.add(1, 1)?;
                first = first.min(service.first_portal());
                count += 1;
            }
            Err(Error::Exhausted) => return Ok((first, count)),
            Err(error) => return Err(error),
        }
    }
}

fn exhaust() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let (first, count) = succeed!(fill());
    expect!(count > 5, true);
    // Others are not exhausted.
    let methods = <dyn Service>::DESCRIPTOR.method_count;
    for block in 0..count {
        succeed!(drop_block(first + block * methods));
    }
    let again = succeed!(fill());
    expect!(again, (first, count));
    for block in 0..count {
        succeed!(drop_block(first + block * methods));
    }
    expect!(imports::LISTING.usage(), Ok(before));
    say!("{count} blocks of {methods} portals");
    Ok(())
}

fn objects() -> Result<(), Failed> {
    let service = succeed!(service());
    let before = succeed!(imports::LISTING.usage());
    let first = succeed!(service.counter(imports::PORTALS, 10));
    let second = succeed!(service.counter(imports::PORTALS, 20));
    let (one, two) = (first.proxy(), second.proxy());
    expect!((one.next(), two.next(), one.next()), (Ok(10), Ok(20), Ok(11)));
    // The server ends one: its portals are there, the object is not.
    succeed!(one.close());
    expect!(one.next(), Err(Error::NotFound));
    let third = succeed!(service.counter(imports::PORTALS, 30));
    expect!(one.next(), Err(Error::NotFound));
    expect!(third.proxy().next(), Ok(30));
    succeed!(drop_block(first.first_portal()));
    expect!(one.next(), Err(Error::NoPortal));
    // The server takes the portals of another back.
    let control = succeed!(two.control());
    expect!(service.end_counter(control), Ok(1));
    expect!(two.next(), Err(Error::NoPortal));
    // Its indexes are this domain's until it gives them up.
    let other = succeed!(service.counter(imports::PORTALS, 40));
    expect!(two.next(), Err(Error::NoPortal));
    succeed!(drop_block(other.first_portal()));
    succeed!(drop_block(second.first_portal()));
    expect!(drop_block(second.first_portal()), Err(Error::NotFound));
    expect!(third.proxy().next(), Ok(31));
    succeed!(third.proxy().close());
    succeed!(drop_block(third.first_portal()));
    // Nobody is given objects who did not reserve a place.
    for victim in 1..9 {
        for place in (0..512).chain([1 << 16 | 40, u64::MAX]) {
            expect!(service.counter_for(victim, place), Err(Error::NotFound));
        }
    }
    expect!(service.counter_for(200, 0), Err(Error::BadArgument));
    expect!(service.counter_for(0, 0), Err(Error::BadArgument));
    expect!(imports::LISTING.usage(), Ok(before));
    // An index of an object that was never made.
    expect!(CounterProxy::at(500).next(), Err(Error::NoPortal));
    succeed!(drop_block(service.first_portal()));
    Ok(())
}

fn registration() -> Result<(), Failed> {
    let service = succeed!(service());
    for attempt in 1..8 {
        let expected = match attempt {
            1 => Error::NotAllowed,
            2 | 4 => Error::NotSupported,
            7 => Error::Busy,
            _ => Error::BadArgument,
        };
        expect!((attempt, service.register(attempt)), (attempt, Err(expected)));
    }
    expect!(imports::PORTALS.open("server.late", 0, &[]), Err(Error::NotFound));
    succeed!(service.register(0));
    expect!(service.register(0), Err(Error::Busy));
    expect!(imports::PORTALS.open("server.late", 1, &[]), Err(Error::VersionMismatch));
    let late = succeed!(imports::PORTALS.open_proxy::<dyn Late>("server.late"));
    expect!(late.multiply(6, 7), Ok(42));
    succeed!(service.unregister());
    expect!(late.multiply(6, 7), Err(Error::NoPortal));
    succeed!(drop_block(late.first_portal()));
    expect!(imports::PORTALS.open("server.late", 0, &[]), Err(Error::NotFound));
    succeed!(drop_block(service.first_portal()));
    Ok(())
}

/// Waits until the partner has come so far.
fn wait_for(service: &ServiceProxy, expected: u64) -> Result<(), Failed> {
    for _ in 0..1000 {
        if service.progress() == Ok(expected) {
            return Ok(());
        }
        succeed!(imports::THREADS.sleep_until(time::now() + time::ticks(1000)));
    }
    expect!(service.progress(), Ok(expected));
    Ok(())
}

/// The partner: the number behind this one.
fn partner() -> InstanceId {
    InstanceId(cairn::environment::startup().instance.0 + 1)
}

fn revoke() -> Result<(), Failed> {
    let service = succeed!(service());
    expect!(service.inside(), Ok(1));
    let slow = succeed!(imports::PORTALS.open_proxy::<dyn Slow>("server.slow"));
    let used = || imports::LISTING.usage().map(|(used, _)| used);
    let before = succeed!(used());
    expect!(service.revoke_slow(partner().into()), Ok(1));
    expect!(service.revoke_slow(partner().into()), Ok(0));
    // The partner's frame names the return portal alone.
    let after = succeed!(used());
    expect!(after < before, true);
    let (go, back, lock) = prepare()?;
    succeed!(service.release());
    wait_for(&service, progress::OPENED)?;
    expect!(service.inside(), Ok(0));
    // This domain's portal was not meant.
    succeed!(service.release());
    expect!(slow.hold(), Ok(42));
    expect!(service.revoke_slow(0), Ok(1));
    expect!(slow.hold(), Err(Error::NoPortal));
    succeed!(drop_block(slow.first_portal()));
    succeed!(drop_block(service.first_portal()));
    PUBLISHED.with(|published| *published = (go, back, lock));
    Ok(())
}

static PUBLISHED: cairn::exclusive::Exclusive<(u32, u32, u32)> =
    cairn::exclusive::Exclusive::new((0, 0, 0));

fn prepare() -> Result<(u32, u32, u32), Failed> {
    let portals = imports::PORTALS;
    let go = succeed!(portals.semaphore(0)).first_portal();
    let back = succeed!(portals.semaphore(0)).first_portal();
    let lock = succeed!(portals.lock()).first_portal();
    succeed!(portals.publish(go.into(), "tester.go", "partner"));
    succeed!(portals.publish(back.into(), "tester.back", "*"));
    succeed!(portals.publish(lock.into(), "tester.lock", "partner"));
    expect!(portals.publish(lock.into(), "server.lock", "*"), Err(Error::NotAllowed));
    expect!(portals.publish(lock.into(), "tester.other", "partner nobody"), Err(Error::NotFound));
    // The policy holds for the one who made it too.
    expect!(portals.open("tester.go", 0, &[]), Err(Error::NotAllowed));
    Ok((go, back, lock))
}

fn semaphores() -> Result<(), Failed> {
    let (go, back, _) = PUBLISHED.with(|published| *published);
    let (go, back) = (SemaphoreProxy::at(go), SemaphoreProxy::at(back));
    for _ in 0..100 {
        succeed!(go.v());
        succeed!(back.p());
    }
    expect!(back.try_p(), Err(Error::WouldBlock));
    let deadline = time::now() + time::ticks(500);
    expect!(back.p_until(deadline), Err(Error::TimedOut));
    expect!(time::now() >= deadline, true);
    // The partner waits for it.
    expect!(drop_block(go.first_portal()), Err(Error::Busy));
    Ok(())
}

static SHARED: Mutex<u64> = Mutex::new(7);

fn locks() -> Result<(), Failed> {
    let (go, back, lock) = PUBLISHED.with(|published| *published);
    let service = succeed!(service());
    let proxy = LockProxy::at(lock);
    succeed!(proxy.lock());
    succeed!(SemaphoreProxy::at(go).v());
    // The partner, of a higher priority, is ready and waits for the lock.
    succeed!(imports::THREADS.sleep_until(time::now() + time::ticks(2000)));
    expect!(service.progress(), Ok(progress::OPENED));
    expect!(drop_block(lock), Err(Error::Busy));
    succeed!(proxy.unlock());
    wait_for(&service, progress::LOCKED)?;
    succeed!(drop_block(back));
    expect!(SemaphoreProxy::at(back).v(), Err(Error::NoPortal));
    succeed!(SemaphoreProxy::at(go).v());
    wait_for(&service, progress::CLOSED)?;
    succeed!(drop_block(go));
    succeed!(drop_block(lock));
    expect!(imports::PORTALS.open("tester.back", 0, &[]), Err(Error::NotFound));

    *succeed!(SHARED.lock()) += 1;
    expect!(SHARED.lock().map(|value| *value), Ok(8));
    // The same thread once more would wait for itself.
    let held = succeed!(SHARED.lock());
    expect!(SHARED.lock().map(|value| *value), Err(Error::Busy));
    expect!(*held, 8);
    drop(held);
    succeed!(drop_block(service.first_portal()));
    Ok(())
}

/// What the supervisor does when an instance died, without its death.
fn died(instance: InstanceId) -> Result<(), Error> {
    while imports::CONTROL.instance_died(instance)? != 0 {}
    imports::CONTROL.instance_starts(instance)
}

fn death() -> Result<(), Failed> {
    let service = succeed!(service());
    let before = succeed!(imports::LISTING.usage());
    let object = succeed!(service.counter(imports::PORTALS, 5));
    succeed!(service.register(0));
    let late = succeed!(imports::PORTALS.open_proxy::<dyn Late>("server.late"));
    expect!(late.multiply(2, 3), Ok(6));
    let server = InstanceId(partner().0 - 2);
    expect!(imports::CONTROL.instance_starts(server), Err(Error::Busy));
    succeed!(died(server));
    // A successor of the server would not know these.
    expect!(object.proxy().next(), Err(Error::NoPortal));
    expect!(late.multiply(2, 3), Err(Error::NoPortal));
    expect!(imports::PORTALS.open("server.late", 0, &[]), Err(Error::NotFound));
    for ended in [object.first_portal(), late.first_portal()] {
        succeed!(drop_block(ended));
    }
    // But it would serve this.
    expect!(service.add(2, 2), Ok(4));
    // The server's own semaphore, which it made for `hold`, went as well.
    let after = succeed!(imports::LISTING.usage());
    expect!(after.0 < before.0, true);
    // The partner has ended; what it had opened is left.
    let mut text = [0; 64];
    // Behind its one import.
    let first = PORTAL_FIRST_IMPORT as u64 + u64::from(PortalsProxy::METHODS);
    let own = |text: &mut [u8]| imports::LISTING.describe(partner(), first, text);
    expect!(own(&mut text).is_ok(), true);
    succeed!(died(partner()));
    expect!(succeed!(imports::LISTING.usage()).0 < after.0, true);
    expect!(own(&mut text), Err(Error::NotFound));
    for instance in [0, 200, 256, u16::MAX].map(InstanceId) {
        expect!(imports::CONTROL.instance_died(instance), Err(Error::BadArgument));
    }
    expect!(imports::CONTROL.instance_died(partner()), Ok(0));
    succeed!(drop_block(service.first_portal()));
    Ok(())
}

fn cost() -> Result<(), Failed> {
    for (specification, budget) in [("smcii", 2500), ("npcwi", 4000)] {
        let mut least = i64::MAX;
        for _ in 0..10 {
            let cost = succeed!(imports::CONTROL.measure(specification));
            least = least.min(cost.instructions);
        }
        say!("{specification}: {least} instructions");
        expect!(least <= budget, true);
    }
    expect!(imports::CONTROL.measure("rpci"), Err(Error::BadArgument));
    let mut text = [0; 64];
    let (length, index) =
        succeed!(imports::LISTING.describe(environment::startup().instance, 0, &mut text));
    let line = core::str::from_utf8(&text[..length]).unwrap_or("?");
    say!("{index} {line}");
    Ok(())
}
