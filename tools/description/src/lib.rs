//! Reads and checks system descriptions (`systems/*.toml`) and board descriptions
//! (`boards/*.toml`).
//!
//! [`load`] does everything that can be done with the descriptions alone: [`System`] has every
//! name resolved and every default filled in. [`connect`] then checks a system against what its
//! components' files say of themselves. Whatever is wrong comes as a [`Report`]; every value keeps
//! its [`Place`], so later stages can report at it too.
//!
//! The keys are documented in `docs/reference/system-description.md`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod arguments;
pub mod board;
mod check;
pub mod components;
pub mod connect;
pub mod content;
mod control;
pub mod copies;
mod devices;
mod document;
mod draft;
mod expand;
mod extend;
mod fellows;
pub mod files;
mod format;
mod groups;
mod kernel;
mod load;
mod missing;
pub mod model;
mod moves;
mod names;
mod offered;
mod package;
mod pagers;
mod parts;
pub mod place;
mod probe;
mod processes;
pub mod report;
mod resolve;
mod role;
pub mod schema;
mod sections;
mod successor;
mod table;
mod tree;
mod units;
mod written;

pub use board::Board;
pub use connect::{Connected, ConnectedImport, ConnectedPackage, connect};
pub use files::{Disk, Files};
pub use format::format;
pub use load::{Setting, board_place, load, load_board, load_from, load_packing, load_with};
pub use model::System;
pub use names::NAME_MAXIMUM;
pub use place::{Located, Place, Source};
pub use report::{Error, Report};
pub use units::{parse_size, show_duration, show_size};
