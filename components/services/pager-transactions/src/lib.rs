//! Who may change which pages, and what has been changed, free of the machine, so that it is tested on the host.
#![cfg_attr(target_os = "none", no_std)]
#![forbid(unsafe_code)]

pub mod book;
#[cfg(test)]
mod book_tests;
