//! What a path leads to: files, folders, links and devices. Files keep what was written in pages of the processes' memory.

use crate::frames::Frames;
use crate::limits;
use alloc::collections::BTreeMap;
use alloc::rc::{Rc, Weak};
use alloc::vec::Vec;
use cairn::section::Section;
use cairn_personality::areas::PAGE;
use cairn_personality::errno::{Errno, Result};
use core::cell::{Cell, RefCell};

/// A device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// What is written is gone, and nothing is to be read.
    Null,
    /// The same, with zeros to be read.
    Zero,
    /// The same, with bytes by chance.
    Random,
    /// The terminal.
    Terminal,
}

/// What a node is.
pub enum Kind {
    /// A file.
    File(RefCell<Data>),
    /// A folder.
    Folder(RefCell<Folder>),
    /// A symbolic link, and where it leads.
    Link(Vec<u8>),
    /// A device.
    Device(Device),
}

/// What a folder has.
pub struct Folder {
    /// What is in it, by names.
    pub entries: BTreeMap<Vec<u8>, Rc<Node>>,
    /// The one that it is in.
    pub parent: Weak<Node>,
}

/// A file, folder, link or device.
pub struct Node {
    /// A number that no other one has had.
    pub number: u64,
    /// Permissions.
    pub mode: Cell<u32>,
    /// When it was changed, in seconds since 1970.
    pub modified: Cell<u64>,
    /// How many names it has.
    pub links: Cell<u32>,
    /// What it is.
    pub kind: Kind,
    store: Rc<Store>,
}

/// What all nodes share.
pub struct Store {
    frames: Rc<Frames>,
    nodes: Cell<usize>,
    /// Names of nodes in folders.
    pub names: Cell<usize>,
    pages: Cell<usize>,
    next: Cell<u64>,
}

impl Store {
    /// No node yet, and files in these pages.
    pub fn new(frames: Rc<Frames>) -> Rc<Store> {
        Rc::new(Store {
            frames,
            nodes: Cell::new(0),
            names: Cell::new(0),
            pages: Cell::new(0),
            next: Cell::new(1),
        })
    }

    /// A new one. `ENOSPC`: there are as many as can be.
    pub fn node(self: &Rc<Store>, kind: Kind, mode: u32) -> Result<Rc<Node>> {
        if self.nodes.get() >= limits::NODES {
            return Err(Errno::ENOSPC);
        }
        self.nodes.set(self.nodes.get() + 1);
        let number = self.next.replace(self.next.get() + 1);
        let (mode, modified) = (Cell::new(mode & 0o7777), Cell::new(crate::clock::seconds()));
        Ok(Rc::new(Node {
            number,
            mode,
            modified,
            links: Cell::new(0),
            kind,
            store: Rc::clone(self),
        }))
    }

    /// A page for a file. At most half of all pages are files'.
    fn take(&self) -> Result<u64> {
        if self.pages.get() >= self.frames.count() / 2 {
            return Err(Errno::ENOSPC);
        }
        let frame = self.frames.take_zero().map_err(|_| Errno::ENOSPC)?;
        self.pages.set(self.pages.get() + 1);
        Ok(frame)
    }

    fn release(&self, frame: u64) {
        self.frames.release(frame);
        self.pages.set(self.pages.get() - 1);
    }

    /// Pages that files have, and could have.
    pub fn pages(&self) -> (usize, usize) {
        (self.pages.get(), self.frames.count() / 2)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.store.nodes.set(self.store.nodes.get() - 1);
        if let Kind::File(data) = &self.kind {
            data.borrow().pages.values().for_each(|frame| self.store.release(*frame));
        }
    }
}

/// What a file has: what was written, under that the archive's, and zeros.
#[derive(Default)]
pub struct Data {
    size: u64,
    archive: Option<Section>,
    /// Up to where the archive's content counts: what was cut off does not come back.
    archive_end: u64,
    pages: BTreeMap<u64, u64>,
}

impl Data {
    /// A file of the archive.
    pub fn of(section: Section) -> Data {
        let size = section.size() as u64;
        Data { size, archive: Some(section), archive_end: size, pages: BTreeMap::new() }
    }

