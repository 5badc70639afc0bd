//! A server that runs on its clients' stacks, and dies when asked.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_test_trust_contract::{Friend, busy};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "friend",
    exports: { friend: Friend = SERVER },
}

fn fill(bytes: &WriteWindow<'_>, byte: u8) {
    for offset in 0..bytes.len() {
        let _ = bytes.write(offset, &[byte]);
    }
}

impl Friend for Server {
    fn stack(&self) -> Result<u64, Error> {
        let word = 0u64;
        Ok(&raw const word as u64)
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut sum = 0;
        bytes.pieces::<64>(|piece| {
            sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            Ok(())
        })?;
        Ok(sum)
    }

    fn fill(&self, bytes: WriteWindow<'_>, byte: u8) -> Result<(), Error> {
        fill(&bytes, byte);
        Ok(())
    }

    fn mixed(
        &self,
        first: u64,
        second: u64,
        third: u64,
        fourth: u64,
        fifth: u64,
        sixth: u64,
        seventh: u64,
    ) -> Result<(u64, u64, u64, u64), Error> {
        let sum = first.wrapping_add(second).wrapping_add(third);
        Ok((seventh, sixth ^ fifth, fourth, busy(first, |_| {}) ^ sum))
    }

    fn mixed_not(&self, error: bool, secret: u64) -> Result<(u64, u64, u64, u64), Error> {
        if error {
            return Err(Error::Busy);
        }
        // The message is in all argument registers when this faults.
        panic!("{secret:064x}");
    }

    fn die(&self, seed: u64) -> Result<u64, Error> {
        Ok(busy(seed, |seed| panic!("asked to, {seed}")))
    }

    fn fill_and_die(&self, bytes: WriteWindow<'_>, byte: u8) -> Result<(), Error> {
        fill(&bytes, byte);
        panic!("asked to, with a window open");
    }
}
