//! What a component's code needs of its imports: addresses of that code in sections that are not loaded, for the host tool.
#![allow(unsafe_code)]

use core::arch::asm;

macro_rules! note {
    ($name:ident, $section:literal) => {
        #[inline(always)]
        pub(crate) fn $name() {
            // SAFETY: no instructions; the section is not loaded.
            unsafe {
                asm!(
                    "1:",
                    concat!(".pushsection ", $section),
                    ".dword 1b",
                    ".popsection",
                    options(nomem, nostack, preserves_flags)
                );
            }
        }
    };
}

note!(portals, ".cairn.needs_portals");
note!(threads, ".cairn.needs_threads");
