//! Passes pages in windows of all kinds, and tries what may not be.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::call::Call;
use cairn::section::Section;
use cairn::text::Line;
use cairn::{Error, InstanceId, environment};
use cairn_interfaces::{
    Console, Memory, MemoryStatistics, Pages, Portals, Supervisor, Threads, Torn, Windows,
};
use cairn_test_windows_contract::Keeper;

cairn::component! {
    name: "windows-judge",
    imports: {
        console: Console,
        threads: Threads,
        portals: Portals,
        supervisor: Supervisor,
        memory: Memory,
        windows: Windows,
        usage: MemoryStatistics,
        keeper: Keeper,
        thief: Keeper,
        board: Keeper,
    },
    main: main,
}

use imports::{KEEPER, MEMORY, SUPERVISOR, THIEF, USAGE, WINDOWS};

const PAGE: usize = 4096;
/// Of a lasting window.
const PAGES: u64 = 3;
/// Of what is torn off.
const TORN: u64 = 16;

fn say(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.write(Line::<160>::of(format_args!("{text}\n")).bytes());
}

fn own() -> InstanceId {
    environment::startup().instance
}

fn used(instance: InstanceId) -> u64 {
    USAGE.usage_of(instance).expect("usage").0
}

/// Pages with words in them.
fn pages(count: u64) -> Pages {
    let pages = MEMORY.pages(count).expect("pages");
    (0..pages.size()).step_by(8).for_each(|at| pages.store(at, at as u64));
    pages
}

fn sum(pages: u64) -> u64 {
    (0..pages * PAGE as u64).step_by(8).sum()
}

fn main() {
    let (keeper, thief) = (KEEPER.number().expect("number"), THIEF.number().expect("number"));
    let before = [own(), keeper, thief].map(used);
    let free = USAGE.usage().expect("usage").0;
    tear(keeper);
    steal(keeper, thief);
    lasting(keeper, thief);
    in_calls();
    of_a_section();
    die(keeper);
    assert_eq!([own(), keeper, thief].map(used), before, "something is still there");
    assert_eq!(USAGE.usage().expect("usage").0, free, "pages are lost");
    say(format_args!("ok: windows: done"));
    let _ = SUPERVISOR.halt(0);
}

/// Pages go there and come back.
fn tear(keeper: InstanceId) {
    let before = [own(), keeper].map(used);
    let torn = pages(TORN).tear(&WINDOWS, keeper).expect("tear");
    assert_eq!(used(own()), before[0] + TORN + 1, "their owner pays until they are taken");
    assert_eq!(KEEPER.put(torn), Ok(sum(TORN)));
    assert_eq!([own(), keeper].map(used), [before[0], before[1] + TORN]);
    assert_eq!(KEEPER.put(torn), Err(Error::NotFound), "once only");
    let torn = KEEPER.get().expect("get");
    let back = MEMORY.take(&WINDOWS, torn, keeper).expect("take");
    assert_eq!([own(), keeper].map(used), [before[0] + TORN, before[1]]);
    assert!((0..back.size()).step_by(8).all(|at| back.load(at) == at as u64));
    say(format_args!("ok: {TORN} pages go there and come back"));
}

