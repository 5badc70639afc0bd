//! The nucleus' parameters: the host tool writes them into the image, at the nucleus' symbol
//! `NUCLEUS_PARAMETERS`.

use core::mem::offset_of;
use zerocopy::{Immutable, IntoBytes};

/// Defines a parameter, which is a word, by one line.
macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// What the nucleus is told of the system around it.
        #[derive(Clone, Copy, Debug, Default, Immutable, IntoBytes)]
        #[repr(C)]
        pub struct Parameters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Parameters {
            /// What the nucleus is linked with.
            pub const ZERO: Parameters = Parameters { $($name: 0),* };
            /// Name and offset of each; assembly reads them as `PARAMETERS_name`.
            pub const OFFSETS: &[(&str, usize)] =
                &[$((stringify!($name), offset_of!(Parameters, $name))),*];
        }
    };
}

parameters! {
    /// The space with which paging is switched on.
    boot_space;
    /// Virtual minus physical address of the nucleus.
    nucleus_offset;
    /// Header of the frame on which the first portal runs: thread 0's trap frame.
    boot_frame;
    /// The portal that enters the scheduler for the first time.
    boot_portal;
    /// The portal through which a thread ends, named by its base frame.
    exit_portal;
    /// Number of thread blocks.
    threads;
    /// Number of domain blocks.
    domains;
    /// Entries of their portal tables. The trap entry has it in an instruction.
    portals;
    /// End of the portal code area.
    portal_code_end;
    /// Kernel address of the emulator's test finisher, or zero.
    finisher;
}
