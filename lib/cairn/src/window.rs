//! Memory of the caller that a server can reach for the duration of one call.
//!
//! Another thread of the caller may write that memory at any time, so it is never a `&[u8]` here:
//! a window is copied from and copied to. What was copied no longer changes; check it then, not
//! before.

mod memory;

pub(crate) use memory::{copy_between, copy_in, copy_out};

use crate::Error;
use crate::section::Section;
use core::marker::PhantomData;

/// A `&[u8]` or `&str` parameter on the server's side.
#[derive(Clone, Copy, Debug)]
pub struct ReadWindow<'call> {
    address: usize,
    length: usize,
    call: PhantomData<&'call [u8]>,
}

/// A `&mut [u8]` parameter on the server's side.
#[derive(Clone, Copy, Debug)]
pub struct WriteWindow<'call> {
    read: ReadWindow<'call>,
}

impl<'call> ReadWindow<'call> {
    /// The window that a portal opened. For skeletons only: the portal with the letter `r` made
    /// these two words, and the memory is there until the call returns.
    #[inline(always)]
    pub(crate) fn open(address: u64, length: u64) -> Self {
        ReadWindow { address: address as usize, length: length as usize, call: PhantomData }
    }

    /// Bytes in the window.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies from `offset` on into `buffer`, as much as both have, and returns how much that was. A component in the kernel
    /// domain finds [`Error::BadPointer`] if the caller may not read it: the call answers that then, whatever the component
    /// does.
    pub fn read(&self, offset: usize, buffer: &mut [u8]) -> Result<usize, Error> {
        match self.length.saturating_sub(offset).min(buffer.len()) {
            0 => Ok(0),
            count => memory::copy_in(self.address + offset, &mut buffer[..count]),
        }
    }

    /// Copies `count` bytes from `offset` on to a section, from its byte `to` on, as [`ReadWindow::read`] does;
    /// [`Error::TooLarge`] if one of them does not have as many.
    pub fn read_into(
        &self,
        offset: usize,
        section: &Section,
        to: usize,
        count: usize,
    ) -> Result<(), Error> {
        if count > self.length.saturating_sub(offset) {
            return Err(Error::TooLarge);
        }
        memory::copy_to_section(section, to, self.address + offset, count)
    }

    /// Copies the whole window into the beginning of `buffer`; [`Error::TooLarge`] if it does not
    /// fit, [`Error::BadPointer`] if the caller may not read it.
    pub fn copy<'buffer>(&self, buffer: &'buffer mut [u8]) -> Result<&'buffer mut [u8], Error> {
        let part = buffer.get_mut(..self.length).ok_or(Error::TooLarge)?;
        self.read(0, part)?;
        Ok(part)
    }

    /// As [`ReadWindow::copy`], for a `&str` parameter; [`Error::Malformed`] if it is not UTF-8.
    pub fn text<'buffer>(&self, buffer: &'buffer mut [u8]) -> Result<&'buffer str, Error> {
        core::str::from_utf8(self.copy(buffer)?).map_err(|_| Error::Malformed)
    }

    /// Hands the window over in pieces of at most `N` bytes, in order.
    pub fn pieces<const N: usize>(
        &self,
        mut piece: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut buffer = [0; N];
        let mut offset = 0;
        while offset < self.length {
            let count = self.read(offset, &mut buffer)?;
            piece(&buffer[..count])?;
            offset += count;
        }
        Ok(())
    }
}

impl<'call> WriteWindow<'call> {
    /// As [`ReadWindow::open`], for the letter `w`.
    #[inline(always)]
    pub(crate) fn open(address: u64, length: u64) -> Self {
        WriteWindow { read: ReadWindow::open(address, length) }
    }

    /// Bytes in the window.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.read.len()
    }

    /// Is it empty?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.read.is_empty()
    }

    /// Copies `bytes` to `offset`, as much as fits, and returns how much that was; nothing as by [`ReadWindow::read`].
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<usize, Error> {
        match self.len().saturating_sub(offset).min(bytes.len()) {
            0 => Ok(0),
            count => memory::copy_out(self.read.address + offset, &bytes[..count]),
        }
    }

    /// Copies `count` bytes of a section, from its byte `from` on, to `offset`, as [`WriteWindow::write`] does;
    /// [`Error::TooLarge`] if one of them does not have as many.
    pub fn write_from(
        &self,
        offset: usize,
        section: &Section,
        from: usize,
        count: usize,
    ) -> Result<(), Error> {
        if count > self.len().saturating_sub(offset) {
            return Err(Error::TooLarge);
        }
        memory::copy_from_section(self.read.address + offset, section, from, count)
    }

    /// The same memory, to read what the caller left there.
    #[inline(always)]
    pub fn as_read(&self) -> ReadWindow<'call> {
        self.read
    }
}
