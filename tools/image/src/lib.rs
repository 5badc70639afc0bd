//! Lays out a system and writes its bootable image.
//!
//! [`layout::layout`] places a described system and its components.
#![forbid(unsafe_code)]

pub mod check;
pub mod layout;
mod memory;
mod nucleus;
mod package;
mod path;
pub mod places;
mod portals;
mod quota;
mod report;
mod room;
pub mod sharing;
mod shelf;
mod translations;

pub use layout::{Error, Image, layout};
pub use nucleus::Nucleus;
pub use package::package;
pub use places::Places;
pub use report::{Confined, InstanceReport, PortalReport, Report};
pub use shelf::shelf;
pub use translations::{Capacity, Entries};

/// A component with its file.
pub type Component = cairn_loader::Component<Vec<u8>>;
