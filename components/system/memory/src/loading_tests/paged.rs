//! Ranges of those that are loaded, whose pages others provide.

use super::*;
use crate::paging::Served;
use cairn_abi::RegionId;

const PAGES: u64 = 3;

/// The head of a package that has a range with this pager.
pub(super) fn paged(pager: &str) -> Vec<u8> {
    head_with(|writer| {
        small_parts(writer);
        writer.numbers.paged = PAGES * PAGE_SIZE;
        writer.numbers.paged_name = name("work");
        writer.numbers.pager = writer.text(pager.as_bytes());
    })
}

fn placed(number: InstanceId, head: &[u8]) -> Placement {
    let head = Head::read(head).unwrap();
    Placement::new(&head.wanted(0), RegionId(number.0))
}

/// A world in which an instance called `two` is, and some were loaded before: what words of their methods mean is written over, not away.
pub(super) fn with_pager() -> World {
    let world = World::loading_in(3, 60);
    let two = world.manager().record(TWO).unwrap();
    two.write(&Instance { name: name("two"), ..two.read() });
    let numbers = ["a", "b"].map(|name| load_small(&world, ONE, name, &head_with(small_parts)));
    numbers.into_iter().for_each(|number| unload(&world, number));
    world
}

/// The page-table entry of a page of an instance's range.
pub(super) fn entry<'a>(
    world: &'a World,
    number: InstanceId,
    head: &[u8],
) -> &'a core::sync::atomic::AtomicI64 {
    let manager = world.manager();
    let root = manager.tables.root(manager.place(number).unwrap().space()).unwrap();
    let address = region(RegionId(number.0)) + placed(number, head).paged().start;
    manager.tables.find(root, address).unwrap()
}

#[test]
fn a_range_has_its_pager_until_one_of_the_two_is_gone() {
    let world = with_pager();
    let (manager, nothing) = (world.manager(), state(&world));
    let head = paged("two.pager");
    let served = |pager, at| manager.served(pager, at);
    assert_eq!(served(TWO, 0), Err(Error::NotFound));
    for life in 0..3 {
        let number = load_small(&world, ONE, "client", &head);
        let range = Served { number: 0, pages: PAGES, section: NO_SECTION.into() };
        assert_eq!(served(TWO, 0), Ok(range), "{life}");
        assert_eq!(manager.client(TWO, 0), Ok((number, true, life + 1, PAGES)));
        // What it allocates lies behind.
        let behind = region(RegionId(number.0)) + placed(number, &head).end();
        assert!(manager.allocate(number, 1).unwrap() >= behind);
        // A page of the pager's is the pager's when its client is gone.
        let page = manager.allocate(TWO, 1).unwrap();
        let (physical, _) = world.page(TWO, page).unwrap();
        tables::map_over(entry(&world, number, &head), physical, USER | READ | WRITE);
        assert_eq!(manager.has_page(TWO, 0, 0), Ok(true));
        assert_eq!(manager.free(TWO, page, 1), Err(Error::Busy));
        unload(&world, number);
        assert_eq!(manager.free(TWO, page, 1), Ok(()));
        assert_eq!(manager.client(TWO, 0), Err(Error::NotFound));
        assert!(manager.unmap_range(TWO, 0, 0, 1).is_err());
    }
    // Its number is another's, which has none.
    let number = load_small(&world, ONE, "other", &head_with(small_parts));
    assert_eq!(manager.client(TWO, 0), Err(Error::NotFound));
    unload(&world, number);
    // A pager that is loaded goes before its client.
    let pager = load_small(&world, ONE, "pager", &head_with(small_parts));
    let head = paged("pager.pages");
    let client = load_small(&world, ONE, "client", &head);
    assert_eq!(manager.client(pager, 1).map(|found| found.0), Ok(client));
    unload(&world, pager);
    let pager = load_small(&world, ONE, "pager", &head_with(small_parts));
    assert_eq!(manager.client(pager, 1), Err(Error::NotFound), "its successor is no pager of it");
    unload(&world, pager);
    unload(&world, client);
    assert_eq!(state(&world), nothing);
}

#[test]
fn who_has_no_pager_is_not_made() {
    let world = with_pager();
    let (manager, nothing) = (world.manager(), state(&world));
    for (pager, called) in [("nobody.pager", "client"), ("client.pager", "client")] {
        assert_eq!(make(&manager, ONE, called, &paged(pager)), Err(Error::NotFound), "{pager}");
        assert_eq!(state(&world), nothing);
    }
    // One that is being made serves nobody yet.
    let made = make(&manager, ONE, "made", &head_with(small_parts)).unwrap();
    assert_eq!(make(&manager, ONE, "client", &paged("made.pager")), Err(Error::NotFound));
    manager.retire(made).unwrap();
    // More than a region holds.
    let head = head_with(|writer| {
        small_parts(writer);
        writer.numbers.paged = 16 << 20;
        writer.numbers.paged_name = name("work");
        writer.numbers.pager = writer.text(b"two.pager");
    });
    assert_eq!(make(&manager, ONE, "client", &head), Err(Error::TooLarge));
    assert_eq!(state(&world), nothing);
    // Nor has a successor one.
    let head = paged("two.pager");
    let number = load_small(&world, ONE, "plain", &head_with(small_parts));
    let refused = manager.make_successor(ONE, number, &Head::read(&head).unwrap(), None);
    assert_eq!(refused, Err(SuccessorError::Paged));
    unload(&world, number);
}
