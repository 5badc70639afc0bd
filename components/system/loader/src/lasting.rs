//! What the loader's next content goes on with, in place (`docs/in-place.md`). Nothing in it names anything of this content.

use super::asked;
use super::failure::Failures;
use cairn::InstanceId;
use cairn::in_place::State;
use cairn::sync::Mutex;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_interfaces::StatePlace;

/// All of it.
pub struct Lasting {
    pub loads: Mutex<Loads>,
    pub exchange: asked::Lasting,
}

/// What one load at a time has.
pub struct Loads {
    pub failures: Failures,
    /// What a life before this one had made and not begun is gone.
    pub is_clear: bool,
    /// Of each instance that was prepared and has not begun whoever prepared it; 0 of others.
    pub prepared: Prepared,
}

pub type Prepared = [InstanceId; INSTANCES_MAXIMUM];

/// Raise it with each change of what is in there.
const VERSION: u64 = 2;

pub static LASTING: State<Lasting> = State::new(Lasting {
    loads: Mutex::new(Loads {
        failures: Failures::NONE,
        is_clear: false,
        prepared: [InstanceId(0); INSTANCES_MAXIMUM],
    }),
    exchange: asked::Lasting::NONE,
});

/// Where it lies.
pub fn place() -> StatePlace {
    StatePlace::of(&LASTING, VERSION)
}
