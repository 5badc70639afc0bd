//! Clients that read and write by chance, with answers that are mapped late, against what transactions promise.

use crate::book::{Book, CLIENTS, Machine};
use cairn::{Error, successor};
use cairn_pager::handover;
use cairn_random::Random;
use std::collections::HashMap;

const PAGES: usize = 12;
const FRAMES: usize = 8;
const LOG: usize = 6;

/// A page is a word here.
struct World {
    original: [u64; PAGES],
    frames: [u64; FRAMES],
    log: Vec<(usize, u64)>,
    /// Of a client and a page.
    mapped: HashMap<(usize, usize), (usize, bool)>,
    /// After so many entries of the log no more is done.
    cut: Option<usize>,
}

impl World {
    fn new() -> (Book, World) {
        let mut book = Book::new();
        book.begin(FRAMES, PAGES, LOG);
        let world = World {
            original: [0; PAGES],
            frames: [0; FRAMES],
            log: Vec::new(),
            mapped: HashMap::new(),
            cut: None,
        };
        (book, world)
    }

    fn is_cut(&mut self) -> bool {
        match &mut self.cut {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }
}

impl Machine for World {
    fn fetch(&mut self, frame: usize, page: usize) {
        let has_it = |(other, _): &(usize, bool)| *other == frame;
        assert!(!self.mapped.values().any(has_it), "somebody has the frame");
        self.frames[frame] = self.original[page];
    }

    fn unmap(&mut self, client: usize, first: usize, pages: usize) -> Result<(), Error> {
        self.mapped
            .retain(|(other, page), _| *other != client || !(first..first + pages).contains(page));
        Ok(())
    }

    fn log(&mut self, entry: usize, page: usize, frame: usize) {
        self.log.truncate(entry);
        self.log.push((page, self.frames[frame]));
    }

