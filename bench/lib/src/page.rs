//! A page for windows.

/// Bytes in a page.
pub const PAGE: u64 = 4096;

/// A page that begins at a page boundary, as windows have to.
#[repr(C, align(4096))]
pub struct Page([u8; PAGE as usize]);

impl Page {
    /// Zeros.
    pub const ZERO: Page = Page([0; PAGE as usize]);

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Its address, for the registers of a call that may write it.
    pub fn address(&mut self) -> u64 {
        self.0.as_mut_ptr().expose_provenance() as u64
    }
}
