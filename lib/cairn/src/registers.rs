//! Device registers: by their offsets, or by names and fields ([`register_block`](crate::register_block)).
#![allow(unsafe_code)]

mod block;

pub use block::{Read, ReadWrite, Register, Width, Write};
pub use tock_registers::{LocalRegisterCopy, fields, interfaces, register_bitfields};

use cairn_abi::descriptor::name_text;
use cairn_abi::startup::Mapping;

/// The registers of one device. Accesses outside it panic, which is the driver's own fault.
#[derive(Clone, Copy)]
pub struct Registers {
    address: usize,
    size: usize,
    /// `None`: they lie in a section.
    device: Option<&'static Mapping>,
}

/// Orders what was read and written before, registers and memory, before all that comes behind: for a driver whose device reaches
/// memory by itself, as before it tells the device, or after it was told. Accesses of memory and of registers have no order
/// otherwise (unprivileged manual, section 2.7).
#[inline(always)]
pub fn fence() {
    crate::arch::device_fence();
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
    pub(crate) unsafe fn new(
        address: usize,
        size: usize,
        device: Option<&'static Mapping>,
    ) -> Registers {
        Registers { address, size, device }
    }

    #[inline(always)]
    fn check(&self, offset: usize, bytes: usize) {
        assert!(
            offset.is_multiple_of(bytes) && offset < self.size && bytes <= self.size - offset,
            "no such register"
        );
    }

    access!(read_u8, write_u8, u8);
    access!(read_u16, write_u16, u16);
    access!(read_u32, write_u32, u32);
    access!(read_u64, write_u64, u64);

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What the description calls the device.
    pub fn name(&self) -> &'static str {
        self.device.map_or("", |device| name_text(&device.name))
    }

    /// How many interrupts the board gives the device.
    pub fn interrupts(&self) -> u32 {
        self.device.map_or(0, |device| device.interrupt_count as u32)
    }

    /// Index of the first portal of the device's interrupts: those of a semaphore, then the acknowledgement, for each. `None`:
    /// it has none. Drivers have `cairn_interfaces::waiting::Interrupt`.
    pub fn interrupt_portal(&self) -> Option<u32> {
        let device = self.device.filter(|device| device.interrupt_count > 0)?;
        Some(device.interrupt_portal as u32)
    }
}

impl core::fmt::Debug for Registers {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Registers({}, {} bytes)", self.name(), self.size)
    }
}
