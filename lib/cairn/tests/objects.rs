//! Objects end exactly once, when nobody is inside, however many threads try.
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::object::ObjectTable;
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
                        // Somebody else may have closed it below.
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
