//! Standing between others: a component through which their calls go.
//!
//! The portal manager lets a client's portals lead to an interposer first (`docs/interposition.md`). All of them lead to its one
//! entry point, with the registers of the call as they are, but that the first, which the server finds its control word in,
//! says by which of the interposer's own portals the call goes on, and by which of its own the client called. So forwarding takes no knowledge of what is called:
//!
//! ```
//! use cairn::interpose::{Answer, Interposer, Passing};
//!
//! struct Nothing;
//! impl Interposer for Nothing {
//!     fn intercept(call: &Passing) -> Answer {
//!         call.forward()
//!     }
//! }
//! ```

#[cfg(target_os = "none")]
use crate::arch::interpose as machine;
#[cfg(not(target_os = "none"))]
use crate::call::host as machine;

use crate::call::{REGISTERS, REPLY_WORDS};
use crate::window::{ReadWindow, WriteWindow};
use crate::{Error, environment};
use cairn_abi::address::REGION_SIZE;
use cairn_abi::domain::{CLIENT_INDEX_SHIFT, PORTAL_FIRST_IMPORT};

/// A call on its way from a client to its server.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    registers: [u64; REGISTERS],
}

/// What a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 0, a positive error of the method's own, or a negative one of [`Error`].
    pub status: i64,
    /// The value. Behind the words that the method's value has the client finds zeros, whatever is here.
    pub words: [u64; REPLY_WORDS],
}

/// What stands between others. There is one of it, so it has no value: what it keeps is in statics.
pub trait Interposer {
    /// A client's thread comes by, and does whatever this does. It is answered what this answers.
    fn intercept(call: &Passing) -> Answer;
}

impl Answer {
    /// An error in place of an answer.
    pub const fn error(error: Error) -> Answer {
        Answer { status: error.status(), words: [0; REPLY_WORDS] }
    }
}

impl Passing {
    /// Where it goes on: an index of the interposer's portal table, which no other of the client's portals has. Whose it is, and what
    /// it is called, `PortalListing::describe` says.
    pub fn index(&self) -> u64 {
        self.registers[0] & ((1 << CLIENT_INDEX_SHIFT) - 1)
    }

    /// Whether it is no call but a page that was missed: the arguments 3 to 6 are then the words of a `PageFault`, and what is passed on
    /// is what came, whatever they are changed to.
    pub fn is_fault(&self) -> bool {
        self.portal() == 0
    }

    /// The index by which the client called, of the client's own table.
    pub fn portal(&self) -> usize {
        (self.registers[0] >> CLIENT_INDEX_SHIFT) as usize
    }

    /// The same call of another method of what it is a call of, by the numbers of both.
    pub fn with_method(mut self, from: usize, to: usize) -> Passing {
        let index = self.index().wrapping_add(to as u64).wrapping_sub(from as u64);
        self.registers[0] = index & ((1 << CLIENT_INDEX_SHIFT) - 1);
        self
    }

    /// An argument register, from 1 on. The client's pointers are translated: what they lead to is there until the call is answered.
    pub fn argument(&self, register: usize) -> u64 {
        self.registers.get(register).copied().unwrap_or(0)
    }

    /// Memory that came with the call: a register that has its address, the next one its length. Of a method without letter `r` or `w`
    /// there the words are the client's, and whoever reads by them may fault; so ask `PortalListing::describe` first. It is
    /// empty if it is not in this component's region.
    pub fn memory(&self, register: usize) -> ReadWindow<'_> {
        self.memory_mut(register).as_read()
    }

    /// The same of a method with letter `w` there: what is written there is the client's when the call is answered.
    pub fn memory_mut(&self, register: usize) -> WriteWindow<'_> {
        let (address, length) = (self.argument(register), self.argument(register + 1));
        let region = environment::region();
        let is_own = address >= region
            && address.checked_add(length).is_some_and(|end| end <= region + REGION_SIZE);
        WriteWindow::open(address, if is_own { length } else { 0 })
    }

    /// The same call with another word in an argument register. Of memory only what came with this call is passed on, and copies
    /// of at most 64 bytes.
    pub fn with_argument(mut self, register: usize, word: u64) -> Passing {
        if let Some(place) = self.registers[1..].get_mut(register.wrapping_sub(1)) {
            *place = word;
        }
        self
    }

    /// Calls whom the client called, on its behalf: that one finds the client as its caller.
    pub fn forward(&self) -> Answer {
        // Below are the portals of this component's domain itself.
        match self.index() {
            index if index < PORTAL_FIRST_IMPORT as u64 => Answer::error(Error::NoPortal),
            index => {
                let (status, words) = machine::pass_on(index, &self.registers);
                Answer { status, words }
            }
        }
    }
}

/// The address of an interposer's entry point, as it is registered at the portal manager.
pub fn entrance<I: Interposer>() -> u64 {
    machine::entrance::<I> as *const () as u64
}

/// The entry point's other half: the registers of the call, and then of the answer.
pub(crate) extern "C" fn serve<I: Interposer>(registers: &mut [u64; REGISTERS]) {
    let answer = I::intercept(&Passing { registers: *registers });
    registers[0] = answer.status as u64;
    registers[1..=REPLY_WORDS].copy_from_slice(&answer.words);
}
