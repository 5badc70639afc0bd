//! Portal code in the image: generates and places it.

use crate::memory::Memory;
use cairn_abi::address::{PAGE_SIZE, PORTAL_CODE};
use cairn_portal::{GenerateError, Generated};

/// The area of portal code.
pub struct PortalCode {
    physical: u64,
    size: u64,
    used: u64,
    /// Physical addresses of the fences by which calls enter a component.
    pub fences: Vec<u64>,
    /// A portal did not fit.
    pub is_short: bool,
}

impl PortalCode {
    /// An area of `pages` pages of memory, from this one on.
    pub fn at(physical: u64, pages: u64) -> PortalCode {
        PortalCode {
            physical,
            size: pages * PAGE_SIZE,
            used: 0,
            fences: Vec::new(),
            is_short: false,
        }
    }

    /// Physical address and bytes.
    pub fn extent(&self) -> (u64, u64) {
        (self.physical, self.size)
    }

    /// Pages that portals take so far.
    pub fn pages(&self) -> u64 {
        self.used.div_ceil(PAGE_SIZE)
    }

    /// First kernel address that is not used.
    pub fn next(&self) -> u64 {
        PORTAL_CODE + self.used
    }

    /// One past the last kernel address.
    pub fn end(&self) -> u64 {
        PORTAL_CODE + self.size
    }

    /// Generates one portal at the next free address.
    pub fn add(
        &mut self,
        memory: &mut Memory,
        generate: impl FnOnce(&mut [u32], u64) -> Result<Generated, GenerateError>,
    ) -> Result<Generated, String> {
        let mut words = vec![0u32; 1024];
        let made = generate(&mut words, PORTAL_CODE + self.used)
            .map_err(|error| format!("portal code: {error:?}"))?;
        if self.used + made.size as u64 > self.size {
            self.is_short = true;
            // [`layout`](crate::layout()) enlarges the area, or says it with its place.
            return Err("out of portal code".to_owned());
        }
        let bytes: Vec<u8> =
            words.iter().flat_map(|word| word.to_le_bytes()).take(made.size).collect();
        memory.at(self.physical + self.used, made.size).copy_from_slice(&bytes);
        if made.fence != 0 {
            self.fences.push(self.physical + self.used + made.fence as u64);
        }
        self.used += made.size as u64;
        Ok(made)
    }
}
