//! What is refused changes nothing.

use super::*;
use crate::tests::loadable::SHELF_PAGES;
use crate::tests::{data, window_slot};
use core::mem::offset_of;

#[test]
fn only_pages_of_the_givers_own_and_of_the_shelf_are_given() {
    let world = World::loading(1);
    let manager = world.manager();
    let number = make(&manager, ONE, "valve", &head()).unwrap();
    let image = placement(number, &manager).image().start;
    let state = || (world.free(), world.used(ONE));
    let (own, twos) = (page_of(&world, ONE, 1), page_of(&world, TWO, 1));
    let before = state();
    let give = |to: u64, from: u64, pages: u64, content: u16| {
        manager.give(ONE, number, (to, from), pages, content)
    };
    let text = CONTENT_TEXT;
    for (what, to, from, pages, content, error) in [
        ("another's", image, twos, 1, text, Error::BadArgument),
        ("of the layout", image, data(ONE), 1, text, Error::BadArgument),
        ("the startup page", image, region_of(ONE) + STARTUP_OFFSET, 1, text, Error::BadArgument),
        ("nothing", image, own + PAGE_SIZE, 1, text, Error::NotAllowed),
        ("one too many", image, own, 2, text, Error::NotAllowed),
        ("the kernel's", image, PAGE_TABLES, 1, text, Error::BadArgument),
        ("none", image, own, 0, text, Error::BadArgument),
        ("all", image, own, u64::MAX, text, Error::BadArgument),
        ("not a page", image + 8, own, 1, text, Error::BadArgument),
        ("not a page", image, own + 8, 1, text, Error::BadArgument),
        ("before the image", image - PAGE_SIZE, own, 1, text, Error::BadArgument),
        ("between segments", image + 3 * PAGE_SIZE, own, 1, CONTENT_CONSTANTS, Error::BadArgument),
        ("beyond the region", u64::MAX - 4095, own, 1, CONTENT_CONSTANTS, Error::BadArgument),
        ("over two segments", image + PAGE_SIZE, own, 2, text, Error::BadArgument),
        ("writable code", image, own, 1, CONTENT_HEAP, Error::BadArgument),
        ("code as data", image, own, 1, CONTENT_DATA, Error::BadArgument),
        ("data as code", image + 4 * PAGE_SIZE, own, 1, text, Error::BadArgument),
        ("where zeros are", image + 5 * PAGE_SIZE, own, 1, CONTENT_DATA, Error::Busy),
        (
            "a stack",
            placement(number, &manager).stacks().next().unwrap().start,
            own,
            1,
            CONTENT_DATA,
            Error::BadArgument,
        ),
        ("a startup page to write", STARTUP_OFFSET, own, 1, CONTENT_DATA, Error::BadArgument),
        ("the log", LOG_OFFSET, own, 1, CONTENT_CONSTANTS, Error::BadArgument),
        (
            "data of the shelf",
            image + 4 * PAGE_SIZE,
            region_of(ONE) + SHELF,
            1,
            CONTENT_DATA,
            Error::NotAllowed,
        ),
        (
            "more than the shelf",
            image,
            region_of(ONE) + SHELF + (SHELF_PAGES - 1) * PAGE_SIZE,
            2,
            text,
            Error::NotAllowed,
        ),
    ] {
        assert_eq!(give(to, from, pages, content), Err(error), "{what}");
        assert_eq!(state(), before, "{what}");
        assert!(world.page(ONE, own).is_some() && world.page(TWO, twos).is_some());
    }
    for nobody in [0, 2, 4, 300].map(InstanceId) {
        assert!(manager.give(ONE, nobody, (image, own), 1, text).is_err());
        assert!(manager.finish(nobody).is_err() && manager.retire(nobody).is_err());
    }
    // In a window.
    let slot = manager.tables.find(manager.root(TWO).unwrap(), window_slot(TWO)).unwrap();
    tables::map_over(slot, world.page(ONE, own).unwrap().0, USER | READ);
    assert_eq!(give(image, own, 1, text), Err(Error::Busy));
    assert!(world.page(ONE, own).is_some());
    tables::unmap(slot);
    give(image, own, 1, text).unwrap();
    let again = page_of(&world, ONE, 1);
    assert_eq!(give(image, again, 1, text), Err(Error::Busy), "there is content");
    assert_eq!(manager.finish(number), Err(Error::BadArgument), "content is missing");
    manager.retire(number).unwrap();
    manager.free(ONE, again, 1).unwrap();
    assert_eq!(world.used(ONE), before.1 - 1 - MEMORY);
}

