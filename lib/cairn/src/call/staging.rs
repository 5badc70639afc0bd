//! Buffers that a callee may see as whole pages.
//!
//! The portal copies up to 64 bytes and maps more. Only whole pages can be mapped, so a callee would see what lies beside
//! the buffer. So a buffer that does not begin and end
//! at page boundaries is carried in pages of its own, the rest of which is zero.
#![allow(unsafe_code)]

use crate::Error;
use cairn_abi::address::{COPY_MAXIMUM, PAGE_SIZE, WINDOW_MAXIMUM};
use core::cell::UnsafeCell;
// Relaxed: a word read without order, or by an exchange that failed, is used for the next exchange alone.
use core::sync::atomic::{AtomicU32, Ordering};

const PAGE: usize = PAGE_SIZE as usize;
/// Pages for all calls that a component makes at a time: one buffer of the largest size.
const PAGES: usize = WINDOW_MAXIMUM as usize / PAGE;
/// Most buffers of a call: each takes two of the seven registers.
const BUFFERS: usize = 3;

#[repr(C, align(4096))]
struct Pool {
    pages: UnsafeCell<[u8; PAGES * PAGE]>,
    /// Bit `n`: page `n` is taken.
    taken: AtomicU32,
}

// SAFETY: a page is used only by the call that set its bit, until that call clears it.
unsafe impl Sync for Pool {}

static POOL: Pool = Pool { pages: UnsafeCell::new([0; PAGES * PAGE]), taken: AtomicU32::new(0) };

/// Whether a portal takes a buffer at this address without staging.
#[inline(always)]
pub(super) fn is_plain(address: usize, length: usize) -> bool {
    length <= COPY_MAXIMUM as usize || (address | length).is_multiple_of(PAGE)
}

/// The staged buffers of one call.
pub struct Staging<'buffers> {
    taken: u32,
    used: usize,
    /// Of writable buffers: the first page, and where the bytes go after the call.
    writable: [Option<(usize, &'buffers mut [u8])>; BUFFERS],
}

impl<'buffers> Staging<'buffers> {
    /// None yet.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Staging { taken: 0, used: 0, writable: [None, None, None] }
    }

    /// Copies `bytes` into pages and returns their address; [`Error::TooLarge`] if no window is as
    /// large, [`Error::Exhausted`] while other threads' calls have the pages.
    #[cold]
    #[inline(never)]
    pub(super) fn carry(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.take(bytes).map(page_address)
    }

    /// The same for a buffer that is copied back after the call.
    #[cold]
    #[inline(never)]
    pub(super) fn carry_back(&mut self, bytes: &'buffers mut [u8]) -> Result<usize, Error> {
        let page = self.take(bytes)?;
        let slot = self.writable.get_mut(self.used).ok_or(Error::BadArgument)?;
        *slot = Some((page, bytes));
        self.used += 1;
        Ok(page_address(page))
    }

    fn take(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let count = bytes.len().div_ceil(PAGE);
        if count > PAGES {
            return Err(Error::TooLarge);
        }
        let (page, mask) = take_pages(count)?;
        self.taken |= mask;
        // SAFETY: these pages belong to this call alone.
        let pages = unsafe { core::slice::from_raw_parts_mut(page_pointer(page), count * PAGE) };
        let (data, rest) = pages.split_at_mut(bytes.len());
        data.copy_from_slice(bytes);
        rest.fill(0);
        Ok(page)
    }

    /// After the call: copies back and gives the pages back.
    #[cold]
    #[inline(never)]
    fn finish(&mut self) {
        for slot in &mut self.writable {
            if let Some((page, bytes)) = slot.take() {
                // SAFETY: these pages belong to this call alone; its windows were closed before the
                // portal returned.
                bytes.copy_from_slice(unsafe {
                    core::slice::from_raw_parts(page_pointer(page), bytes.len())
                });
            }
        }
        POOL.taken.fetch_and(!self.taken, Ordering::Release);
        self.taken = 0;
    }
}

impl Drop for Staging<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.taken != 0 {
            self.finish();
        }
    }
}

/// Takes `count` consecutive pages: the first, and their bits.
fn take_pages(count: usize) -> Result<(usize, u32), Error> {
    let run = (1u32 << count) - 1;
    let mut taken = POOL.taken.load(Ordering::Relaxed);
    loop {
        let page =
            (0..=PAGES - count).find(|page| taken & run << page == 0).ok_or(Error::Exhausted)?;
        let mask = run << page;
        match POOL.taken.compare_exchange_weak(
            taken,
            taken | mask,
            Ordering::Acquire,
            Ordering::Relaxed,
        ) {
            Ok(_) => return Ok((page, mask)),
            Err(found) => taken = found,
        }
    }
}

fn page_pointer(page: usize) -> *mut u8 {
    POOL.pages.get().cast::<u8>().wrapping_add(page * PAGE)
}

fn page_address(page: usize) -> usize {
    page_pointer(page).expose_provenance()
}
