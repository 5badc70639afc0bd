//! Scripts.

use cairn::Error;

/// Runs scripts, each call a new one.
#[cairn::interface]
pub trait Script {
    /// Runs `text` and fills the buffer with what it printed, or with why it failed, as much as fits. The value is how
    /// many bytes these are, and whether the script ended without an error. [`Error::Cancelled`]: it was given up, since this thread
    /// was called home, perhaps because one that was waits for it; what it did not end has changed nothing, and it can be run again.
    fn run(&self, text: &str, output: &mut [u8]) -> Result<(usize, bool), Error>;
}
