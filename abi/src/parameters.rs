//! The nucleus' parameters: the host tool writes them into the image, at the nucleus' symbol
//! `NUCLEUS_PARAMETERS`.

use zerocopy::{Immutable, IntoBytes};

/// What the nucleus is told of the system around it.
#[derive(Clone, Copy, Debug, Default, Immutable, IntoBytes)]
#[repr(C)]
pub struct Parameters {
    /// `satp` with which paging is switched on.
    pub boot_satp: u64,
    /// Virtual minus physical address of the nucleus.
    pub nucleus_offset: u64,
    /// Header of the frame on which the first portal runs: thread 0's trap frame.
    pub boot_frame: u64,
    /// The portal that enters the scheduler for the first time.
    pub boot_portal: u64,
    /// The portal through which a thread ends, named by its base frame.
    pub exit_portal: u64,
    /// Number of thread blocks.
    pub threads: u64,
    /// Number of domain blocks.
    pub domains: u64,
    /// End of the portal code area.
    pub portal_code_end: u64,
    /// Kernel address of the emulator's test finisher, or zero.
    pub finisher: u64,
}
