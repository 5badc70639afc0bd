//! Why an instance dies.

use cairn_abi::upcall::Fault;

/// Why an instance dies.
#[derive(Clone, Copy)]
pub enum Reason {
    /// It faulted in this thread; `frame` is the header of its top frame.
    Fault { thread: u64, frame: u64, fault: Fault, value: u64 },
    /// A call of this thread executed for longer than its export declares, in ticks.
    RanAway { thread: u64, longest: u64 },
    /// It kept a thread that was called home.
    Kept { thread: u64 },
    /// Its main function returned, and its policy is to start it again.
    Returned,
    /// Nobody needed it for as long as its description says.
    Idle,
    /// Its next life has the content of its successor.
    Replaced,
    /// It was unloaded, or who had it loaded ends.
    Retires,
    /// A component asked for it, and perhaps for a new start.
    Asked {
        /// It shall start again.
        restart: bool,
    },
}

impl Reason {
    /// The thread that ended it.
    pub fn thread(self) -> Option<u64> {
        match self {
            Reason::Fault { thread, .. }
            | Reason::RanAway { thread, .. }
            | Reason::Kept { thread } => Some(thread),
            Reason::Returned
            | Reason::Idle
            | Reason::Replaced
            | Reason::Retires
            | Reason::Asked { .. } => None,
        }
    }
}
