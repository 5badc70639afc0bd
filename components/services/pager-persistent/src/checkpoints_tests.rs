//! A disk that is cut, or refuses, after any block.

use crate::checkpoints::{BLOCK, Checkpoints, Disk, blocks};
use cairn::Error;
use cairn_random::Random;

const PAGES: usize = 12;
const SHAPE: u64 = 7;

/// What a disk does after so many blocks.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// Nothing any more.
    Ends,
    /// It refuses this call, of which it has done a part, and serves the next.
    Refuses,
}

struct Simulated {
    /// What lasts, and what is in the disk's own memory.
    lasting: Vec<[u8; BLOCK]>,
    now: Vec<[u8; BLOCK]>,
    left: u64,
    then: Then,
}

impl Simulated {
    fn new() -> Simulated {
        let empty = vec![[0; BLOCK]; blocks(PAGES as u64) as usize];
        Simulated { lasting: empty.clone(), now: empty, left: u64::MAX, then: Then::Ends }
    }

    /// One block more, if there is one left.
    fn step(&mut self) -> Result<(), Error> {
        if self.left == 0 {
            if self.then == Then::Refuses {
                self.left = u64::MAX;
            }
            return Err(Error::Dead);
        }
        self.left -= 1;
        Ok(())
    }

    /// The power is cut: of what was not flushed any block is there or not.
    fn cut(&mut self, random: Option<&mut Random>) {
        if let Some(random) = random {
            for (lasting, now) in self.lasting.iter_mut().zip(&self.now) {
                if random.below(2) == 0 {
                    *lasting = *now;
                }
            }
            self.now = self.lasting.clone();
        }
        self.left = u64::MAX;
    }
}

impl Disk for Simulated {
    fn read(&mut self, first: u64, buffer: &mut [u8]) -> Result<(), Error> {
        let from = &self.now[first as usize..][..buffer.len() / BLOCK];
        buffer.chunks_exact_mut(BLOCK).zip(from).for_each(|(to, from)| to.copy_from_slice(from));
        Ok(())
    }

