//! One process.

use crate::memory::{Machine, Memory};
use crate::node::Node;
use crate::open::Descriptors;
use crate::signals::Signals;
use alloc::rc::Rc;
use alloc::vec::Vec;
use cairn::process::{FloatingPoint, Registers};
use cairn_personality::errno::{Errno, Result};

/// One process.
pub struct Process {
    /// Its number.
    pub number: u32,
    /// Whose child it is; 0: nobody's.
    pub parent: u32,
    /// Its group, and session.
    pub group: u32,
    /// The session of its group.
    pub session: u32,
    /// What it is called.
    pub name: Vec<u8>,
    /// The file of its program, by an absolute path.
    pub program: Vec<u8>,
    /// Its memory; none: it has ended, or has lent it to a child.
    pub memory: Option<Memory>,
    /// To whom the memory belongs: this one has it until it begins a program, or ends.
    pub lender: Option<u32>,
    /// What it goes on with.
    pub registers: Registers,
    /// What it has in the floating-point unit, if it has used that.
    pub float: Option<FloatingPoint>,
    /// What it has opened.
    pub files: Descriptors,
    /// Where paths begin.
    pub folder: Rc<Node>,
    /// Permissions that new files do not get.
    pub mask: u32,
    /// Whether it can go on.
    pub state: State,
    /// When what it waits for is over, in ticks: of the call that it makes again and again.
    pub until: Option<u64>,
    /// When it gets an alarm, in ticks.
    pub alarm: Option<u64>,
    /// What it does with signals.
    pub signals: Signals,
    /// It has stopped, or goes on, and its parent was not told.
    pub news: Option<u32>,
    /// Ticks for which it has computed.
    pub computed: u64,
}

/// Whether a process can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It can.
    Ready,
    /// It makes its call again when something has changed since this number of changes.
    Waits(u64),
    /// A signal has stopped it.
    Stopped,
    /// It has ended, with a status as its parent is told it.
    Ended(u32),
}

impl Process {
    /// Whether it lives.
    pub fn lives(&self) -> bool {
        !matches!(self.state, State::Ended(_))
    }

    /// Copies from its memory.
    pub fn read(&mut self, machine: &mut Machine, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.memory.as_mut().ok_or(Errno::EFAULT)?.read(machine, address, bytes)
    }

    /// Copies to its memory.
    pub fn write(&mut self, machine: &mut Machine, address: u64, bytes: &[u8]) -> Result<()> {
        self.memory.as_mut().ok_or(Errno::EFAULT)?.write(machine, address, bytes)
    }
}
