//! One thread after another reads a line, and is sent back while somebody types: each has the index of the one before it, and not what was typed
//! for that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::thread::index_of_name;
use cairn::call::Call;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces::{Console, Successor, Threads, spawn};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

cairn::component! {
    name: "half-lines-readers",
    imports: { console: Console, successor: Successor, threads: Threads },
    main: main,
}

use imports::{CONSOLE, SUCCESSOR, THREADS};

/// The place of the method in its interface.
const READ_LINE: u32 = 3;
const PRIORITY: u8 = 20;
const PAUSE_MICROSECONDS: u64 = 100_000;

static STACK: Stack<16384> = Stack::new();
static HAS_READ: AtomicBool = AtomicBool::new(false);

fn read(_: u64) {
    let mut line = [0; 64];
    // The proxy would call again and again.
    let mut call = Call::new();
    call.bytes_mut(&mut line);
    let (status, [length, ..]) = call.invoke(CONSOLE.first_portal() + READ_LINE);
    if status == Error::Moved.status() {
        return;
    }
    assert_eq!(status, 0);
    let line = core::str::from_utf8(&line[..length as usize]).unwrap_or("?");
    let _ = CONSOLE.print(format_args!("a line: [{line}]\n"));
    HAS_READ.store(true, Relaxed);
}

fn main() {
    let mut index = None;
    while !HAS_READ.load(Relaxed) {
        let reader = spawn(THREADS, &STACK, read, 0, PRIORITY).expect("a thread");
        let own = index_of_name(reader.name());
        assert_eq!(*index.get_or_insert(own), own, "the index is used again");
        let _ = THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS));
        SUCCESSOR.call_home(true).expect("it comes back");
        let _ = reader.join();
        SUCCESSOR.call_home(false).expect("the next waits");
        let _ = CONSOLE.print(format_args!("the next reads\n"));
    }
}
