//! Whatever is done in whatever order: no page is two owners', and when all have gone all is as at first.

use super::*;
use crate::tables::{OWN, VALID};
use cairn_abi::page_table::target;
use cairn_random::Random;
use std::collections::BTreeMap;

/// Numbers that are loaded, and how far.
#[derive(Default)]
struct Loaded {
    made: Vec<InstanceId>,
    whole: Vec<InstanceId>,
}

fn pick(random: &mut Random, from: &[InstanceId]) -> Option<InstanceId> {
    let count = from.len() as u64;
    (count > 0).then(|| from[(random.next() % count) as usize])
}

/// Each page is one instance's, whatever maps it, and none is free.
fn check_owners(world: &World) {
    let manager = world.manager();
    let mut owners = BTreeMap::new();
    for (number, record) in (1..).zip(manager.record.instances.iter()) {
        let root = manager.tables.root(record.space()).unwrap();
        for address in (0..record.entries_span()).step_by(PAGE_SIZE as usize) {
            let entry = manager.tables.find(root, record.start_address() + address);
            let word = entry.map_or(0, |entry| entry.load(Relaxed) as u64);
            let page = target(word);
            if word & (VALID | OWN) != VALID | OWN || manager.header.shelf.start <= page {
                continue;
            }
            assert_eq!(owners.insert(page, number), None, "{page:#x} is of {number} too");
            let frame = manager.frame_number(page) as usize;
            let is_laid_out = page < manager.header.free_memory.start;
            assert!(is_laid_out || !world.state.frames.is_free(frame), "{page:#x} is free");
        }
    }
}

#[test]
fn no_order_of_loading_loses_a_page_or_gives_it_twice() {
    const STEPS: usize = 30_000;
    let world = World::loading_in(5, 120);
    let mut random = Random::new(1411);
    let mut loaded = Loaded::default();
    let children = head_with(|writer| {
        small_parts(writer);
        (writer.numbers.memory, writer.numbers.children) = (30 * PAGE_SIZE, 2);
    });
    let heads = [head(), children];
    let nothing = (world.free(), world.used(ONE), world.used(TWO));
    let mut finished = 0;
    for step in 0..STEPS {
        let manager = world.manager();
        let whole = &loaded.whole;
        match random.next() % 8 {
            0 => {
                let parent = pick(&mut random, whole).filter(|_| step % 3 == 0).unwrap_or(ONE);
                let name = format!("valve-{}", random.next() % 6);
                let head = &heads[(random.next() % 2) as usize];
                loaded.made.extend(make(&manager, parent, &name, head));
            }
            1..=3 => {
                let Some(number) = pick(&mut random, &loaded.made) else { continue };
                let image = placement(number, &manager).image().start;
                let (offset, content) = match random.next() % 6 {
                    0 => (STARTUP_OFFSET, CONTENT_CONSTANTS),
                    1 => (image + 2 * PAGE_SIZE, CONTENT_CONSTANTS),
                    2 => (image + 4 * PAGE_SIZE, CONTENT_DATA),
                    page => (image + (page % 2) * PAGE_SIZE, CONTENT_TEXT),
                };
                let giver = pick(&mut random, whole).filter(|_| step % 2 == 0).unwrap_or(TWO);
                let Ok(page) = manager.allocate(giver, 1) else { continue };
                if manager.give(giver, number, (offset, page), 1, content).is_err() {
                    manager.free(giver, page, 1).unwrap();
                }
            }
            4 => {
                let Some(number) = pick(&mut random, &loaded.made) else { continue };
                if manager.finish(number).is_ok() {
                    loaded.made.retain(|one| *one != number);
                    loaded.whole.push(number);
                    finished += 1;
                }
            }
            5 => {
                if let Some(number) = pick(&mut random, whole) {
                    let _ = manager.allocate(number, 1 + random.next() % 2);
                }
            }
            6 => {
                if let Some(number) = pick(&mut random, &loaded.made).filter(|_| step % 8 == 0) {
                    manager.retire(number).unwrap();
                    loaded.made.retain(|one| *one != number);
                }
            }
            _ => {
                let Some(number) = pick(&mut random, whole) else { continue };
                manager.kill(number).unwrap();
                steps(|cursor| manager.release(number, cursor));
                match manager.retire(number) {
                    Ok(()) => loaded.whole.retain(|one| *one != number),
                    Err(error) => {
                        assert_eq!(error, Error::Busy, "it has children");
                        steps(|cursor| manager.renew(number, cursor, false));
                        manager.revive(number).unwrap();
                    }
                }
            }
        }
        if step % 64 == 0 {
            check_owners(&world);
        }
    }
    assert!(finished > 200, "{finished}");
    let manager = world.manager();
    loaded.made.iter().for_each(|number| manager.retire(*number).unwrap());
    // Children go before their parents.
    while !loaded.whole.is_empty() {
        let before = loaded.whole.len();
        for number in core::mem::take(&mut loaded.whole) {
            manager.kill(number).unwrap();
            steps(|cursor| manager.release(number, cursor));
            if manager.retire(number).is_err() {
                loaded.whole.push(number);
            }
        }
        assert!(loaded.whole.len() < before);
    }
    assert_eq!((world.free(), world.used(ONE), world.used(TWO)), nothing);
}
