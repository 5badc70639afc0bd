//! Processes: programs in address spaces of their own, which this instance runs (`docs/processes.md`). It has to say `processes` in the
//! system description.
//!
//! One thread [carries](carry) them: it goes on with a process by [`Carrier::run`], and comes back when that calls, faults or is interrupted.
//! What the processes reach is in [`Tables`], pages of the [`memory`] that they have.
#![allow(unsafe_code)]

mod tables;

use crate::arch::process as machine;
use crate::call::raw;
use crate::environment::startup;
use crate::section::Section;
use crate::{Error, privileged::done};
use cairn_abi::address::PROCESS_MEMORY;
use cairn_abi::arch::trap::fault;
use cairn_abi::privileged::*;
pub use cairn_abi::process::{Given, Pool};
use cairn_abi::process::{STATUS_FLOAT, STATUS_PENDING};
pub use cairn_abi::upcall::Fault;
use core::convert::Infallible;
use core::marker::PhantomData;
// Relaxed: that there is a carrier is all that is said; who interrupts runs on the same hart, and the portal behind its word reads that.
use core::sync::atomic::{AtomicBool, Ordering};
pub use tables::{Page, Rights, Space, Tables};

/// What a process has in its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Registers {
    /// Where it goes on. After a call that is the calling instruction still.
    pub counter: u64,
    pub(crate) general: [u64; 31],
}

impl Registers {
    /// A process that begins: zeros but for these.
    pub const fn new(counter: u64, stack: u64) -> Registers {
        let mut general = [0; 31];
        general[1] = stack;
        Registers { counter, general }
    }

    /// `x1` to `x31`; `x0` is zero. Panics for a higher number.
    #[track_caller]
    pub fn get(&self, number: usize) -> u64 {
        number.checked_sub(1).map_or(0, |place| self.general[place])
    }

    /// Sets one; of `x0` nothing comes. Panics for a higher number.
    #[track_caller]
    pub fn set(&mut self, number: usize, word: u64) {
        if let Some(place) = number.checked_sub(1) {
            self.general[place] = word;
        }
    }

    /// Behind the instruction by which it called.
    pub fn skip_call(&mut self) {
        self.counter = self.counter.wrapping_add(4);
    }
}

/// What a process has in the floating-point unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FloatingPoint {
    /// `f0` to `f31`.
    pub registers: [u64; 32],
    /// The control and status register.
    pub control: u64,
}

fn float_word(place: usize) -> i64 {
    STATUS_FLOAT + place as i64 * 8
}

/// Why a process was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It called, by whatever it has in its registers.
    Called,
    /// An exception, at the instruction where it stands.
    Fault(Fault),
    /// [`interrupt`], at an instruction that it has not executed.
    Interrupted,
}

/// What this instance has been given; `None`: the description gives it no processes.
pub fn given() -> Option<&'static Given> {
    Some(&startup().processes).filter(|given| given.pool.spaces != 0)
}

/// The memory of its processes.
pub fn memory() -> Option<Section> {
    let given = given()?;
    let address = (PROCESS_MEMORY + given.memory) as usize;
    // SAFETY: the host tool maps it here for good. No reference of this instance leads there.
    Some(unsafe { Section::new(address, given.memory_size as usize, true) })
}

/// The calling thread becomes the carrier, for good, and goes on with `body`, which never returns: there is nothing to return to any more.
/// What comes back is why not: `BadArgument`, if the thread has not begun in this instance or is in a call of another one; `Busy`, if there is
/// a carrier; `NoPortal`, if the description gives this instance no processes.
pub fn carry(body: impl FnOnce(Carrier) -> Infallible) -> Error {
    // Two would share what they have in the status page.
    static THERE_IS_ONE: AtomicBool = AtomicBool::new(false);
    if given().is_none() {
        return Error::NoPortal;
    }
    if THERE_IS_ONE.swap(true, Ordering::Relaxed) {
        return Error::Busy;
    }
    // The page is that of a life before.
    machine::status(STATUS_PENDING).store(0, Ordering::Relaxed);
    machine::forget();
    let [call, fault, interrupt] = machine::entries();
    let begun = done(raw(PORTAL_PROCESS_BEGIN, [call, fault, interrupt, 0, 0, 0, 0, 0]));
    let error =
        begun.map(|()| body(Carrier { space: u64::MAX, of_thread: PhantomData })).unwrap_err();
    THERE_IS_ONE.store(false, Ordering::Relaxed);
    error
}

