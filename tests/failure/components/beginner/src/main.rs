//! Fails in `init`, or in what `main` calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::{Stack, spawn};
use cairn::{Error, Failure};
use cairn_interfaces::Threads;

static STACK: Stack<4096> = Stack::new();

cairn::component! {
    name: "beginner",
    imports: { threads: Threads },
    arguments: { prepared: bool },
    init: prepare,
    main: main,
}

fn prepare() -> Result<(), Error> {
    if arguments::prepared() { Ok(()) } else { Err(Error::NotAllowed) }
}

fn main() -> Result<(), Failure> {
    work()?;
    Ok(())
}

fn work() -> Result<(), Failure> {
    // The description gives it no second one.
    spawn(&STACK, 10, || ())?.join()?;
    Ok(())
}
