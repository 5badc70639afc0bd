//! What the supervisor does when a component ends.

use core::fmt;

/// A restart policy, as `Supervisor::describe` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The system does not go on without it.
    Essential,
    /// It stays dead.
    Never,
    /// It starts again, whatever ended it.
    Always,
    /// It starts again when it faulted.
    OnFault,
}

impl Policy {
    /// From its name.
    pub fn read(name: &str) -> Option<Policy> {
        match name {
            "essential" => Some(Policy::Essential),
            "never" => Some(Policy::Never),
            "always" => Some(Policy::Always),
            "on-fault" => Some(Policy::OnFault),
            _ => None,
        }
    }

    /// Whether a component that is killed has to be started by hand. An essential one is not killed.
    pub fn stays_dead_when_killed(self) -> bool {
        matches!(self, Policy::Never | Policy::OnFault)
    }

    /// Whether a component that faults has to be started by hand.
    pub fn stays_dead_after_fault(self) -> bool {
        self == Policy::Never
    }
}

/// A number of times.
pub struct Times(pub u64);

impl fmt::Display for Times {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} time{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::{Policy, Times};
    use std::format;

    #[test]
    fn who_stays_dead() {
        for (name, killed, faulted) in [
            ("essential", false, false),
            ("never", true, true),
            ("always", false, false),
            ("on-fault", true, false),
        ] {
            let policy = Policy::read(name).unwrap();
            assert_eq!(policy.stays_dead_when_killed(), killed, "{name}");
            assert_eq!(policy.stays_dead_after_fault(), faulted, "{name}");
        }
        assert_eq!(Policy::read("sometimes"), None);
    }

    #[test]
    fn times() {
        assert_eq!(format!("{} {} {}", Times(0), Times(1), Times(2)), "0 times 1 time 2 times");
    }
}