    /// One page, or what of it the file has.
    fn read_page(&self, frames: &Frames, offset: u64, bytes: &mut [u8]) {
        if let Some(frame) = self.pages.get(&(offset / PAGE)) {
            return frames.read(*frame, offset % PAGE, bytes);
        }
        let there = self.archive_end.saturating_sub(offset).min(bytes.len() as u64) as usize;
        let (first, rest) = bytes.split_at_mut(there);
        if let Some(archive) = self.archive.filter(|_| !first.is_empty()) {
            archive.read(offset as usize, first);
        }
        rest.fill(0);
    }
}

/// The parts of a range that are in one page each: where each begins, and its bytes.
pub fn pages(at: u64, length: usize) -> impl Iterator<Item = (u64, core::ops::Range<usize>)> {
    let mut done = 0;
    core::iter::from_fn(move || {
        let here = at + done as u64;
        let count = ((PAGE - here % PAGE) as usize).min(length - done);
        let part = (here, done..done + count);
        done += count;
        (count > 0).then_some(part)
    })
}

impl Node {
    /// Bytes of a file or link.
    pub fn size(&self) -> u64 {
        match &self.kind {
            Kind::File(data) => data.borrow().size,
            Kind::Folder(_) => PAGE,
            Kind::Link(target) => target.len() as u64,
            Kind::Device(_) => 0,
        }
    }

    /// Reads of a file; how much there is.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> usize {
        let Kind::File(data) = &self.kind else { return 0 };
        let data = data.borrow();
        let count = data.size.saturating_sub(offset).min(bytes.len() as u64) as usize;
        for (at, range) in pages(offset, count) {
            data.read_page(&self.store.frames, at, &mut bytes[range]);
        }
        count
    }

    /// Writes to a file; how much there was room for.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let Kind::File(data) = &self.kind else { return Err(Errno::EINVAL) };
        let end = offset.checked_add(bytes.len() as u64).filter(|end| *end <= limits::FILE);
        end.ok_or(Errno::EFBIG)?;
        let mut data = data.borrow_mut();
        let mut done = 0;
        for (at, range) in pages(offset, bytes.len()) {
            let frame = match data.pages.get(&(at / PAGE)) {
                Some(frame) => *frame,
                None => match self.store.take() {
                    Ok(frame) => {
                        let mut before = [0; PAGE as usize];
                        data.read_page(&self.store.frames, at / PAGE * PAGE, &mut before);
                        self.store.frames.write(frame, 0, &before);
                        data.pages.insert(at / PAGE, frame);
                        frame
                    }
                    Err(error) if done == 0 => return Err(error),
                    Err(_) => break,
                },
            };
            self.store.frames.write(frame, at % PAGE, &bytes[range.clone()]);
            done = range.end;
        }
        data.size = data.size.max(offset + done as u64);
        self.modified.set(crate::clock::seconds());
        Ok(done)
    }

    /// Another size: what is cut off is gone, and what comes is zero.
    pub fn set_size(&self, size: u64) -> Result<()> {
        let Kind::File(data) = &self.kind else { return Err(Errno::EINVAL) };
        if size > limits::FILE {
            return Err(Errno::EFBIG);
        }
        let mut data = data.borrow_mut();
        let behind = data.pages.split_off(&size.div_ceil(PAGE));
        behind.values().for_each(|frame| self.store.release(*frame));
        if let Some(frame) = data.pages.get(&(size / PAGE)).filter(|_| size < data.size) {
            let rest = (PAGE - size % PAGE) as usize;
            self.store.frames.write(*frame, size % PAGE, &[0; PAGE as usize][..rest]);
        }
        data.archive_end = data.archive_end.min(size);
        data.size = size;
        self.modified.set(crate::clock::seconds());
        Ok(())
    }

    /// What a folder has.
    pub fn folder(&self) -> Result<&RefCell<Folder>> {
        match &self.kind {
            Kind::Folder(folder) => Ok(folder),
            _ => Err(Errno::ENOTDIR),
        }
    }
}
