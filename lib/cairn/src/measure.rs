//! Counting the cycles and the executed instructions of one crossing.
//!
//! The counters are read by the last instructions before the `ecall` and by the first ones after the
//! return, so nothing of the caller's loop, of its arguments or of its stub is in between. The cycles
//! are the inner reads: what reading instructions costs is not in them.

use crate::arch::measure as machine;
pub use crate::arch::measure::page_fault;
pub use crate::call::Portals;
pub use crate::cost::Cost;
use cairn_abi::descriptor::{EntryPoint, Reply};
// Relaxed: the call that is measured orders the two threads.
use core::ops::Sub;
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Both counters at one moment (unprivileged manual, section 10.1). Only differences have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Stamp {
    /// Cycles of the hart; some harts do not count while they wait for an interrupt.
    pub cycles: u64,
    /// Executed instructions; some harts do not count an `ecall`.
    pub instructions: u64,
}

/// Where a stamp is stored for another thread: cycles, instructions.
pub type Mark = [AtomicI64; 2];

/// A mark that is not read.
pub const fn unused_mark() -> Mark {
    [const { AtomicI64::new(0) }; 2]
}

impl Stamp {
    /// Before what is measured.
    #[inline(always)]
    pub fn begin() -> Stamp {
        machine::begin()
    }

    /// Behind what is measured.
    #[inline(always)]
    pub fn end() -> Stamp {
        machine::end()
    }

    /// The stamp that was stored last.
    pub fn load(mark: &Mark) -> Stamp {
        let [cycles, instructions] = mark.each_ref().map(|word| word.load(Relaxed) as u64);
        Stamp { cycles, instructions }
    }

    /// Stores it for another thread.
    pub fn store(self, mark: &Mark) {
        mark[0].store(self.cycles as i64, Relaxed);
        mark[1].store(self.instructions as i64, Relaxed);
    }
}

impl Sub for Stamp {
    type Output = Cost;
    fn sub(self, earlier: Stamp) -> Cost {
        Cost {
            cycles: self.cycles.wrapping_sub(earlier.cycles) as i64,
            instructions: self.instructions.wrapping_sub(earlier.instructions) as i64,
        }
    }
}

/// A measured call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Sample {
    /// Before the call.
    pub begin: Stamp,
    /// After the return.
    pub end: Stamp,
    /// What the call answered. Of a failed call the other fields may be garbage.
    pub reply: Reply,
}

/// What is called: the index of a portal, or the address of a function.
pub(crate) type Sequence =
    extern "C" fn(target: u64, words: &[u64; 8], mark: &Mark, sample: &mut Sample);

fn run(sequence: Sequence, target: u64, words: &[u64; 8], mark: &Mark) -> Sample {
    let never = Stamp { cycles: 0, instructions: 0 };
    let mut sample = Sample { begin: never, end: never, reply: Reply { status: 0, value: 0 } };
    sequence(target, words, mark, &mut sample);
    sample
}

/// Calls the portal at `index` with the registers `words`, `a0` first. As with a proxy for the wrong
/// interface, the registers must suit the portal's specification: buffers that they name are
/// read and written.
#[inline(never)]
pub fn portal(index: u32, words: &[u64; 8], mark: &Mark) -> Sample {
    run(machine::through_portal, index.into(), words, mark)
}

/// Calls a method of an import by its stub, which is measured too, as is the `jalr` that calls it. Panics if nothing else calls
/// imports so.
#[inline(never)]
pub fn stub(portals: Portals, method: u32, words: &[u64; 8], mark: &Mark) -> Sample {
    let stub = portals.stub(method);
    assert!(stub != 0, "an import's portals have stubs");
    run(machine::through_function, stub, words, mark)
}

/// Calls a server's entry point as an ordinary function: what the server's own instructions cost.
#[inline(never)]
pub fn function(entry: EntryPoint, words: &[u64; 8], mark: &Mark) -> Sample {
    run(machine::through_function, entry as usize as u64, words, mark)
}

/// What measuring itself puts between `begin` and `end`, this time: the sequence without a call.
pub fn overhead() -> Cost {
    let sample = run(machine::through_nothing, 0, &[0; 8], &unused_mark());
    sample.end - sample.begin
}

/// The same between [`Stamp::begin`] and [`Stamp::end`].
pub fn overhead_inline() -> Cost {
    let begin = Stamp::begin();
    let end = Stamp::end();
    end - begin
}