/// The right to run processes, which the thread that carries them has alone.
pub struct Carrier {
    /// The space that is selected, or no number of one.
    space: u64,
    /// It stays with its thread.
    of_thread: PhantomData<*mut ()>,
}

impl Carrier {
    /// Goes on with a process in an address space until it calls, faults or is interrupted. `BadArgument`: there is no such space.
    #[inline(always)]
    pub fn run(&mut self, space: Space, registers: &mut Registers) -> Result<Exit, Error> {
        if self.space != space.0 {
            self.select(space)?;
        }
        // SAFETY: this is the carrier's thread.
        match unsafe { machine::run(registers) } {
            machine::CALLED => Ok(Exit::Called),
            left => Ok(Carrier::otherwise(left)),
        }
    }

    /// What the process that ran last has in the floating-point unit. It means something of one that was given registers. `NoPortal`: harts
    /// have no such unit.
    pub fn float(&mut self) -> Result<FloatingPoint, Error> {
        done(raw(PORTAL_PROCESS_FLOAT, [0; 8]))?;
        let word = |place: usize| machine::status(float_word(place)).load(Ordering::Relaxed);
        Ok(FloatingPoint { registers: core::array::from_fn(word), control: word(32) })
    }

    /// What the process that runs next has there. `None`: nothing, and the first instruction that wants it is a
    /// [`Fault::FloatingPoint`]. `NoPortal`: as above.
    pub fn set_float(&mut self, registers: Option<&FloatingPoint>) -> Result<(), Error> {
        let what = match registers {
            Some(FloatingPoint { registers, control }) => {
                for (place, word) in registers.iter().chain([control]).enumerate() {
                    machine::status(float_word(place)).store(*word, Ordering::Relaxed);
                }
                1
            }
            None => 2,
        };
        done(raw(PORTAL_PROCESS_FLOAT, [what, 0, 0, 0, 0, 0, 0, 0]))
    }

    /// The process that runs next has again what was given last, and taken away by `set_float(None)` since. `NoPortal`: as above.
    pub fn give_float_again(&mut self) -> Result<(), Error> {
        done(raw(PORTAL_PROCESS_FLOAT, [3, 0, 0, 0, 0, 0, 0, 0]))
    }

    #[inline(never)]
    fn select(&mut self, space: Space) -> Result<(), Error> {
        done(raw(PORTAL_PROCESS_SELECT, [space.0, 0, 0, 0, 0, 0, 0, 0]))?;
        self.space = space.0;
        Ok(())
    }

    /// What is rarer than a call.
    #[inline(never)]
    fn otherwise(left: u64) -> Exit {
        if left == machine::FAULTED {
            let (cause, value) = machine::exception();
            return Exit::Fault(fault(cause, value));
        }
        machine::status(STATUS_PENDING).store(0, Ordering::Relaxed);
        Exit::Interrupted
    }
}

/// What was written to the processes' memory as instructions is what they execute from now on. [`Tables`] does so itself where it maps
/// or copies to pages that may be executed.
pub fn fence_instructions() {
    machine::fence_instructions();
}

/// Interrupts the carrier, of another thread of this instance: the process that it runs is left, or the next one that it would go on with.
pub fn interrupt() -> Result<(), Error> {
    given().ok_or(Error::NoPortal)?;
    machine::status(STATUS_PENDING).store(1, Ordering::Relaxed);
    match done(raw(PORTAL_PROCESS_INTERRUPT, [0; 8])) {
        // It comes by itself.
        Err(Error::WouldBlock) => Ok(()),
        result => result,
    }
}
