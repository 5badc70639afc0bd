//! The heap that the description gives an instance, behind `alloc`: with the feature `alloc` of this
//! crate a component may say `extern crate alloc` and use `Vec`, `Box` and the rest.
//!
//! Allocating and freeing take a bounded time (TLSF). The heap's lock is made as those of [`crate::sync`] are: of a component that
//! imports `Portals`, any number of threads allocate, its clients' threads included. Of one that does not, and in the kernel domain while those
//! that came had too little stack left to have it made, a thread that comes while another is inside gets no memory.
#![allow(unsafe_code)]

use crate::Error;
use crate::environment::startup;
use crate::sync::RawLock;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};
use rlsf::Tlsf;

/// Blocks up to 64 MiB, a region's size, in eight sizes for each power of two.
type Pool = Tlsf<'static, u32, u8, 21, 8>;

struct Heap {
    lock: RawLock,
    taken: AtomicBool,
    pool: UnsafeCell<Pool>,
    /// Whether the pool has its memory yet; used under the same mark as the pool.
    is_filled: UnsafeCell<bool>,
}

// SAFETY: `taken` admits one user at a time.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap {
    lock: RawLock::new(),
    taken: AtomicBool::new(false),
    pool: UnsafeCell::new(Pool::new()),
    is_filled: UnsafeCell::new(false),
};

/// Bytes of the heap, allocated or not.
pub fn size() -> usize {
    startup().heap_size as usize
}

impl Heap {
    /// Runs `body` with the pool; `None` if another thread is inside, or ended there.
    fn with<R>(&self, body: impl FnOnce(&mut Pool) -> R) -> Option<R> {
        let held = loop {
            match self.lock.lock_if_imported() {
                // An owner that ended in here has left `taken`.
                Ok((held, _)) => break Some(held),
                // Nobody has made the lock yet, and this thread cannot: in the kernel domain, with little stack left.
                Err(Error::NotSupported | Error::InvocationOverflow) => break None,
                // This thread is called home. Who allocates cannot say so, and has the lock soon: its owner does a bounded work.
                Err(Error::Cancelled) => {}
                Err(Error::Exhausted) => panic!("the heap takes one of the description's `locks`"),
                Err(_) => return None,
            }
        };
        let result = (!self.taken.swap(true, Ordering::Acquire)).then(|| {
            // SAFETY: the mark admits one user.
            let (pool, is_filled) = unsafe { (&mut *self.pool.get(), &mut *self.is_filled.get()) };
            if !*is_filled {
                *is_filled = true;
                let start = NonNull::new(startup().heap as *mut u8);
                if let Some(start) = start.filter(|_| size() > 0) {
                    // SAFETY: the host tool maps the heap, writable, into this instance for good, and
                    // nothing else knows its address.
                    unsafe {
                        pool.insert_free_block_ptr(NonNull::slice_from_raw_parts(start, size()))
                    };
                }
            }
            let result = body(pool);
            self.taken.store(false, Ordering::Release);
            result
        });
        if let Some(held) = held {
            // It fails only if the lock is gone, and then no thread waits for it.
            let _ = self.lock.unlock(held);
        }
        result
    }
}

// SAFETY: the pool hands out each byte once, aligned as asked. Memory that cannot be given back because
// another thread is inside stays allocated.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.with(|pool| pool.allocate(layout)).flatten();
        block.map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(block) = NonNull::new(block) else { return };
        // SAFETY: the caller vouches that `alloc` gave it, with this layout.
        self.with(|pool| unsafe { pool.deallocate(block, layout.align()) });
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(block) = NonNull::new(block) else { return null_mut() };
        let Ok(layout) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        // SAFETY: as above.
        let block = self.with(|pool| unsafe { pool.reallocate(block, layout) }).flatten();
        block.map_or(null_mut(), NonNull::as_ptr)
    }
}
