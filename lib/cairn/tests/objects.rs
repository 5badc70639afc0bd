//! Objects end exactly once, when no thread is inside, however many threads try.
#![forbid(unsafe_code)]

use cairn::Caller;
use cairn::Error;
use cairn::InstanceId;
use cairn::object::{ObjectParts, ObjectTable};
use std::sync::atomic::{AtomicUsize, Ordering};

static MADE: AtomicUsize = AtomicUsize::new(0);
static ENDED: AtomicUsize = AtomicUsize::new(0);

struct Counted {
    alive: AtomicUsize,
}

impl Counted {
    fn new() -> Self {
        MADE.fetch_add(1, Ordering::SeqCst);
        Counted { alive: AtomicUsize::new(1) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert_eq!(self.alive.swap(0, Ordering::SeqCst), 1);
        ENDED.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn an_object_ends_when_the_last_call_leaves() {
    let table: ObjectTable<Counted, 2> = ObjectTable::new();
    let control = table.insert(Counted::new()).unwrap();
    table
        .with(control, |object| {
            table.remove(control).unwrap();
            assert_eq!(object.alive.load(Ordering::SeqCst), 1);
            assert_eq!(table.with(control, |_| ()), Err(Error::NotFound));
            assert_eq!(table.remove(control), Err(Error::NotFound));
        })
        .unwrap();
    let full =
        [table.insert(Counted::new()), table.insert(Counted::new()), table.insert(Counted::new())];
    assert_eq!(full[2], Err(Error::Exhausted));
    assert!(full[..2].iter().all(|other| *other != Ok(control)));

    drop(table);
    assert_eq!(MADE.load(Ordering::SeqCst), ENDED.load(Ordering::SeqCst));

    let threads = 4;
    let table: ObjectTable<Counted, 3> = ObjectTable::new();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    if let Ok(control) = table.insert(Counted::new()) {
                        let _ = table.with(control, |object| {
                            assert_eq!(object.alive.load(Ordering::SeqCst), 1)
                        });
                        // Another thread may have closed it below.
                        let _ = table.remove(control);
                    }
                    table.for_each(|control, object| {
                        assert_eq!(object.alive.load(Ordering::SeqCst), 1);
                        let _ = table.remove(control);
                    });
                }
            });
        }
    });
    table.for_each(|control, _| panic!("{control:#x} is left"));
    drop(table);
    assert_eq!(MADE.load(Ordering::SeqCst), ENDED.load(Ordering::SeqCst));
}

#[test]
fn a_table_drops_what_is_left() {
    struct Left<'count>(&'count AtomicUsize);
    impl Drop for Left<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let count = AtomicUsize::new(0);
    let table: ObjectTable<Left, 4> = ObjectTable::new();
    for _ in 0..3 {
        table.insert(Left(&count)).unwrap();
    }
    drop(table);
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

static PARTS: ObjectParts<(u64, u64), 3> = ObjectParts::new();

/// Two hundred clients open all that they can, in two lives each; then one more finds its part empty.
#[test]
fn whatever_others_open_a_client_has_its_part() {
    let ended = AtomicUsize::new(0);
    let open = |client, life, state| {
        PARTS.insert(
            Caller(client),
            life,
            |control| (control, state),
            |_| {
                ended.fetch_add(1, Ordering::Relaxed);
            },
        )
    };
    for client in 1..=200 {
        for (life, number) in [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2)] {
            open(InstanceId(client), life, number).unwrap();
        }
    }
    // Of each client those of its former life, which only its own next call ended.
    assert_eq!(ended.swap(0, Ordering::Relaxed), 200 * 2);
    let own: Vec<u64> = (0..3).map(|number| open(InstanceId(201), 1, number).unwrap()).collect();
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    for (number, control) in own.iter().enumerate() {
        assert_eq!(PARTS.with(*control, |state| *state), Ok((*control, number as u64)));
    }
    // One more: the oldest goes, and its control word names nothing, nor anybody else's object.
    let last = open(InstanceId(201), 1, 3).unwrap();
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    assert_eq!(PARTS.with(own[0], |_| ()), Err(Error::NotFound));
    assert_eq!(PARTS.with(last, |state| *state), Ok((last, 3)));
    assert_eq!(PARTS.remove(last), Ok(()));
    assert_eq!(PARTS.remove(last), Err(Error::NotFound));
    assert_eq!(open(InstanceId(256), 1, 0), Err(Error::BadArgument), "no domain");
    for control in [0, 1, u64::MAX] {
        assert_eq!(PARTS.with(control, |_| ()), Err(Error::NotFound), "{control:#x}");
    }
}

#[test]
fn a_client_inside_its_oldest_object_keeps_its_place_meanwhile() {
    static PARTS: ObjectParts<u64, 2> = ObjectParts::new();
    let open = |state| PARTS.insert(Caller(InstanceId(7)), 1, |_| state, |_| ());
    let oldest = open(0).unwrap();
    open(1).unwrap();
    PARTS.with(oldest, |_| assert_eq!(open(2), Err(Error::Exhausted))).unwrap();
    assert_eq!(PARTS.with(oldest, |_| ()), Err(Error::NotFound), "it has ended all the same");
    assert!(open(3).is_ok());
}

/// Whoever opened something in one content, and nothing in the next, gets no control word again in the one behind that.
#[test]
fn no_successor_gives_a_control_word_of_those_before_again() {
    type Parts = ObjectParts<u64, 2>;
    static CONTENTS: [Parts; 3] = [const { Parts::new() }; 3];
    let (one, other) = (Caller(InstanceId(7)), Caller(InstanceId(8)));
    let [first, second, third] = &CONTENTS;
    let open = |parts: &Parts, client| parts.insert(client, 1, |_| 5, |_| ()).unwrap();
    let kept = open(first, other);
    let ended: Vec<u64> = (0..9).map(|_| open(first, one)).collect();
    ended.iter().for_each(|control| _ = first.remove(*control));
    let hand_over = |from: &Parts, to: &Parts| {
        from.try_for_each(|control, known, state| to.restore(control, known, *state)).unwrap();
        to.follow(from.generation());
    };
    hand_over(first, second);
    hand_over(second, third);
    assert_eq!(third.with(kept, |state| *state), Ok(5));
    let new = [one, one, other].map(|client| open(third, client));
    for control in ended {
        assert!(!new.contains(&control) && third.with(control, |_| ()).is_err(), "{control:#x}");
    }
    assert_eq!(third.with(kept, |state| *state), Ok(5));
}
