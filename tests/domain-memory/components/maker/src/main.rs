//! Has the memory of instances made as a loader does, and lies about it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::RegionId;
use cairn::abi::address::{PAGE_SIZE, STARTUP_OFFSET};
use cairn::abi::package::HEAD_MAXIMUM;
use cairn::abi::record::{CONTENT_CONSTANTS, CONTENT_DATA, CONTENT_TEXT};
use cairn::section::Section;
use cairn::text::Line;
use cairn::{Error, InstanceId, environment};
use cairn_interfaces as interfaces;
use cairn_loader::package::Head;
use cairn_loader::placement::{Placement, Wanted};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
use core::sync::atomic::Ordering::Relaxed;

cairn::component! {
    name: "domain-memory-maker",
    imports: {
        console: interfaces::Console,
        packages: interfaces::Packages,
        memory: interfaces::Memory,
        loading: interfaces::DomainMemory,
        control: interfaces::MemoryControl,
        statistics: interfaces::MemoryStatistics,
    },
    main: main,
}

use imports::{CONSOLE, CONTROL, LOADING, MEMORY, PACKAGES, STATISTICS};

/// As many as the description says.
const CHILDREN: usize = 200;
const ROUNDS: u64 = 200;
const HOSTILE: u64 = 50;

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// The one package of the shelf.
struct Package<'a> {
    bytes: &'a [u8],
    head: Head<'a>,
    /// Where it begins in the store.
    offset: u64,
}

impl Package<'_> {
    fn placement(&self, number: InstanceId) -> Placement {
        let numbers = self.head.numbers();
        let wanted = Wanted {
            image: numbers.image_size.into(),
            heap: numbers.heap,
            stack: numbers.stack,
            call_stack: numbers.call_stack,
            call_stacks: numbers.activations.into(),
            paged: numbers.paged,
        };
        Placement::new(&wanted, RegionId(number.0))
    }

    fn make(&self, name: &str) -> Result<InstanceId, Error> {
        LOADING.make(own(), name, self.bytes)
    }

    /// Gives all content: code from the shelf, the rest in own pages.
    fn fill(&self, number: InstanceId) -> Result<(), Error> {
        let shelf = environment::section("shelf").ok_or(Error::NotFound)?;
        let image = self.placement(number).image().start;
        for segment in self.head.segments() {
            let pages = segment.file_size.div_ceil(PAGE_SIZE);
            let (to, from) = (image + segment.offset, self.offset + segment.file_offset);
            if segment.content == CONTENT_TEXT {
                let code = shelf.address() as u64 + from;
                LOADING.give(number, to, code, pages, segment.content)?;
                continue;
            }
            for offset in (0..pages * PAGE_SIZE).step_by(PAGE_SIZE as usize) {
                let page = self.page(from + offset)?;
                LOADING.give(number, to + offset, page, 1, segment.content)?;
            }
        }
        LOADING.give(number, STARTUP_OFFSET, self.page(0)?, 1, CONTENT_CONSTANTS)?;
        LOADING.finish(number)
    }

    /// A page of one's own with what is at an offset of the store.
    fn page(&self, offset: u64) -> Result<u64, Error> {
        let mut bytes = [0; PAGE_SIZE as usize];
        PACKAGES.read(offset, &mut bytes)?;
        let address = MEMORY.allocate(1)?;
        let page = Section::of_pages(address, 1).ok_or(Error::Malformed)?;
        let words = page.words(bytes.len() / 8);
        for (word, bytes) in words.iter().zip(bytes.as_chunks().0) {
            word.store(i64::from_le_bytes(*bytes), Relaxed);
        }
        Ok(address)
    }
}

fn own() -> InstanceId {
    environment::startup().instance
}

/// It ends for good.
fn end(number: InstanceId) -> Result<(), Error> {
    CONTROL.kill(number)?;
    let mut cursor = CONTROL.release(number, 0)?;
    while cursor != 0 {
        cursor = CONTROL.release(number, cursor)?;
    }
    LOADING.retire(number)
}

fn usage() -> (u64, u64) {
    let (free, _) = STATISTICS.usage().expect("usage");
    (free, STATISTICS.usage_of(own()).expect("usage").0)
}

fn main() {
    let mut bytes = [0; HEAD_MAXIMUM];
    let (offset, _) = PACKAGES.find("valve").expect("a package");
    let count = PACKAGES.read(offset, &mut bytes).expect("its head");
    let head = Head::read(&bytes[..count]).expect("a good head");
    let size = head.numbers().head_size as usize;
    let package = Package { bytes: &bytes[..size], head, offset };
    one(&package);
    many(&package);
    rounds(&package);
    lies(&package);
    hostile_heads(&package);
    described(&package);
    say!("domain-memory: done");
}

fn one(package: &Package) {
    let before = usage();
    let number = package.make("valve").expect("it is made");
    expect("it is all filled", package.fill(number), Ok(()));
    expect("who lives stays", LOADING.retire(number), Err(Error::Busy));
    let (_, quota) = STATISTICS.usage_of(number).expect("usage");
    expect("its quota", quota * PAGE_SIZE, package.head.numbers().memory);
    expect("its parent pays", usage().1 - before.1, quota);
    expect("it goes", end(number), Ok(()));
    expect("all is as before", usage(), before);
    expect("it is nobody", STATISTICS.usage_of(number), Err(Error::NotFound));
}

