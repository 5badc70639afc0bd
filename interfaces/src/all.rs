//! The list of all interfaces, for tools that name them at run time.

use crate::*;
use cairn::abi::descriptor::InterfaceDescriptor;
use cairn::abi::interface_text::{InterfaceText, Texts, length};
use cairn::component::Interface;

macro_rules! all {
    ($($interface:ident,)*) => {
        /// The descriptor of every interface. `tests/all.rs` finds those that are missing.
        pub const ALL: &[InterfaceDescriptor] = &[$(<dyn $interface as Interface>::DESCRIPTOR),*];
        const EACH_TEXT: &[InterfaceText] = &[$(<dyn $interface as Interface>::TEXT),*];
    };
}

all! {
    BlockQueue,
    Blocks,
    Clock,
    Connections,
    Console,
    Deadlines,
    DeviceControl,
    Devices,
    Door,
    Echo,
    I2c,
    Interrupt,
    InterruptUpcalls,
    InterruptSignals,
    Lock,
    Logs,
    Memory,
    MemoryControl,
    MemoryStatistics,
    NameControl,
    Names,
    ParameterTypes,
    Pins,
    PortalControl,
    PortalListing,
    Portals,
    Random,
    SchedulerObjects,
    SchedulerStatistics,
    SchedulerUpcalls,
    Script,
    Semaphore,
    Spi,
    Supervision,
    Supervisor,
    Terminal,
    Threads,
    Timer,
    WallClock,
}

/// What people call the parts of every interface, as lines of text.
pub static TEXTS: Texts<{ length(EACH_TEXT) }> = Texts::new(EACH_TEXT);
