//! The ring of a log: what is written comes back, and whatever else is in it does no harm.
// Relaxed: one thread writes and reads here, in turn.

use cairn::abi::log::{BEGUN, Head, RECORDS, TEXT_MAXIMUM};
use cairn::log::ring::{Found, Ring};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

fn words(count: usize) -> Vec<AtomicI64> {
    (0..count).map(|_| AtomicI64::new(0)).collect()
}

/// The word of the records at a place.
fn word(words: &[AtomicI64], place: u64) -> &AtomicI64 {
    &words[RECORDS + (place % (words.len() - RECORDS) as u64) as usize]
}

fn all(words: &[AtomicI64], mut from: u64) -> (Vec<(u8, String)>, u64) {
    let ring = Ring::new(words).unwrap();
    let (mut records, mut text) = (Vec::new(), [0; TEXT_MAXIMUM]);
    loop {
        match ring.read(from, 16, &mut text) {
            Found::Record { head, next, .. } => {
                let text = String::from_utf8_lossy(&text[..head.length as usize]).into_owned();
                records.push((head.target, text));
                from = next;
            }
            Found::Nothing(next) => {
                assert!(next > from || from > words[BEGUN].load(Relaxed) as u64);
                from = next;
            }
            Found::End => return (records, from),
        }
    }
}

#[test]
fn records_come_back_in_order_and_the_oldest_go_first() {
    let words = words(128);
    let ring = Ring::new(&words).unwrap();
    let mut from = 0;
    for number in 0..1000 {
        ring.write(3, b"me", format!("{number}").as_bytes(), number);
        let (records, end) = all(&words, from);
        assert_eq!(records, [(2, format!("me{number}"))]);
        from = end;
    }
    let (records, end) = all(&words, 0);
    assert_eq!((records.len(), end), (120 / 3, from), "as many as there is room for");
    assert_eq!(records.last().unwrap().1, "me999");
}

#[test]
fn one_that_was_not_finished_is_all_that_is_lost() {
    let words = words(128);
    let ring = Ring::new(&words).unwrap();
    ring.write(1, b"a", b"first", 1);
    let second = words[BEGUN].load(Relaxed) as u64;
    ring.write(1, b"b", b"second", 2);
    ring.write(1, b"c", b"third", 3);
    word(&words, second).store(0, Relaxed);
    let texts: Vec<String> = all(&words, 0).0.into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["afirst", "cthird"]);
}

#[test]
fn what_is_too_long_is_cut() {
    let words = words(128);
    let ring = Ring::new(&words).unwrap();
    ring.write(5, &[b't'; 300], &[b'x'; 1000], 0);
    let (records, _) = all(&words, 0);
    assert_eq!((records[0].0, records[0].1.len()), (64, TEXT_MAXIMUM));
    assert!(Ring::new(&words[..RECORDS + 31]).is_none());
}

#[test]
fn whatever_it_holds_reading_ends() {
    let words = words(128);
    let ring = Ring::new(&words).unwrap();
    let mut random = 88172645463325252u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut text = [0; TEXT_MAXIMUM];
    for _ in 0..10_000 {
        words.iter().for_each(|word| word.store(next() as i64, Relaxed));
        for begun in [next(), next() % 400, u64::MAX, 0] {
            words[BEGUN].store(begun as i64, Relaxed);
            let place = next();
            let head = Head { level: 3, target: 0, length: next() as u8 };
            word(&words, place).store(head.word(place) as i64, Relaxed);
            for from in [next(), place, begun, begun.wrapping_sub(7), 0, u64::MAX] {
                ring.read(from, 16, &mut text);
            }
        }
    }
    for begun in [u64::MAX, u64::MAX - 3, 130] {
        words[BEGUN].store(begun as i64, Relaxed);
        all(&words, 0);
    }
}
