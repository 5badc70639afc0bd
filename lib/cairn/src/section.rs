//! Memory that an instance has beside its image: shared sections, and views of its role.
#![allow(unsafe_code)]

use crate::environment::startup;
use crate::registers::Registers;
use crate::window::{copy_in, copy_out};
use cairn_abi::address::{
    DEVICES_OFFSET, PAGE_SIZE, REGION_SIZE, ROLE_RECORD, SECTION_STRIDE, kernel_view,
};
use cairn_abi::memory::{SECTIONS_AT_RUN_TIME, SECTIONS_MAXIMUM};
// Relaxed: who shares a section orders its words, with fences of its own.
use core::sync::atomic::{AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A word that others change and this instance only reads.
#[repr(transparent)]
pub struct ConstantWord(AtomicU64);

impl ConstantWord {
    /// What it is now.
    #[inline(always)]
    pub fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A section. Others may write it at any time, so it is read and written word by word and is never
/// a slice of plain memory.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    address: usize,
    size: usize,
    writable: bool,
}

macro_rules! access {
    ($load:ident, $store:ident, $word:ty, $atomic:ty, $name:literal) => {
        #[doc = concat!("The ", $name, " at a byte offset; panics outside the section, or where such a word does not begin.")]
        #[inline(always)]
        #[track_caller]
        pub fn $load(&self, offset: usize) -> $word {
            self.check(offset, size_of::<$word>());
            // SAFETY: mapped and aligned, checked above.
            unsafe { (*((self.address + offset) as *const $atomic)).load(Ordering::Relaxed) }
        }

        #[doc = concat!("Writes the ", $name, " at a byte offset; panics as a load does, or if the section is read-only.")]
        #[inline(always)]
        #[track_caller]
        pub fn $store(&self, offset: usize, word: $word) {
            self.check(offset, size_of::<$word>());
            assert!(self.writable, "the section is read-only");
            // SAFETY: mapped, writable and aligned, checked above.
            unsafe { (*((self.address + offset) as *const $atomic)).store(word, Ordering::Relaxed) }
        }
    };
}

impl Section {
    /// Names a section.
    ///
    /// # Safety
    /// Memory is mapped at `address .. address + size` for good, writable if `writable` says so;
    /// it is used by nothing else in this instance.
    pub(crate) unsafe fn new(address: usize, size: usize, writable: bool) -> Section {
        Section { address, size, writable }
    }

    /// Pages that the memory manager gave this instance; `None` if it gives none at these addresses. A use after they are
    /// given back is a fault.
    pub fn of_pages(address: u64, pages: u64) -> Option<Section> {
        let startup = startup();
        let end = (startup.run_time_memory & !(REGION_SIZE - 1)) + DEVICES_OFFSET;
        let size = pages.checked_mul(PAGE_SIZE)?;
        let fits = address.is_multiple_of(PAGE_SIZE)
            && address >= startup.run_time_memory
            && address <= end
            && size <= end - address;
        // The program has no data of its own there: mapped pages were given by the memory manager and are used only as
        // sections, and an access to an unmapped one is a fault of this instance.
        fits.then_some(Section { address: address as usize, size: size as usize, writable: true })
    }

    /// A section made at run time, or a lasting window, that this instance has accepted; `None` if none lies at these addresses. A use after
    /// it was left is a fault, and so is a write where it may only be read.
    pub fn of_window(address: u64, pages: u64, writable: bool) -> Option<Section> {
        let at = address.checked_sub(SECTIONS_AT_RUN_TIME)?;
        let size = pages.checked_mul(PAGE_SIZE)?;
        let fits = at.is_multiple_of(SECTION_STRIDE)
            && at / SECTION_STRIDE < SECTIONS_MAXIMUM as u64
            && size <= SECTION_STRIDE;
        // The program has nothing of its own there: what is mapped was mapped for it as a section, and is used only so.
        fits.then_some(Section { address: address as usize, size: size as usize, writable })
    }

    /// A part of it; panics if it is not in it.
    #[inline(always)]
    #[track_caller]
    pub fn part(&self, offset: usize, size: usize) -> Section {
        assert!(offset <= self.size && size <= self.size - offset, "outside the section");
        Section { address: self.address + offset, size, ..*self }
    }

    /// Device registers that a section holds; panics if they are not in it. An access to one is not left out, as those of words
    /// could be.
    #[track_caller]
    pub fn registers(&self, offset: usize, size: usize) -> Registers {
        assert!(offset <= self.size && size <= self.size - offset, "outside the section");
        // SAFETY: mapped for good, checked above.
        unsafe { Registers::new(self.address + offset, size, None) }
    }

    /// First address.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether this instance may write it.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    #[inline(always)]
    #[track_caller]
    fn check(&self, offset: usize, bytes: usize) {
        // No numbers: to keep them for the message costs instructions where there is none.
        assert!(
            offset.is_multiple_of(bytes) && offset < self.size && bytes <= self.size - offset,
            "outside the section, or not at a multiple of the word's bytes"
        );
    }

    access!(load, store, u64, AtomicU64, "word");
    access!(load_u32, store_u32, u32, AtomicU32, "half word");
    access!(load_u16, store_u16, u16, AtomicU16, "quarter of a word");

    /// The byte at an offset; panics outside the section.
    #[inline(always)]
    #[track_caller]
    pub fn byte(&self, offset: usize) -> u8 {
        self.check(offset, 1);
        // SAFETY: mapped, checked above; volatile because others may write it.
        unsafe { ((self.address + offset) as *const u8).read_volatile() }
    }

    /// Writes the byte at an offset; panics outside the section or if it is read-only.
    #[inline(always)]
    #[track_caller]
    pub fn set_byte(&self, offset: usize, byte: u8) {
        self.check(offset, 1);
        assert!(self.writable, "the section is read-only");
        // SAFETY: mapped and writable, checked above.
        unsafe { ((self.address + offset) as *mut u8).write_volatile(byte) }
    }

    /// Copies from an offset on into `bytes`; panics outside the section. What others write meanwhile comes along or not.
    #[track_caller]
    pub fn read(&self, offset: usize, bytes: &mut [u8]) {
        let part = self.part(offset, bytes.len());
        copy_in(part.address, bytes).expect("a section is there for good");
    }

    /// Copies `bytes` to an offset on; panics outside the section or if it is read-only.
    #[track_caller]
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let part = self.part(offset, bytes.len());
        assert!(self.writable, "the section is read-only");
        copy_out(part.address, bytes).expect("a section is there for good");
    }

    /// Zeroes a range, whole words; panics outside the section or if it is read-only.
    #[track_caller]
    pub fn zero(&self, offset: usize, bytes: usize) {
        for at in (offset..offset + bytes).step_by(8) {
            self.store(at, 0);
        }
    }

    /// Copies `bytes` bytes from `from` on of another section to `to` on in this one; panics outside of either, or if this is
    /// read-only. What others write into them meanwhile comes along or not.
    #[inline(always)]
    pub fn copy_from(&self, to: usize, other: &Section, from: usize, bytes: usize) {
        crate::window::copy_between(self, to, other, from, bytes);
    }

    /// Signed words that portal code writes as well; panics if the section is read-only or smaller.
    #[track_caller]
    pub fn words(&self, count: usize) -> &'static [AtomicI64] {
        assert!(self.writable && count <= self.size / 8, "outside the section");
        // SAFETY: mapped for good, writable, aligned to a page; atomics may be shared.
        unsafe { core::slice::from_raw_parts(self.address as *const AtomicI64, count) }
    }

    /// Words that others may change; panics if the section is smaller.
    #[track_caller]
    pub fn constant_words(&self, count: usize) -> &'static [ConstantWord] {
        assert!(count <= self.size / 8, "outside the section");
        // SAFETY: mapped for good, readable, aligned to a page; atomics may be shared, and these are
        // only loaded.
        unsafe { core::slice::from_raw_parts(self.address as *const ConstantWord, count) }
    }

    /// The bytes of the layout's record, which no component changes that it shows to another; `None` if this is another section, which
    /// others may write even if this instance may not.
    pub(crate) fn record(&self) -> Option<&'static [u8]> {
        let is_record = [ROLE_RECORD, kernel_view(ROLE_RECORD)].contains(&(self.address as u64));
        if !is_record || self.writable {
            return None;
        }
        // SAFETY: mapped for good and readable, and read-only at this address in every domain: the host tool maps
        // nothing but the record there, and refuses an image where a domain may write it. Where components are loaded the memory
        // manager changes entries of numbers of which no component was told yet, or that all have forgotten: nobody has a
        // reference to one. Who walks through a table reads there whether there is an instance, an aligned word that is stored at once.
        Some(unsafe { core::slice::from_raw_parts(self.address as *const u8, self.size) })
    }
}