fn many(package: &Package) {
    let before = usage();
    let mut numbers = [InstanceId(0); CHILDREN];
    for (place, number) in numbers.iter_mut().enumerate() {
        let name = Line::<16>::of(format_args!("valve-{place}"));
        let name = core::str::from_utf8(name.bytes()).unwrap_or("");
        match package.make(name).and_then(|made| package.fill(made).map(|()| made)) {
            Ok(made) => *number = made,
            Err(error) => return expect("one of many", Err((place, error)), Ok(())),
        }
    }
    expect("one too many", package.make("too-many"), Err(Error::Exhausted));
    let name = package.make("valve-7");
    expect("a name that is taken, or no number", name.is_err(), true);
    let mut ends = numbers.iter().map(|number| end(*number));
    expect("all of them go", ends.all(|ended| ended.is_ok()), true);
    expect("nothing is left of many", usage(), before);
}

fn rounds(package: &Package) {
    let before = usage();
    let mut good = 0;
    for _ in 0..ROUNDS {
        let made = package.make("valve").and_then(|made| package.fill(made).map(|()| made));
        good += u64::from(made.and_then(end).is_ok());
    }
    expect("rounds", good, ROUNDS);
    expect("nothing leaks", usage(), before);
}

fn lies(package: &Package) {
    let before = usage();
    let number = package.make("valve").expect("it is made");
    let image = package.placement(number).image().start;
    let mine = package.page(0).expect("a page");
    let shelf = environment::section("shelf").expect("the shelf").address() as u64;
    let data = package.head.segments().find(|one| one.content == CONTENT_DATA);
    let text = package.head.segments().find(|one| one.content == CONTENT_TEXT).expect("code");
    let text = image + text.offset;
    let stack = core::ptr::from_ref(&before) as u64 / PAGE_SIZE * PAGE_SIZE;
    for (what, from) in [
        ("the kernel's", !0 << 38),
        ("the stack", stack),
        ("the code", main as *const () as u64 / PAGE_SIZE * PAGE_SIZE),
        ("the next page", mine + PAGE_SIZE),
        ("another's", mine ^ (1 << 26)),
        ("no page", mine + 8),
        ("page 0", 0),
    ] {
        let given = LOADING.give(number, text, from, 1, CONTENT_TEXT);
        expect(what, given.is_err(), true);
    }
    if let Some(data) = data {
        let given = LOADING.give(number, image + data.offset, shelf, 1, CONTENT_DATA);
        expect("the shelf is not written", given.is_err(), true);
    }
    for content in [CONTENT_DATA, CONTENT_CONSTANTS, 3, u16::MAX] {
        let given = LOADING.give(number, text, mine, 1, content);
        expect("code is code", given, Err(Error::BadArgument));
    }
    expect("the rest is missing", LOADING.finish(number), Err(Error::BadArgument));
    expect("the page is still here", MEMORY.free(mine, 1), Ok(()));
    expect("what was not finished goes", LOADING.retire(number), Ok(()));
    expect("once", LOADING.retire(number).is_err(), true);
    for nobody in [0, 255, u16::MAX].map(InstanceId) {
        expect("nobody goes", LOADING.retire(nobody).is_err(), true);
    }
    expect("the system stays", LOADING.retire(InstanceId(1)), Err(Error::NotAllowed));
    expect("lies change nothing", usage(), before);
}

/// An instance of the description goes, and its pages are others'.
fn described(package: &Package) {
    let victim = InstanceId(own().0 + 1);
    let (free, used) = usage();
    expect("who lives is not retired", LOADING.retire(victim), Err(Error::Busy));
    expect("the victim goes", end(victim), Ok(()));
    let (now_free, now_used) = usage();
    expect("its pages are free", (now_free > free, now_used), (true, used));
    expect("the victim is nobody", STATISTICS.usage_of(victim), Err(Error::NotFound));
    expect("it goes once", LOADING.retire(victim), Err(Error::NotFound));
    let made = package.make("victim").and_then(|made| package.fill(made).map(|()| made));
    expect("its name is another's", made.and_then(end), Ok(()));
    expect("which leaves nothing", usage(), (now_free, now_used));
}

/// Heads in which something is changed: they are refused, or make an instance that goes.
fn hostile_heads(package: &Package) {
    let before = usage();
    let mut random = cairn_random::Random::new(40);
    let mut made = 0;
    for _ in 0..HOSTILE {
        let mut bytes = [0; HEAD_MAXIMUM];
        let bytes = &mut bytes[..package.bytes.len()];
        bytes.copy_from_slice(package.bytes);
        for _ in 0..4 {
            let at = random.next() as usize % bytes.len();
            bytes[at] ^= 1 << (random.next() % 8);
        }
        if let Ok(number) = LOADING.make(own(), "hostile", bytes) {
            made += 1;
            let _ = LOADING.finish(number);
            expect("what was made goes", LOADING.retire(number), Ok(()));
        }
    }
    say!("{made} of {HOSTILE} heads made an instance");
    expect("hostile heads leave nothing", usage(), before);
}