#[test]
fn what_is_too_large_for_a_number_is_refused() {
    let world = World::loading(1);
    let manager = world.manager();
    let nothing = state(&world);
    for (what, head) in [
        ("stacks", head_with(|writer| writer.numbers.activations = 8)),
        ("names", head_with(|writer| writer.numbers.names = 1)),
        ("sections", head_with(|writer| writer.numbers.sections = 2)),
        (
            "heap",
            head_with(|writer| {
                (writer.numbers.memory, writer.numbers.heap) = (9 << 20, 8 << 20);
            }),
        ),
        (
            "methods",
            head_with(|writer| {
                let method = writer.methods[0];
                writer.methods = vec![method; 72];
                let export = writer.exports[0];
                writer.exports = vec![export; 3];
                for (export, called) in writer.exports.iter_mut().zip(["a", "b", "c"]) {
                    (export.name, export.method_count) = (name(called), 24);
                }
            }),
        ),
    ] {
        assert_eq!(make(&manager, ONE, "large", &head), Err(Error::TooLarge), "{what}");
        assert_eq!(state(&world), nothing, "{what}");
    }
    // What it must have at once is more than its quota.
    let head = head_with(|writer| writer.numbers.memory = 4 * PAGE_SIZE);
    assert_eq!(make(&manager, ONE, "poor", &head), Err(Error::Exhausted));
    assert_eq!(world.used(ONE), nothing.2);
    assert_eq!(world.free(), nothing.0);
}

#[test]
fn whatever_fails_all_is_as_before() {
    // Without a page more at each place where one is taken.
    for pages in 0..20 {
        let world = World::loading(1);
        let taken: Vec<usize> = core::iter::from_fn(|| {
            (world.state.frames.available() > pages).then(|| world.state.frames.take().unwrap())
        })
        .collect();
        let (free, used) = (world.free(), world.used(ONE));
        let manager = world.manager();
        if let Ok(number) = make(&manager, ONE, "valve", &head()) {
            let image = placement(number, &manager).image().start;
            for (offset, content) in [
                (image, CONTENT_TEXT),
                (image + PAGE_SIZE, CONTENT_TEXT),
                (image + 2 * PAGE_SIZE, CONTENT_CONSTANTS),
                (image + 4 * PAGE_SIZE, CONTENT_DATA),
                (STARTUP_OFFSET, CONTENT_CONSTANTS),
            ] {
                let Ok(page) = manager.allocate(ONE, 1) else { continue };
                let (physical, _) = world.page(ONE, page).unwrap();
                world.word(physical).store(1, Relaxed);
                // Its parent's quota may be used up.
                if manager.give(ONE, number, (offset, page), 1, content).is_err() {
                    manager.free(ONE, page, 1).unwrap();
                }
            }
            let _ = manager.finish(number);
            if manager.usage_of(number).is_ok() {
                manager.kill(number).unwrap();
            }
            manager.retire(number).unwrap();
        }
        assert_eq!((world.free(), world.used(ONE)), (free, used), "{pages}");
        taken.into_iter().for_each(|number| world.state.frames.give(number));
        assert_eq!(load(&world, ONE, "valve", &head()), Ok(THREE), "{pages}");
    }
}

/// Whatever passes the reader.
#[test]
fn hostile_heads_make_nothing_that_does_not_go() {
    let world = World::loading(2);
    let good = head();
    let nothing = (world.free(), world.used(ONE));
    let mut random = cairn_random::Random::new(14);
    let mut made = 0;
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        let size = &bytes[offset_of!(cairn_abi::package::Head, head_size)..][..4];
        let size = u32::from_le_bytes(size.try_into().unwrap()) as usize;
        for _ in 0..1 + random.next() % 3 {
            let at = random.next() as usize % size;
            bytes[at] = if random.next().is_multiple_of(2) {
                random.next() as u8
            } else {
                bytes[at] ^ (1 << (random.next() % 8))
            };
        }
        let Ok(head) = Head::read(&bytes) else { continue };
        let manager = world.manager();
        if let Ok(number) = manager.make(ONE, "hostile", &head) {
            made += 1;
            let record = manager.place(number).unwrap().read();
            for place in [record.stub, record.stack] {
                assert!((place ^ record.start_address) < REGION_SIZE);
            }
            let _ = manager.finish(number);
            manager.retire(number).unwrap();
        }
        assert_eq!((world.free(), world.used(ONE)), nothing);
    }
    assert!(made > 1000, "{made}");
    assert_eq!(load(&world, ONE, "valve", &good), Ok(THREE));
}
