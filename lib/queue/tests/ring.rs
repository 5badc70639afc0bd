//! The ring: order, wrapping, and what a hostile side can do.
#![forbid(unsafe_code)]

use cairn_queue::ring::{Broken, Consumer, Place, Producer, Shared};
use cairn_random::Random;
use std::cell::Cell;
use std::collections::VecDeque;

/// Words that one thread reads and writes.
struct Words(Vec<Cell<u64>>);

impl Shared for Words {
    fn load(&self, word: usize) -> u64 {
        self.0[word].get()
    }
    fn store(&self, word: usize, value: u64) {
        self.0[word].set(value);
    }
}

const PLACE: Place<2> = Place { first: 3, capacity: 4 };
const PUBLISHED: usize = 3;
const TAKEN: usize = 4;

/// A ring in which so many entries were ever put in, and taken.
fn words(index: u64) -> Words {
    let words = Words(vec![Cell::new(0x5555); 3 + PLACE.words()]);
    PLACE.clear(&words);
    words.store(PUBLISHED, index);
    words.store(TAKEN, index);
    words
}

fn sides(words: &Words, index: u64) -> (Producer<&Words, 2>, Consumer<&Words, 2>) {
    (Producer::new(words, PLACE, index), Consumer::new(words, PLACE, index))
}

#[test]
fn what_goes_in_comes_out_in_order_also_where_indexes_wrap() {
    for begin in [0, 1, u64::MAX - 5, u64::MAX] {
        let words = words(begin);
        let (mut producer, mut consumer) = sides(&words, begin);
        let (mut hidden, mut shown, mut taken) = (VecDeque::new(), VecDeque::new(), 0);
        let mut random = Random::of_seed(begin);
        for number in 0..20_000 {
            match random.below(4) {
                0 | 1 => {
                    let has_room = hidden.len() + shown.len() + taken < 4;
                    assert_eq!(producer.push([number, !number]), Ok(has_room));
                    if has_room {
                        hidden.push_back([number, !number]);
                    }
                }
                2 => {
                    producer.show();
                    shown.append(&mut hidden);
                }
                _ => {
                    let expected = shown.pop_front();
                    assert_eq!(consumer.pop(), Ok(expected));
                    taken += usize::from(expected.is_some());
                    if random.below(2) == 0 {
                        consumer.give_back();
                        taken = 0;
                    }
                }
            }
        }
    }
}

#[test]
fn it_is_called_only_when_it_sleeps() {
    let words = words(0);
    let (mut producer, mut consumer) = sides(&words, 0);
    assert!(producer.publish(), "it sleeps at first");
    consumer.wake();
    assert_eq!(producer.push([1, 2]), Ok(true));
    assert!(!producer.publish());
    assert_eq!(consumer.sleep(), Ok(false), "there is something");
    assert!(!producer.publish());
    assert_eq!(consumer.pop(), Ok(Some([1, 2])));
    assert_eq!(consumer.sleep(), Ok(true));
    assert!(producer.publish());
}

#[test]
fn an_index_that_cannot_be_breaks_the_ring() {
    for begin in [0, u64::MAX - 1] {
        let at = |offset: i64| begin.wrapping_add_signed(offset);
        for (said, expected) in [
            (at(0), Ok(0)),
            (at(4), Ok(4)),
            (at(5), Err(Broken)),
            (at(-1), Err(Broken)),
            (at(i64::MIN), Err(Broken)),
        ] {
            let words = words(begin);
            words.store(PUBLISHED, said);
            assert_eq!(sides(&words, begin).1.count(), expected, "published {said}");
        }
        for (said, expected) in [
            (at(0), Ok(1)),
            (at(3), Ok(4)),
            (at(4), Err(Broken)),
            (at(-1), Ok(0)),
            (at(-2), Err(Broken)),
        ] {
            let words = words(begin);
            let (mut producer, _) = sides(&words, begin);
            words.store(TAKEN, begin);
            (0..3).for_each(|number| assert_eq!(producer.push([number; 2]), Ok(true)));
            words.store(TAKEN, said);
            // One that has never looked believes as little as one that has.
            let mut later = Producer::new(&words, PLACE, begin.wrapping_add(3));
            assert_eq!(later.space(), expected, "taken {said}");
        }
        // None goes back.
        let words = words(begin);
        let (mut producer, mut consumer) = sides(&words, begin);
        words.store(PUBLISHED, at(3));
        assert_eq!(consumer.count(), Ok(3));
        words.store(PUBLISHED, at(2));
        assert_eq!(consumer.count(), Err(Broken));
        words.store(TAKEN, at(0));
        assert_eq!(producer.push([0, 0]).and(producer.push([0, 0])), Ok(true));
        words.store(TAKEN, at(2));
        assert_eq!(producer.space(), Ok(4));
        words.store(TAKEN, at(1));
        assert_eq!(producer.space(), Err(Broken));
    }
}

#[test]
fn whatever_is_written_no_side_leaves_its_ring() {
    for seed in 0..200 {
        let mut random = Random::of_seed(seed);
        let words = words(0);
        let (mut producer, mut consumer) = sides(&words, 0);
        for _ in 0..1000 {
            let near = random.below(12).wrapping_sub(4);
            let value = if random.below(8) == 0 { random.next() } else { near };
            words.store(PUBLISHED + random.index(3 + 8), value);
            // An offset outside would be a panic, and so would a loop that does not end.
            let _ = producer.push([1, 2]);
            producer.show();
            for _ in 0..5 {
                let _ = consumer.pop();
            }
            let _ = consumer.sleep();
        }
        assert!((0..3).all(|word| words.load(word) == 0x5555));
    }
}
