//! Interposers that come with the system.

use cairn::Error;

/// What one does with each call that comes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub enum Action {
    /// Keeps what was called with what, what came back, and how long it took.
    Keep = 1,
    /// Counts for each method the calls, the errors, and the time.
    Count = 2,
    /// Lets it wait for so many microseconds.
    Delay = 3,
    /// Lets it wait until so many a second are not exceeded.
    Limit = 4,
    /// Answers this status in place of the callee, every so many calls of the method.
    Inject = 5,
    /// Passes on calls of exports that were allowed by name, and refuses all others with [`Error::NotAllowed`].
    Guard = 6,
}

/// An interposer of the system's (`docs/interposition.md`).
#[cairn::interface]
pub trait Tool {
    /// Does this from now on, in place of what it did, and has registered where calls enter it. `number` is what the action says, `every`
    /// and `method` are of [`Action::Inject`] alone; no method: all. `BadArgument`: no such number, or too long a name.
    fn act(&self, action: Action, number: u64, every: u64, method: &str) -> Result<(), Error>;
    /// Lets calls of one more export through, `SERVER.EXPORT`; of one more server, `SERVER`. `Exhausted`: there are too many.
    fn allow(&self, name: &str) -> Result<(), Error>;
    /// The next call that was kept, or refused, from number `from` on, as text: when it came and how long it took, in nanoseconds, its thread,
    /// the client, the export, and the method with arguments and result. `NotFound` behind the last; the value is the length of the text, and the
    /// number of that call: those that are missing were overwritten.
    fn kept(&self, from: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
    /// The next method of which calls were counted, from number `from` on, as text: export, method, calls, errors, nanoseconds of all and of the
    /// longest one. `NotFound` behind the last; the value is the length of the text, and the number of that method.
    fn counted(&self, from: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
}
