//! Scripts.

use cairn::Error;

/// Runs scripts, each call a new one.
#[cairn::interface]
pub trait Script {
    /// Runs `text` and fills the buffer with what it printed, or with why it failed, as much as fits. The value is how
    /// many bytes these are, and whether the script ended without an error.
    fn run(&self, text: &str, output: &mut [u8]) -> Result<(usize, bool), Error>;
}
