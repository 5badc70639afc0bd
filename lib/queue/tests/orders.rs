//! Every order in which the two sides can run, and in which a core may show what they wrote. That a core
//! writes before it has read what is before that is not among them: loom does not know it. Against it are the fences in
//! `Producer::space` and `Consumer::give_back`.
#![forbid(unsafe_code)]

use cairn_queue::ring::{Consumer, Place, Producer, Shared};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::thread;

#[derive(Clone)]
struct Words(Arc<Vec<AtomicU64>>);

impl Shared for Words {
    fn load(&self, word: usize) -> u64 {
        self.0[word].load(Ordering::Relaxed)
    }
    fn store(&self, word: usize, value: u64) {
        self.0[word].store(value, Ordering::Relaxed);
    }
    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

fn words<const WORDS: usize>(place: Place<WORDS>) -> Words {
    let words = Words(Arc::new((0..place.words()).map(|_| AtomicU64::new(0)).collect()));
    place.clear(&words);
    words
}

#[test]
fn an_entry_is_whole_and_its_room_is_used_again_only_when_it_was_read() {
    loom::model(|| {
        const PLACE: Place<2> = Place { first: 0, capacity: 2 };
        let words = words(PLACE);
        let mut producer = Producer::new(words.clone(), PLACE, 0);
        let mut consumer = Consumer::new(words, PLACE, 0);
        let other = thread::spawn(move || {
            let mut put = 0;
            for _ in 0..3 {
                if producer.push([put, put + 10]) == Ok(true) {
                    put += 1;
                }
                producer.show();
            }
            put
        });
        let mut taken = 0;
        for _ in 0..3 {
            if let Some(entry) = consumer.pop().unwrap() {
                assert_eq!(entry, [taken, taken + 10]);
                taken += 1;
                consumer.give_back();
            }
        }
        let put = other.join().unwrap();
        while let Some(entry) = consumer.pop().unwrap() {
            assert_eq!(entry, [taken, taken + 10]);
            taken += 1;
        }
        assert_eq!(taken, put);
    });
}

#[test]
fn what_is_published_is_seen_or_the_consumer_is_called() {
    loom::model(|| {
        const PLACE: Place<1> = Place { first: 0, capacity: 2 };
        let words = words(PLACE);
        let mut producer = Producer::new(words.clone(), PLACE, 0);
        let mut consumer = Consumer::new(words, PLACE, 0);
        consumer.wake();
        let other = thread::spawn(move || {
            let mut calls = 0;
            for number in 0..2 {
                assert_eq!(producer.push([number]), Ok(true));
                calls += u64::from(producer.publish());
            }
            calls
        });
        let mut taken = 0;
        // It sleeps once.
        let sleeps = loop {
            while consumer.pop().unwrap().is_some() {
                taken += 1;
            }
            if consumer.sleep().unwrap() || taken == 2 {
                break taken < 2;
            }
        };
        let calls = other.join().unwrap();
        assert!(!sleeps || calls > 0, "an entry waits for a call that nobody makes");
    });
}
