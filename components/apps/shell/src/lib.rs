//! What of the shell needs no other component: keys, the line editor, words, methods by their
//! letters.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod between;
pub mod called;
pub mod complete;
pub mod editor;
pub mod history;
pub mod keys;
pub mod method;
pub mod policy;
pub mod samples;
pub mod shares;
pub mod table;
pub mod used;
pub mod words;

#[cfg(test)]
mod editor_tests;