    fn write(&mut self, first: u64, buffer: &[u8]) -> Result<(), Error> {
        for (at, block) in buffer.chunks_exact(BLOCK).enumerate() {
            self.step()?;
            self.now[first as usize + at].copy_from_slice(block);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.step()?;
        self.lasting = self.now.clone();
        Ok(())
    }
}

type Pages = [u8; PAGES];

fn read(checkpoints: &Checkpoints, disk: &mut Simulated) -> Pages {
    core::array::from_fn(|page| {
        let mut buffer = [0; 4096];
        checkpoints.read(page, &mut buffer, disk).unwrap();
        assert!(buffer.iter().all(|byte| *byte == buffer[0]), "a page of two times");
        buffer[0]
    })
}

fn write(
    checkpoints: &mut Checkpoints,
    pages: &mut Pages,
    page: usize,
    byte: u8,
    disk: &mut Simulated,
) -> Result<(), Error> {
    checkpoints.write(page, &[byte; 4096], disk)?;
    pages[page] = byte;
    Ok(())
}

/// Three checkpoints; what is to be found, and what else may be, if a call failed.
fn session(
    checkpoints: &mut Checkpoints,
    disk: &mut Simulated,
    states: &mut Vec<Pages>,
) -> Result<(), Error> {
    let mut pages = [0; PAGES];
    states.push(pages);
    for (round, changed) in [0..PAGES, 0..5, 3..PAGES].into_iter().enumerate() {
        for page in changed {
            // A page may be written several times.
            write(checkpoints, &mut pages, page, 100, disk)?;
            write(checkpoints, &mut pages, page, round as u8 * 20 + page as u8 + 1, disk)?;
        }
        states.push(pages);
        checkpoints.commit(disk)?;
        assert_eq!(read(checkpoints, disk), pages);
    }
    Ok(())
}

/// Behind every block and every flush, with what was not flushed there or not.
#[test]
fn the_last_whole_checkpoint_is_found_after_any_cut() {
    let mut points = 0;
    for seed in 0..8 {
        let mut random = Random::of_seed(seed);
        for cut in 0.. {
            let (mut disk, mut checkpoints) = (Simulated::new(), Checkpoints::new());
            assert_eq!(checkpoints.open(SHAPE, &mut disk), Ok(0));
            disk.left = cut;
            let mut states = Vec::new();
            let ended = session(&mut checkpoints, &mut disk, &mut states);
            disk.cut((seed > 0).then_some(&mut random));
            let number = checkpoints.open(SHAPE, &mut disk).expect("a checkpoint");
            let found = read(&checkpoints, &mut disk);
            assert_eq!(found, states[number as usize], "{seed} {cut}");
            // The last but one, if the last was begun, or the last.
            assert!(number as usize + 2 >= states.len(), "{seed} {cut}: {number}");
            // It goes on from there.
            let mut pages = found;
            write(&mut checkpoints, &mut pages, 4, 99, &mut disk).unwrap();
            checkpoints.commit(&mut disk).unwrap();
            let mut next = Checkpoints::new();
            assert_eq!(next.open(SHAPE, &mut disk), Ok(number + 1));
            assert_eq!(read(&next, &mut disk), pages);
            points += 1;
            if ended.is_ok() {
                assert_eq!(number, 3);
                break;
            }
        }
    }
    assert!(points > 8 * 400, "{points}");
}

/// A call that failed may have done its work: what comes behind it changes no checkpoint that may be there.
#[test]
fn a_disk_that_refuses_loses_no_checkpoint() {
    for refused in 0..450 {
        for cut in (0..200).step_by(3) {
            let (mut disk, mut checkpoints) = (Simulated::new(), Checkpoints::new());
            checkpoints.open(SHAPE, &mut disk).unwrap();
            (disk.left, disk.then) = (refused, Then::Refuses);
            let mut states = Vec::new();
            if session(&mut checkpoints, &mut disk, &mut states).is_ok() {
                return;
            }
            // What a call was to write is in memory still, and written again.
            let mut pages = [0; PAGES];
            (disk.left, disk.then) = (cut, Then::Ends);
            let mut next = || -> Result<(), Error> {
                for page in 0..PAGES {
                    let byte = 200 + page as u8;
                    write(&mut checkpoints, &mut pages, page, byte, &mut disk)?;
                }
                checkpoints.commit(&mut disk)
            };
            let ended = next();
            disk.cut(None);
            let number = checkpoints.open(SHAPE, &mut disk).expect("a checkpoint");
            let found = read(&checkpoints, &mut disk);
            let mut allowed = vec![pages];
            allowed.extend(states.iter().rev().take(2));
            assert!(allowed.contains(&found), "{refused} {cut} {number}: {found:?} {allowed:?}");
            assert!(ended.is_err() || found == pages);
        }
    }
}

#[test]
fn what_is_no_checkpoint_of_these_sections_is_refused() {
    let (mut disk, mut checkpoints) = (Simulated::new(), Checkpoints::new());
    checkpoints.open(SHAPE, &mut disk).unwrap();
    checkpoints.write(3, &[5; 4096], &mut disk).unwrap();
    for _ in 0..3 {
        checkpoints.write(2, &[5; 4096], &mut disk).unwrap();
        checkpoints.commit(&mut disk).unwrap();
        // Nothing to do.
        disk.left = 0;
        checkpoints.commit(&mut disk).unwrap();
        disk.left = u64::MAX;
    }
    assert_eq!(Checkpoints::new().open(SHAPE + 1, &mut disk), Err(Error::NotSupported));
    assert_eq!(Checkpoints::new().open(SHAPE, &mut disk), Ok(3));
    // A bit of the last head, anywhere: the one before is found. Of both: nothing.
    let whole = disk.now.clone();
    for (block, byte) in [(8, 0), (8, 9), (8, 17), (8, 25), (9, 0), (15, 511)] {
        disk.now[block][byte] ^= 4;
        assert_eq!(Checkpoints::new().open(SHAPE, &mut disk), Ok(2), "{block} {byte}");
        disk.now[block - 8][byte] ^= 64;
        assert_eq!(Checkpoints::new().open(SHAPE, &mut disk), Err(Error::Malformed));
        disk.now = whole.clone();
    }
    // A head at the other one's place is none.
    disk.now.copy_within(8..16, 0);
    assert_eq!(Checkpoints::new().open(SHAPE, &mut disk), Ok(3));
    disk.now[8][0] ^= 1;
    assert_eq!(Checkpoints::new().open(SHAPE, &mut disk), Err(Error::Malformed));
    // A file system's disk.
    let mut other = Simulated::new();
    other.now[0] = [0xe5; BLOCK];
    assert_eq!(Checkpoints::new().open(SHAPE, &mut other), Err(Error::Malformed));
}

/// What is not on the disk goes over, and no checkpoint is made for it.
#[test]
fn a_successor_goes_on_behind_the_last_checkpoint() {
    for fails in [false, true] {
        let (mut disk, mut before) = (Simulated::new(), Checkpoints::new());
        before.open(SHAPE, &mut disk).unwrap();
        let filled = |byte: u8| [byte; 4096];
        before.write(3, &filled(1), &mut disk).unwrap();
        before.commit(&mut disk).unwrap();
        before.write(3, &filled(2), &mut disk).unwrap();
        before.write(5, &filled(3), &mut disk).unwrap();
        if fails {
            // The head may be on the disk, or not.
            (disk.left, disk.then) = (BLOCK as u64 / 64 + 1, Then::Refuses);
            let _ = before.commit(&mut disk);
            disk.left = u64::MAX;
        }
        let mut records = Vec::new();
        let put = |_: usize, bytes: &[u8]| {
            records.extend_from_slice(bytes);
            Ok(bytes.len())
        };
        cairn::successor::export(0, 1 << 16, put, |writer| before.hand_over(writer)).unwrap();
        let mut next = Checkpoints::new();
        next.open(SHAPE, &mut disk).unwrap();
        let mut reader = cairn::successor::Reader::new();
        reader.take(&records, |kind, record| next.take_over(kind, record)).unwrap();
        let mut page = filled(0);
        for (number, byte) in [(3, 2), (5, 3), (0, 0)] {
            next.read(number, &mut page, &mut disk).unwrap();
            assert_eq!(page, filled(byte), "{number}");
        }
        if !fails {
            let mut other = Checkpoints::new();
            let number = other.open(SHAPE, &mut disk).unwrap();
            other.read(3, &mut page, &mut disk).unwrap();
            assert_eq!((number, page), (1, filled(1)), "the checkpoint is as it was");
        }
        next.write(3, &filled(4), &mut disk).unwrap();
        next.commit(&mut disk).unwrap();
        let mut last = Checkpoints::new();
        last.open(SHAPE, &mut disk).unwrap();
        for (number, byte) in [(3, 4), (5, 3)] {
            last.read(number, &mut page, &mut disk).unwrap();
            assert_eq!(page, filled(byte), "{number}");
        }
        for wrong in [[0; 258], [0xff; 258]] {
            let wrong = &wrong[..if wrong[0] == 0 { 257 } else { 258 }];
            assert_eq!(last.take_over(3, wrong), Err(Error::Malformed));
        }
        assert_eq!(last.take_over(1, &[]), Err(Error::VersionMismatch));
    }
}
