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

/// What a recorder does with the calls that come through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub enum Recording {
    /// Passes them on, and records them: from the beginning, once.
    Record = 1,
    /// Passes them on.
    Stop = 2,
    /// Answers them as they were answered when they were recorded, without passing them on: each recorded call once, in order.
    Replay = 3,
}

/// An interposer that records calls, and answers others from what it recorded (`docs/interposition.md`). Before anything else it passes on what
/// comes.
#[cairn::interface]
pub trait Recorder {
    /// Does this from now on, and has registered where calls enter it. `Busy`: it does something that this cannot follow; `NotReady`: a
    /// recording that is being given to it is not complete.
    fn act(&self, what: Recording) -> Result<(), Error>;
    /// The next line of the recording from number `from` on; `NotFound` behind the last; the value is the length of the text, and the number of that
    /// line. `Busy`: it is recording.
    fn line(&self, from: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
    /// Takes the next line of a recording: not one is left out. `Busy`: it has begun to record or to replay.
    fn add(&self, line: &str) -> Result<(), RecordingError>;
    /// Calls that were recorded, that were not, that were answered by the recording, and that were not found there.
    fn counts(&self) -> Result<(u64, u64, u64, u64), Error>;
    /// The next call that was not found in the recording, or is not whole there, from number `from` on, as `Tool::kept` tells it.
    fn missed(&self, from: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
}

/// Why a recorder does not take a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::MethodError)]
pub enum RecordingError {
    /// It is none of those that may stand here.
    Unexpected,
    /// No such method, number, or bytes.
    Malformed,
    /// A buffer has more bytes than it is long, or not all of them came.
    Length,
    /// Not as many calls came as the end says.
    Count,
    /// There is no room for more.
    Full,
    /// The call failed.
    Portal(Error),
}
