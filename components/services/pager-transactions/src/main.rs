//! Provides a section whose pages are changed in transactions: all that one changed is there when it is committed, or nothing of it. The
//! pages are those of another section, the *original*, which can have a pager itself.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component;

#[cfg(not(target_os = "none"))]
fn main() {}
