//! Device registers.
#![allow(unsafe_code)]

/// The registers of one device. Accesses outside it panic, which is the driver's own fault.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    address: usize,
    size: usize,
    interrupt_portal: u32,
}

macro_rules! access {
    ($read:ident, $write:ident, $word:ty) => {
        /// Reads the register at a byte offset.
        #[inline(always)]
        pub fn $read(&self, offset: usize) -> $word {
            self.check(offset, size_of::<$word>());
            // SAFETY: inside the device's registers and aligned, checked above; volatile since
            // reading may have effects.
            unsafe { ((self.address + offset) as *const $word).read_volatile() }
        }

        /// Writes the register at a byte offset.
        #[inline(always)]
        pub fn $write(&self, offset: usize, word: $word) {
            self.check(offset, size_of::<$word>());
            // SAFETY: as above.
            unsafe { ((self.address + offset) as *mut $word).write_volatile(word) }
        }
    };
}

impl Registers {
    /// Names registers.
    ///
    /// # Safety
    /// Device registers are mapped at `address .. address + size` for good.
    pub(crate) unsafe fn new(address: usize, size: usize, interrupt_portal: u32) -> Registers {
        Registers { address, size, interrupt_portal }
    }

    #[inline(always)]
    fn check(&self, offset: usize, bytes: usize) {
        assert!(
            offset.is_multiple_of(bytes) && offset < self.size && bytes <= self.size - offset,
            "no such register"
        );
    }

    access!(read_u8, write_u8, u8);
    access!(read_u32, write_u32, u32);
    access!(read_u64, write_u64, u64);

    /// Index of the first portal of the device's interrupt: those of its semaphore
    /// (`cairn_interfaces::Semaphore`), then the acknowledgement. `None`: it has no interrupt.
    pub fn interrupt_portal(&self) -> Option<u32> {
        (self.interrupt_portal != 0).then_some(self.interrupt_portal)
    }
}
