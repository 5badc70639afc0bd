//! What a successor of this content goes on with, in place (`docs/in-place.md`): all that cannot be found out again. Nothing in it names anything of this content.
//! What is looked at anew as if for the first time is each module's own.

use crate::{blame, printer, ready, runaway};
use cairn::in_place::State;
use cairn_interfaces::StatePlace;
use cairn_supervisor::instances::Instances;
use cairn_supervisor::standing::Standing;
use core::sync::atomic::{AtomicBool, AtomicU64};

/// All of it; whose each is says the module that has it.
pub struct Lasting {
    pub begun: AtomicBool,
    pub instances: Instances,
    pub standing: Standing,
    pub called_home: blame::Lasting,
    pub idle_look: AtomicU64,
    pub starting: ready::Lasting,
    pub accused: runaway::Lasting,
    pub next_log: AtomicU64,
    pub image_said: AtomicBool,
    pub printed: printer::Lasting,
}

/// Raise it with each change of what is in there.
const VERSION: u64 = 1;

/// Zeros only, of which no image has a copy: what is something else to begin with the worker writes first.
static LASTING: State<Lasting> = State::new(Lasting {
    begun: AtomicBool::new(false),
    instances: Instances::new(),
    standing: Standing::new(),
    called_home: blame::Lasting::none(),
    idle_look: AtomicU64::new(0),
    starting: ready::Lasting::none(),
    accused: runaway::Lasting::none(),
    next_log: AtomicU64::new(0),
    image_said: AtomicBool::new(false),
    printed: printer::Lasting::none(),
});

/// The same, for statics.
pub const fn lasting() -> &'static Lasting {
    LASTING.get()
}

/// Where it lies.
pub fn place() -> StatePlace {
    StatePlace::of(&LASTING, VERSION)
}
