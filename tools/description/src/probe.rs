//! A description that is whatever its readers ask for, and notes what that was: so the schema has every key that they know, and no
//! list beside them.

use crate::place::{Place, Source};
use crate::tree::{Data, Entry, Node};
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::RangeInclusive;
use std::rc::Rc;

/// The key of whatever is in a table whose keys are names: a name of every kind.
const SOME_NAME: &str = "name";

/// What a value is read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A table with keys of its own.
    Table,
    /// A table whose keys are names.
    Names,
    Array,
    Text,
    Boolean,
    /// A number, a text or a boolean.
    Given,
    Integer(RangeInclusive<u64>),
    /// As a number, or with a unit.
    Size(RangeInclusive<u64>),
    Duration,
    Choice(Vec<&'static str>),
}

/// As what a value shows itself to readers that look what it is.
#[derive(Clone, Copy, Default)]
pub(crate) struct Form {
    pub table: bool,
    pub array: bool,
}

/// A value that is read.
pub(crate) struct Probe {
    form: Rc<Cell<Form>>,
    asked: RefCell<Vec<Kind>>,
    is_required: Cell<bool>,
    /// Keys, or what is in an array or in a table of names. It grows while readers hold what is in it.
    first: OnceCell<Box<Link>>,
}

struct Link {
    entry: Entry,
    next: OnceCell<Box<Link>>,
}

impl Probe {
    /// What `read` asks of a description, in whatever form its values are.
    pub fn of(read: impl Fn(&Node)) -> Node {
        let form = Rc::new(Cell::new(Form::default()));
        let top = node(&form);
        for (table, array) in [(false, false), (true, false), (false, true), (true, true)] {
            form.set(Form { table, array });
            read(&top);
        }
        top
    }

    pub fn form(&self) -> Form {
        self.form.get()
    }

    /// Notes that it was read as this.
    pub fn note(&self, kind: Kind) {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&kind) {
            asked.push(kind);
        }
    }

    /// Notes that it has to be there.
    pub fn require(&self) {
        self.is_required.set(true);
    }

    /// All that it was read as.
    pub fn asked(&self) -> Vec<Kind> {
        self.asked.borrow().clone()
    }

    pub fn is_required(&self) -> bool {
        self.is_required.get()
    }

    /// Its keys.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let first = self.first.get();
        let links = std::iter::successors(first, |link| link.next.get());
        links.map(|link| &link.entry)
    }

    /// The value of a key.
    pub fn key(&self, name: &str) -> &Entry {
        let mut place = &self.first;
        loop {
            let link = place.get_or_init(|| {
                let value = node(&self.form);
                let key = value.place.clone();
                let entry = Entry { name: name.to_owned(), key, value, copy_of: None };
                Box::new(Link { entry, next: OnceCell::new() })
            });
            if link.entry.name == name {
                return &link.entry;
            }
            place = &link.next;
        }
    }

    /// What is in an array, or in a table of names.
    pub fn inner(&self) -> &Entry {
        self.key(SOME_NAME)
    }
}

fn node(form: &Rc<Cell<Form>>) -> Node {
    let probe = Probe {
        form: form.clone(),
        asked: RefCell::default(),
        is_required: Cell::default(),
        first: OnceCell::new(),
    };
    Node { place: Place::new(&Source::new("schema", ""), 0..0), data: Data::Probe(Rc::new(probe)) }
}
