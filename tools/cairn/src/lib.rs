//! What `./cairn` does: builds the nucleus and components for the bare machine, boots systems in
//! QEMU and on simulated cores, drives their consoles in tests.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod acknowledged;
pub mod advice;
pub mod alternatives;
pub mod archive;
pub mod bench;
pub mod bill;
pub mod board;
pub mod build;
pub mod c_component;
pub mod cargo;
pub mod check;
pub mod components;
pub mod core_file;
pub mod counts;
pub mod cycle_trace;
pub mod debugger;
pub mod doc;
pub mod expect;
pub mod fences;
pub mod float;
pub mod fmt;
pub mod graph;
pub mod guest_memory;
pub mod host_tests;
pub mod install;
pub mod interfaces;
pub mod layout;
pub mod lines;
pub mod machine;
pub mod new;
pub mod pack;
pub mod packages;
pub mod paths;
pub mod pinned;
pub mod placements;
pub mod plugged;
pub mod profile;
pub mod qemu;
pub mod run;
pub mod schema;
pub mod setup;
pub mod simulator;
pub mod source_names;
pub mod sources;
pub mod symbolise;
pub mod system_tests;
pub mod test;
pub mod test_disk;
pub mod trusted;
pub mod unsafe_code;
pub mod usage;
pub mod version;
pub mod watch;
