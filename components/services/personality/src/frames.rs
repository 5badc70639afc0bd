//! Pages of the processes' memory: which are used, and by how many spaces or files.

use alloc::vec;
use alloc::vec::Vec;
use cairn::section::Section;
use cairn_personality::areas::PAGE;
use cairn_personality::errno::{Errno, Result};
use core::cell::{Cell, RefCell};

/// All of them.
pub struct Frames {
    memory: Section,
    /// How many have each; 0: it is free.
    users: RefCell<Vec<u16>>,
    /// Where the search for a free one begins.
    next: Cell<usize>,
    free: Cell<usize>,
}

impl Frames {
    /// The pages of a section, all free.
    pub fn new(memory: Section) -> Frames {
        let count = memory.size() / PAGE as usize;
        let users = RefCell::new(vec![0; count]);
        Frames { memory, users, next: Cell::new(0), free: Cell::new(count) }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.users.borrow().len()
    }

    /// How many are free.
    pub fn free(&self) -> usize {
        self.free.get()
    }

    /// One that nobody has, with whatever is in it.
    pub fn take(&self) -> Result<u64> {
        let mut users = self.users.borrow_mut();
        let next = self.next.get();
        let found = (next..users.len()).chain(0..next).find(|frame| users[*frame] == 0);
        let frame = found.filter(|_| self.free.get() > 0).ok_or(Errno::ENOMEM)?;
        users[frame] = 1;
        self.next.set(frame + 1);
        self.free.set(self.free.get() - 1);
        Ok(frame as u64)
    }

    /// The same, with zeros.
    pub fn take_zero(&self) -> Result<u64> {
        let frame = self.take()?;
        self.memory.zero((frame * PAGE) as usize, PAGE as usize);
        Ok(frame)
    }

    /// One more has it.
    pub fn share(&self, frame: u64) -> Result<()> {
        let users = &mut self.users.borrow_mut()[frame as usize];
        *users = users.checked_add(1).ok_or(Errno::ENOMEM)?;
        Ok(())
    }

    /// Whether one alone has it.
    pub fn is_alone(&self, frame: u64) -> bool {
        self.users.borrow()[frame as usize] == 1
    }

    /// One less has it.
    pub fn release(&self, frame: u64) {
        let users = &mut self.users.borrow_mut()[frame as usize];
        *users -= 1;
        if *users == 0 {
            self.free.set(self.free.get() + 1);
        }
    }

    /// A page with what another one has.
    pub fn copy(&self, from: u64) -> Result<u64> {
        let frame = self.take()?;
        let [to, from] = [frame, from].map(|frame| (frame * PAGE) as usize);
        self.memory.copy_from(to, &self.memory, from, PAGE as usize);
        Ok(frame)
    }

    /// Copies out of a page. The offset and the bytes stay inside of it.
    pub fn read(&self, frame: u64, offset: u64, bytes: &mut [u8]) {
        self.memory.read((frame * PAGE + offset) as usize, bytes);
    }

    /// Copies into a page.
    pub fn write(&self, frame: u64, offset: u64, bytes: &[u8]) {
        self.memory.write((frame * PAGE + offset) as usize, bytes);
    }
}