    fn apply(&mut self, entries: usize) {
        assert!(entries <= LOG && self.log.len() >= entries);
        for (page, word) in self.log[..entries].to_vec() {
            if self.is_cut() {
                return;
            }
            self.original[page] = word;
        }
        self.log.clear();
    }
}

/// A thread reads or writes, mapped at once.
fn touch(
    (book, world): (&mut Book, &mut World),
    client: usize,
    page: usize,
    write: Option<u64>,
) -> Result<u64, Error> {
    let found = world.mapped.get(&(client, page)).copied();
    let (frame, _) = match found.filter(|(_, writable)| *writable || write.is_none()) {
        Some(found) => found,
        None => {
            let found = book.fault(client, client, page, write.is_some(), world)?;
            world.mapped.insert((client, page), found);
            found
        }
    };
    if let Some(word) = write {
        world.frames[frame] = word;
    }
    Ok(world.frames[frame])
}

#[test]
fn what_is_written_is_seen_by_others_when_it_is_committed() {
    let (mut book, mut world) = World::new();
    book.claim(0, 0, 2, 3, &mut world).unwrap();
    for page in 0..PAGES {
        assert_eq!(touch((&mut book, &mut world), 1, page, None), Ok(0));
    }
    touch((&mut book, &mut world), 0, 2, Some(7)).unwrap();
    touch((&mut book, &mut world), 0, 4, Some(8)).unwrap();
    assert_eq!(touch((&mut book, &mut world), 1, 2, None), Ok(0));
    assert_eq!(touch((&mut book, &mut world), 0, 2, None), Ok(7));
    assert_eq!(world.original, [0; PAGES]);
    assert_eq!(book.commit(0, 0, &mut world), Ok(2));
    for client in 0..3 {
        assert_eq!(touch((&mut book, &mut world), client, 2, None), Ok(7));
        assert_eq!(touch((&mut book, &mut world), client, 4, None), Ok(8));
    }
    assert_eq!(touch((&mut book, &mut world), 0, 2, Some(9)), Err(Error::NotAllowed));
}

#[test]
fn what_is_aborted_was_never_there() {
    let (mut book, mut world) = World::new();
    world.original = core::array::from_fn(|page| page as u64);
    book.claim(0, 0, 0, 4, &mut world).unwrap();
    for page in 0..4 {
        touch((&mut book, &mut world), 0, page, Some(100)).unwrap();
    }
    assert_eq!(book.abort(0, 0, &mut world), Ok(4));
    assert_eq!(book.abort(0, 0, &mut world), Err(Error::NotFound));
    assert_eq!(book.commit(0, 0, &mut world), Err(Error::NotFound));
    for page in 0..PAGES {
        assert_eq!(touch((&mut book, &mut world), 0, page, None), Ok(page as u64));
    }
}

#[test]
fn a_page_is_in_one_transaction() {
    let (mut book, mut world) = World::new();
    book.claim(0, 0, 2, 3, &mut world).unwrap();
    for (client, first, pages, expected) in [
        (1, 0, 3, Err(Error::Busy)),
        (1, 4, 1, Err(Error::Busy)),
        (1, 3, 1, Err(Error::Busy)),
        (0, 8, 1, Err(Error::Busy)),
        (1, 0, 0, Err(Error::BadArgument)),
        (1, u64::MAX, 2, Err(Error::BadArgument)),
        (1, 12, 1, Err(Error::BadArgument)),
        (1, 5, 7, Err(Error::TooLarge)),
        (CLIENTS, 6, 1, Err(Error::NotFound)),
        (1, 5, 6, Ok(())),
        (2, 0, 2, Ok(())),
    ] {
        let claimed = book.claim(client, client, first, pages, &mut world);
        assert_eq!(claimed, expected, "{client} {first} {pages}");
    }
    assert_eq!(touch((&mut book, &mut world), 1, 2, Some(1)), Err(Error::NotAllowed));
    // A client's end ends its transaction.
    touch((&mut book, &mut world), 0, 2, Some(1)).unwrap();
    world.unmap(0, 0, PAGES).unwrap();
    book.end(0);
    assert_eq!(touch((&mut book, &mut world), 2, 2, None), Ok(0));
    book.abort(2, 2, &mut world).unwrap();
    assert_eq!(book.claim(2, 2, 2, 2, &mut world), Ok(()));
}

#[test]
fn what_is_written_makes_no_room() {
    let (mut book, mut world) = World::new();
    book.claim(0, 0, 0, 6, &mut world).unwrap();
    book.claim(1, 1, 6, 6, &mut world).unwrap();
    for page in 0..6 {
        touch((&mut book, &mut world), 0, page, Some(1)).unwrap();
    }
    touch((&mut book, &mut world), 1, 6, Some(1)).unwrap();
    for page in 7..PAGES {
        // One frame is left, and what is only read makes room in it, for its own thread at once.
        assert_eq!(touch((&mut book, &mut world), 1, page, None), Ok(0));
    }
    touch((&mut book, &mut world), 1, 7, Some(1)).unwrap();
    assert_eq!(touch((&mut book, &mut world), 1, 8, Some(1)), Err(Error::Exhausted));
    assert_eq!(book.commit(0, 0, &mut world), Ok(6));
    assert_eq!(touch((&mut book, &mut world), 1, 8, Some(1)), Ok(1));
}

/// Whoever comes behind a commit that was cut finds all of it in the log.
#[test]
fn a_commit_that_is_cut_is_done_from_the_log() {
    for cut in 0..4 {
        let (mut book, mut world) = World::new();
        book.claim(0, 0, 0, 4, &mut world).unwrap();
        for page in 0..4 {
            touch((&mut book, &mut world), 0, page, Some(5)).unwrap();
        }
        world.cut = Some(cut);
        let _ = book.commit(0, 0, &mut world);
        assert_eq!(world.original.iter().filter(|word| **word == 5).count(), cut);
        world.cut = None;
        world.apply(4);
        assert_eq!(world.original[..4], [5; 4]);
    }
}

/// The book that a successor has of what its predecessor writes.
fn handed_over(book: &mut Book, world: &mut World) -> Book {
    book.settle(world).unwrap();
    let (mut next, _) = World::new();
    take_over(book, &mut next).unwrap();
    next
}

fn take_over(book: &Book, next: &mut Book) -> Result<(), Error> {
    let mut records = Vec::new();
    let put = |_: usize, bytes: &[u8]| {
        records.extend_from_slice(bytes);
        Ok(bytes.len())
    };
    successor::export(0, 1 << 16, put, |writer| book.write(writer)).unwrap();
    successor::Reader::new().take(&records, |kind, record| next.take_over(kind, record))
}

#[test]
fn a_successor_takes_no_records_that_contradict_each_other() {
    let (mut book, mut world) = World::new();
    book.claim(0, 0, 2, 3, &mut world).unwrap();
    touch((&mut book, &mut world), 0, 3, Some(7)).unwrap();
    touch((&mut book, &mut world), 1, 5, None).unwrap();
    let mut next = handed_over(&mut book, &mut world);
    assert!(take_over(&book, &mut next).is_err(), "it has them");
    let (claim, frame) = (1, 2);
    let client = CLIENTS as u64;
    for (kind, record) in [
        (claim, [0, 8, 1]),
        (claim, [1, 4, 1]),
        (claim, [1, 5, u64::MAX]),
        (claim, [client, 5, 1]),
        (frame, [FRAMES as u64, client, 1]),
        (frame, [0, client, 1]),
        (frame, [5, client, 5]),
        (frame, [5, client, PAGES as u64]),
        (frame, [5, client + 1, 1]),
        (frame, [5, 0, 3]),
        (frame, [5, 0, 5]),
        (frame, [5, 1, 3]),
        (9, [5, client, 1]),
    ] {
        let taken = next.take_over(kind, handover::bytes(record).as_flattened());
        assert!(taken.is_err(), "{kind} {record:?}");
    }
    assert!(next.take_over(frame, &[0; 16]).is_err());
    assert_eq!(touch((&mut next, &mut world), 0, 3, None), Ok(7));
    assert_eq!(next.commit(0, 0, &mut world), Ok(1));
    assert_eq!(world.original[3], 7);
}

/// A client has one thread here, which maps what it was answered some time later. Nobody ever reads what is not committed, but for who
/// has written it; and after its next miss nobody has a page that is no more.
#[test]
fn answers_that_are_mapped_late_show_nothing_of_others() {
    for seed in 0..300 {
        let mut random = Random::of_seed(seed);
        let (mut book, mut world) = World::new();
        // What each client has written, if it has a transaction; what was answered, with what was committed then.
        let mut open: [Option<HashMap<usize, u64>>; 3] = [const { None }; 3];
        let mut late: [Option<(usize, usize, bool, u64)>; 3] = [None; 3];
        for step in 1..3000 {
            let client = random.index(3);
            // Nobody is inside: what was answered and is not mapped never will be.
            if random.below(60) == 0 {
                late = [None; 3];
                book = handed_over(&mut book, &mut world);
            }
            if let Some((page, frame, writable, committed)) = late[client].take() {
                world.mapped.insert((client, page), (frame, writable));
                let own = open[client].as_ref().and_then(|written| written.get(&page));
                let read = world.frames[frame];
                let expected = [committed, world.original[page]];
                match own {
                    Some(own) => assert_eq!(read, *own),
                    None => assert!(expected.contains(&read), "{seed} {step}: {read} {expected:?}"),
                }
                continue;
            }
            let page = random.index(PAGES);
            match random.below(12) {
                0 => {
                    let pages = 1 + random.below(LOG as u64);
                    let claimed = book.claim(client, client, page as u64, pages, &mut world);
                    if claimed.is_ok() {
                        assert!(open[client].is_none());
                        open[client] = Some(HashMap::new());
                    }
                }
                1 => {
                    let count = book.commit(client, client, &mut world);
                    let written = open[client].take();
                    assert_eq!(count.ok(), written.as_ref().map(|one| one.len() as u64));
                    for (page, word) in written.into_iter().flatten() {
                        assert_eq!(world.original[page], word, "{seed} {step}");
                    }
                }
                2 => {
                    let count = book.abort(client, client, &mut world);
                    let written = open[client].take();
                    assert_eq!(count.ok(), written.map(|one| one.len() as u64));
                }
                3 if random.below(4) == 0 => {
                    world.unmap(client, 0, PAGES).unwrap();
                    book.end(client);
                    open[client] = None;
                }
                kind => {
                    let writes = kind > 7;
                    let answer = book.fault(client, client, page, writes, &mut world);
                    let Ok((frame, writable)) = answer else { continue };
                    assert!(!writes || writable);
                    if writes {
                        // It is mapped at once here, and written.
                        world.mapped.insert((client, page), (frame, true));
                        world.frames[frame] = step;
                        open[client].as_mut().expect("a transaction").insert(page, step);
                    } else {
                        late[client] = Some((page, frame, writable, world.original[page]));
                    }
                }
            }
            for ((client, page), (frame, writable)) in &world.mapped {
                let shared = world
                    .mapped
                    .iter()
                    .any(|((other, _), (same, _))| same == frame && other != client);
                assert!(!(*writable && shared), "{seed} {step}: page {page} of {client}");
            }
        }
    }
}