/// Nobody gets what is another's.
fn steal(keeper: InstanceId, thief: InstanceId) {
    let torn = pages(2).tear(&WINDOWS, keeper).expect("tear");
    for from in [own(), keeper, thief, InstanceId(0), InstanceId(u16::MAX)] {
        assert_eq!(THIEF.take(torn, from), Err(Error::NotAllowed), "it is for another");
    }
    for name in [0, torn.name + 8, torn.name + PAGE as u64, u64::MAX] {
        assert_eq!(KEEPER.put(Torn { name }), Err(Error::NotFound));
    }
    assert_eq!(THIEF.close(torn.name), Err(Error::NotFound), "it is not its own");
    assert_eq!(KEEPER.take(torn, thief), Err(Error::NotAllowed), "it is not of that one");
    // Nobody took them: they are their owner's again.
    let back = MEMORY.take(&WINDOWS, torn, own()).expect("one's own");
    assert_eq!(back.load(PAGE), PAGE as u64);
    assert_eq!(KEEPER.put(torn), Err(Error::NotFound));
    // What one has of another it does not pass off as its own.
    let torn = back.tear(&WINDOWS, thief).expect("tear");
    assert_eq!(KEEPER.put(torn), Err(Error::NotAllowed));
    assert_eq!(THIEF.put(torn), Ok(sum(2)));
    let back = MEMORY.take(&WINDOWS, THIEF.get().expect("get"), thief).expect("take");
    drop(back);
    for (address, pages) in [(environment::startup().heap, 1), (0, 1), (own_code(), 1)] {
        assert_eq!(WINDOWS.tear(address, pages, keeper), Err(Error::BadArgument));
        assert_eq!(WINDOWS.lend(address, pages), Err(Error::BadArgument));
    }
    say(format_args!("ok: nobody takes what is another's"));
}

fn own_code() -> u64 {
    main as *const () as u64 & !(PAGE as u64 - 1)
}

/// A window lasts until either side closes it.
fn lasting(keeper: InstanceId, thief: InstanceId) {
    let before = [own(), keeper].map(used);
    let lent = pages(PAGES).lend(&WINDOWS).expect("lend");
    let name = lent.name();
    assert_eq!(KEEPER.join(name, true), Err(Error::NotAllowed), "it is not offered");
    lent.share(keeper, true).expect("share");
    assert_eq!(THIEF.join(name, true), Err(Error::NotAllowed), "it is offered to another");
    assert_eq!(THIEF.close(name), Err(Error::NotFound));
    assert_eq!(KEEPER.join(name, true), Ok(()));
    // Both have it, between calls too.
    assert_eq!(KEEPER.swap(8, 77), Ok(8));
    assert_eq!(lent.load(8), 77);
    lent.store(PAGE, 78);
    assert_eq!(KEEPER.swap(PAGE as u64, 0), Ok(78));
    // In no window of a call, nor torn off, nor lent once more, nor given back, meanwhile.
    let at = lent.address() as u64;
    assert_eq!(WINDOWS.tear(at, 1, keeper), Err(Error::Busy));
    assert_eq!(WINDOWS.lend(at, PAGES), Err(Error::Busy));
    assert_eq!(MEMORY.free(at, PAGES), Err(Error::Busy));
    assert_eq!(THIEF.close(name), Err(Error::NotFound));
    // The thief reads along.
    lent.share(thief, false).expect("share");
    assert_eq!(THIEF.join(name, false), Ok(()));
    // Its owner closes it: each side goes on with its own.
    let closed = lent.close().expect("close");
    assert_eq!(closed.load(8), 77);
    closed.store(8, 79);
    assert_eq!(KEEPER.swap(8, 80), Ok(77));
    assert_eq!(closed.load(8), 79);
    drop(closed);
    assert_eq!((KEEPER.leave(), THIEF.leave()), (Ok(()), Ok(())));
    assert_eq!([own(), keeper].map(used), before);
    // The other side closes it.
    let lent = pages(PAGES).lend(&WINDOWS).expect("lend");
    lent.share(keeper, true).expect("share");
    KEEPER.join(lent.name(), true).expect("join");
    KEEPER.swap(0, 5).expect("swap");
    assert_eq!(KEEPER.leave(), Ok(()));
    assert_eq!(lent.load(0), 5);
    drop(lent);
    assert_eq!([own(), keeper].map(used), before);
    say(format_args!("ok: a window lasts until one side closes it"));
}

/// One page is in several windows of a call.
fn in_calls() {
    static PAGE_OF_OWN: cairn::exclusive::Exclusive<Aligned> =
        cairn::exclusive::Exclusive::new(Aligned([0; PAGE]));
    let is_same = PAGE_OF_OWN.with(|page| {
        let address = page.0.as_ptr() as u64;
        // The proxy takes no page twice: the call is put together by hand.
        let registers = [0, address, PAGE as u64, address, PAGE as u64, 0, 0, 0];
        cairn::measure::portal(
            KEEPER.first_portal() + SAME,
            &registers,
            &cairn::measure::unused_mark(),
        )
        .reply
    });
    assert_eq!((is_same.status, is_same.value), (0, 1));
    say(format_args!("ok: one page is in two windows of a call"));
}

