//! Tests of descriptions from end to end.
#![forbid(unsafe_code)]

mod common;
mod contents;
mod format;
mod golden;
mod model;
mod mutation;
mod packages;
mod processes;
mod schema;
