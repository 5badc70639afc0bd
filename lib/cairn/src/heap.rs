//! The heap that the description gives an instance, behind `alloc`: with the feature `alloc` of this
//! crate a component may say `extern crate alloc` and use `Vec`, `Box` and the rest.
//!
//! With a `heap_limit` it grows: what it does not hold any more, it asks the memory manager for, by the component's import of
//! `Memory`, in pages behind those that it has, until the limit or the instance's quota is reached. It never shrinks.
//!
//! Allocating and freeing take a bounded time (TLSF). The heap's lock is made as those of [`crate::sync`] are: of a component that
//! imports `Portals`, any number of threads allocate, its clients' threads included. Of one that does not, and in the kernel domain while those
//! that came had too little stack left to have it made, a thread that comes while another is inside gets no memory.
#![allow(unsafe_code)]

use crate::Error;
use crate::call::{Arguments, Portals};
use crate::environment::startup;
use crate::sync::RawLock;
use crate::sync::methods::EXTEND;
use cairn_abi::address::PAGE_SIZE;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use rlsf::Tlsf;

/// Blocks up to 64 MiB, a region's size, in eight sizes for each power of two.
type Pool = Tlsf<'static, u32, u8, 21, 8>;

/// As many pages it grows by at least, if it may, so that small blocks do not cost a call each.
const STEP: usize = 4 * PAGE_SIZE as usize;
/// What the pool keeps beside a block, at most, and at a memory's end.
const BESIDE: usize = 256;

struct Heap {
    lock: RawLock,
    taken: AtomicBool,
    pool: UnsafeCell<Pool>,
    /// Bytes that the pool has; used under the same mark as the pool, but for reading.
    filled: AtomicUsize,
    /// How many of them it manages: the next ones follow behind.
    managed: AtomicUsize,
}

// SAFETY: `taken` admits one user at a time.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap {
    lock: RawLock::new(),
    taken: AtomicBool::new(false),
    pool: UnsafeCell::new(Pool::new()),
    filled: AtomicUsize::new(0),
    managed: AtomicUsize::new(0),
};

/// Bytes of the heap, allocated or not, as far as it has grown.
pub fn size() -> usize {
    HEAP.filled.load(Ordering::Relaxed).max(startup().heap_size as usize)
}

/// Bytes to which the heap can grow; [`size`], if it does not.
pub fn limit() -> usize {
    startup().heap_limit as usize
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
            let pool = unsafe { &mut *self.pool.get() };
            if self.filled.load(Ordering::Relaxed) == 0 {
                self.fill(pool, startup().heap_size as usize);
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

impl Heap {
    /// The pool gets bytes behind those that it has, which are mapped and whole pages.
    fn fill(&self, pool: &mut Pool, more: usize) {
        // Relaxed: who is inside is alone there, by `taken`, which orders what is before and behind; others only read how much there is.
        let (filled, managed) =
            (self.filled.load(Ordering::Relaxed), self.managed.load(Ordering::Relaxed));
        let first = startup().heap as usize + managed;
        let Some(first) = NonNull::new(first as *mut u8).filter(|_| more > 0) else { return };
        let block = NonNull::slice_from_raw_parts(first, filled + more - managed);
        // SAFETY: these pages are mapped, writable, into this instance until it ends, nothing else knows their address, and the
        // second kind follows what the pool manages.
        let taken = unsafe {
            match managed {
                0 => pool.insert_free_block_ptr(block).map_or(0, |size| size.get()),
                _ => pool.append_free_block_ptr(block),
            }
        };
        self.managed.store(managed + taken, Ordering::Relaxed);
        self.filled.store(filled + more, Ordering::Relaxed);
    }

    /// The heap gets room for a block more, if it may. Whether it has.
    #[cold]
    fn grow(&self, pool: &mut Pool, size: usize, align: usize) -> bool {
        let startup = startup();
        let room =
            (startup.heap_limit as usize).saturating_sub(self.filled.load(Ordering::Relaxed));
        if room == 0 || startup.memory_manager == 0 {
            return false;
        }
        // The pool looks for a block among those that are larger by an eighth.
        let needed = size.saturating_add(size / 8).saturating_add(align).saturating_add(BESIDE);
        let pages = |bytes: usize| bytes.div_ceil(PAGE_SIZE as usize) * PAGE_SIZE as usize;
        if needed > room {
            return false;
        }
        let needed = pages(needed).min(room);
        // Less, if the quota does not hold more.
        [needed.max(STEP).min(room), needed].into_iter().any(|more| {
            let extended = self.extend(more / PAGE_SIZE as usize);
            if extended {
                self.fill(pool, more);
            }
            extended
        })
    }

    /// Maps pages behind those that the heap has.
    fn extend(&self, pages: usize) -> bool {
        let startup = startup();
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.word(startup.heap + self.filled.load(Ordering::Relaxed) as u64);
        arguments.word(pages as u64);
        let manager = Portals::at(startup.memory_manager as u32);
        manager.call::<4, (), Error>(EXTEND, arguments).is_ok()
    }
}

// SAFETY: the pool hands out each byte once, aligned as asked. Memory that cannot be given back because
// another thread is inside stays allocated.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let allocate = |pool: &mut Pool| {
            pool.allocate(layout).or_else(|| {
                let grown = self.grow(pool, layout.size(), layout.align());
                grown.then(|| pool.allocate(layout)).flatten()
            })
        };
        let block = self.with(allocate).flatten();
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
        let reallocate = |pool: &mut Pool| {
            // SAFETY: as above.
            unsafe { pool.reallocate(block, layout) }.or_else(|| {
                let grown = self.grow(pool, layout.size(), layout.align());
                // SAFETY: the block is as it was.
                grown.then(|| unsafe { pool.reallocate(block, layout) }).flatten()
            })
        };
        let block = self.with(reallocate).flatten();
        block.map_or(null_mut(), NonNull::as_ptr)
    }
}