/// Memory of a section, where the connection shows it, and nothing else.
fn of_a_section() {
    let board = environment::section("board").expect("the section");
    let page = |number: usize| board.part(number * PAGE, PAGE);
    let same = |server: u32, one: &Section, other: &Section| {
        let mut call = Call::new();
        call.section(one);
        call.section(other);
        let (status, words) = call.invoke(server + SAME);
        (status, words[0])
    };
    let through = imports::BOARD.first_portal();
    let last = board.size() / PAGE - 1;
    assert_eq!(same(through, &page(0), &page(last)), (0, 0));
    assert_eq!([0, last].map(|number| page(number).byte(0)), [b'm', 0]);
    assert_eq!(same(through, &page(last), &page(last)), (0, 1));
    assert_eq!(same(through, &board.part(PAGE, 4 * PAGE), &board.part(PAGE, 4 * PAGE)), (0, 1));
    assert_eq!(page(1).byte(0), b'm');
    let bad = Error::BadPointer.status();
    // One's own memory is not in it, and the section is in no other connection.
    let own = MEMORY.pages(1).expect("a page");
    assert_eq!(same(through, &own, &page(0)).0, bad);
    assert_eq!(same(through, &page(0), &own).0, bad);
    assert_eq!(same(KEEPER.first_portal(), &page(0), &own).0, bad);
    assert_eq!(same(KEEPER.first_portal(), &own, &own), (0, 1));
    // Nothing before it, behind it, or both.
    let address = board.address() as u64;
    for (from, size) in [
        (address - PAGE as u64, PAGE),
        (address - PAGE as u64, 2 * PAGE),
        (address + (last * PAGE) as u64, 2 * PAGE),
        (address + board.size() as u64, PAGE),
        (u64::MAX & !(PAGE as u64 - 1), PAGE),
        (0, PAGE),
    ] {
        let mut call = Call::new();
        call.word(from);
        call.word(size as u64);
        call.section(&page(0));
        assert_eq!(call.invoke(through + SAME).0, bad, "{from:#x} {size}");
    }
    say(format_args!("ok: memory of a section is in a window of a call"));
}

/// The place of `same` among the keeper's methods.
const SAME: u32 = 8;

#[repr(align(4096))]
struct Aligned([u8; PAGE]);

/// One dies with what it has, and with what is on its way to it.
fn die(keeper: InstanceId) {
    let restart = || {
        SUPERVISOR.kill("keeper").expect("kill");
        while KEEPER.number() != Ok(keeper) {
            let _ =
                imports::THREADS.sleep_until(cairn::time::counter() + cairn::time::ticks(1_000));
        }
    };
    let before = [own(), keeper].map(used);
    let torn = pages(TORN).tear(&WINDOWS, keeper).expect("tear");
    restart();
    assert_eq!(KEEPER.put(torn), Err(Error::NotAllowed), "they were not for this life");
    drop(MEMORY.take(&WINDOWS, torn, own()).expect("one's own"));
    let torn = pages(TORN).tear(&WINDOWS, keeper).expect("tear");
    KEEPER.put(torn).expect("put");
    restart();
    assert_eq!(KEEPER.get(), Err(Error::NotFound));
    let lent = pages(PAGES).lend(&WINDOWS).expect("lend");
    lent.share(keeper, true).expect("share");
    KEEPER.join(lent.name(), true).expect("join");
    KEEPER.swap(0, 6).expect("swap");
    restart();
    assert_eq!(lent.load(0), 6);
    assert_eq!(KEEPER.join(lent.name(), true), Err(Error::NotAllowed));
    drop(lent);
    assert_eq!([own(), keeper].map(used), before);
    say(format_args!("ok: who dies takes nothing along"));
}
