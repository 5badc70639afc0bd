//! What processes have opened, and pipes.

use crate::limits;
use crate::node::Node;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;
use cairn_personality::errno::{Errno, Result};
use core::cell::{Cell, RefCell};

/// What was opened: each end of a pipe once, however many descriptors it has.
pub struct Open {
    /// What it is.
    pub what: What,
    /// As it was opened.
    pub flags: Cell<u32>,
    /// Where the next read or write is.
    pub at: Cell<u64>,
    /// Of a folder: the last name that was told.
    pub told: RefCell<Option<Vec<u8>>>,
    all: Rc<Counts>,
}

/// What can be opened.
pub enum What {
    /// What a path leads to.
    Node(Rc<Node>),
    /// Where a pipe is read.
    Reader(Rc<Pipe>),
    /// Where it is written.
    Writer(Rc<Pipe>),
}

/// How much there is of all this, and how often something has changed for which a process could wait.
#[derive(Default)]
pub struct Counts {
    opened: Cell<usize>,
    pipes: Cell<usize>,
    changes: Cell<u64>,
}

impl Counts {
    /// Something has changed.
    pub fn change(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    /// How often.
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }
}

/// A pipe.
pub struct Pipe {
    bytes: RefCell<VecDeque<u8>>,
    readers: Cell<u32>,
    writers: Cell<u32>,
    all: Rc<Counts>,
}

impl Open {
    /// Opens a node. `EMFILE`: as much is opened as can be.
    pub fn new(what: What, flags: u32, all: &Rc<Counts>) -> Result<Rc<Open>> {
        if all.opened.get() >= limits::OPENED {
            return Err(Errno::EMFILE);
        }
        all.opened.set(all.opened.get() + 1);
        match &what {
            What::Reader(pipe) => pipe.readers.set(1),
            What::Writer(pipe) => pipe.writers.set(1),
            What::Node(_) => {}
        }
        let flags = Cell::new(flags);
        let told = RefCell::new(None);
        Ok(Rc::new(Open { what, flags, at: Cell::new(0), told, all: Rc::clone(all) }))
    }

    /// The node. `EINVAL`: it is a pipe.
    pub fn node(&self) -> Result<&Rc<Node>> {
        match &self.what {
            What::Node(node) => Ok(node),
            _ => Err(Errno::EINVAL),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        match &self.what {
            What::Reader(pipe) => pipe.readers.set(0),
            What::Writer(pipe) => pipe.writers.set(0),
            What::Node(_) => {}
        }
        self.all.opened.set(self.all.opened.get() - 1);
        self.all.change();
    }
}

impl Pipe {
    /// A new one.
    pub fn new(all: &Rc<Counts>) -> Result<Rc<Pipe>> {
        if all.pipes.get() >= limits::PIPES {
            return Err(Errno::EMFILE);
        }
        all.pipes.set(all.pipes.get() + 1);
        let (readers, writers) = (Cell::new(0), Cell::new(0));
        Ok(Rc::new(Pipe { bytes: RefCell::default(), readers, writers, all: Rc::clone(all) }))
    }

    /// Whether a read comes back.
    pub fn is_readable(&self) -> bool {
        !self.bytes.borrow().is_empty() || self.writers.get() == 0
    }

    /// Whether nobody writes it any more.
    pub fn has_ended(&self) -> bool {
        self.writers.get() == 0
    }

    /// Whether nobody reads it any more.
    pub fn is_broken(&self) -> bool {
        self.readers.get() == 0
    }

    /// Whether a write of one byte comes back.
    pub fn is_writable(&self) -> bool {
        self.is_broken() || self.bytes.borrow().len() < limits::PIPE
    }

    /// Reads what is there; `None`: nothing yet.
    pub fn read(&self, bytes: &mut [u8]) -> Option<usize> {
        if !self.is_readable() {
            return None;
        }
        let mut there = self.bytes.borrow_mut();
        let count = there.len().min(bytes.len());
        for (to, from) in bytes.iter_mut().zip(there.drain(..count)) {
            *to = from;
        }
        if count > 0 {
            self.all.change();
        }
        Some(count)
    }

    /// Writes what there is room for; `None`: there is none. What is no more than a whole pipe is written at once.
    pub fn write(&self, bytes: &[u8]) -> Result<Option<usize>> {
        if self.is_broken() {
            return Err(Errno::EPIPE);
        }
        let mut there = self.bytes.borrow_mut();
        let room = limits::PIPE - there.len();
        if bytes.is_empty() {
            return Ok(Some(0));
        }
        if room == 0 || bytes.len() <= limits::PIPE && room < bytes.len() {
            return Ok(None);
        }
        let count = room.min(bytes.len());
        there.extend(&bytes[..count]);
        self.all.change();
        Ok(Some(count))
    }

    /// Bytes that wait to be read.
    pub fn waiting(&self) -> usize {
        self.bytes.borrow().len()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.all.pipes.set(self.all.pipes.get() - 1);
    }
}

/// The descriptors of a process: each with what it stands for, and whether a new program loses it.
#[derive(Clone, Default)]
pub struct Descriptors(Vec<Option<(Rc<Open>, bool)>>);

impl Descriptors {
    /// What a descriptor stands for.
    pub fn get(&self, number: u64) -> Result<Rc<Open>> {
        let found = usize::try_from(number).ok().and_then(|place| self.0.get(place)?.as_ref());
        found.map(|(open, _)| Rc::clone(open)).ok_or(Errno::EBADF)
    }

    /// The lowest free descriptor from a number on.
    pub fn add(&mut self, open: Rc<Open>, from: u64, closes: bool) -> Result<u64> {
        if from >= limits::DESCRIPTORS as u64 {
            return Err(Errno::EINVAL);
        }
        let is_free = |place: &u64| self.get(*place).is_err();
        let free = (from..limits::DESCRIPTORS as u64).find(is_free).ok_or(Errno::EMFILE)?;
        self.put(open, free, closes)?;
        Ok(free)
    }

    /// A certain descriptor, instead of what it was.
    pub fn put(&mut self, open: Rc<Open>, number: u64, closes: bool) -> Result<()> {
        let place = usize::try_from(number).ok().filter(|place| *place < limits::DESCRIPTORS);
        let place = place.ok_or(Errno::EBADF)?;
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        self.0[place] = Some((open, closes));
        Ok(())
    }

    /// Whether a new program loses it, and from now on.
    pub fn closes(&mut self, number: u64) -> Result<&mut bool> {
        let found = usize::try_from(number).ok().and_then(|place| self.0.get_mut(place)?.as_mut());
        found.map(|(_, closes)| closes).ok_or(Errno::EBADF)
    }

    /// Closes one.
    pub fn close(&mut self, number: u64) -> Result<()> {
        self.get(number)?;
        self.0[number as usize] = None;
        Ok(())
    }

    /// A new program begins.
    pub fn begin_program(&mut self) {
        for place in &mut self.0 {
            place.take_if(|(_, closes)| *closes);
        }
    }

    /// None any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
