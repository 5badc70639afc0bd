//! Random bytes that are always the same, a few at a time.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::WriteWindow;
use cairn_driver_interfaces::Random;

cairn::component! {
    name: "linux-disk-chance",
    exports: { random: Random = CHANCE },
}

struct Chance;
static CHANCE: Chance = Chance;

impl Random for Chance {
    fn fill(&self, buffer: WriteWindow<'_>) -> Result<usize, Error> {
        let size = buffer.len().min(7);
        buffer.write(0, &[0x5a; 7][..size])?;
        Ok(size)
    }
}
