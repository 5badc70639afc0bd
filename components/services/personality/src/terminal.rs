//! The terminal of all processes. A thread of its own waits for what is typed, so that they go on meanwhile.

use crate::imports;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use cairn::process;
use cairn::sync::{Mutex, Semaphore};
use cairn_personality::line::Line;

/// What was typed and the carrier has not seen yet.
static TYPED: Mutex<VecDeque<u8>> = Mutex::new(VecDeque::new());
/// There is something for the carrier to look at.
pub static EVENTS: Semaphore = Semaphore::new(0);
/// Bytes that wait for it at most; what is typed then is lost.
const TYPED_MOST: usize = 4096;
/// Bytes that the console takes at once.
const WRITTEN: usize = 256;

/// Passes on what is typed, without end.
pub fn listen() {
    let mut bytes = [0; 128];
    loop {
        let Ok(count) = imports::CONSOLE.read(&mut bytes) else {
            // It starts again, or another thread of it has come between.
            let _ = cairn::thread::sleep(core::time::Duration::from_millis(10));
            continue;
        };
        if let Ok(mut typed) = TYPED.lock() {
            let room = TYPED_MOST.saturating_sub(typed.len());
            typed.extend(bytes.iter().take(count.min(room)));
        }
        let _ = EVENTS.release();
        let _ = process::interrupt();
    }
}

/// The terminal.
pub struct Terminal {
    /// Its settings, and what can be read.
    pub line: Line,
    /// The group of processes that has it: signals of keys are theirs.
    pub group: u32,
    /// Rows and columns.
    pub size: [u16; 2],
}

impl Terminal {
    /// As it is at first, for the first process.
    pub fn new() -> Terminal {
        Terminal { line: Line::default(), group: 1, size: [24, 80] }
    }

    /// Takes what was typed; the signals that it means.
    pub fn take_typed(&mut self) -> (bool, Vec<u32>) {
        let mut signals = Vec::new();
        let typed: Vec<u8> = match TYPED.lock() {
            Ok(mut typed) => typed.drain(..).collect(),
            Err(_) => Vec::new(),
        };
        let mut shown = Vec::new();
        for byte in &typed {
            signals.extend(self.line.typed(*byte, |bytes| shown.extend(bytes)));
        }
        write(&shown);
        (!typed.is_empty(), signals)
    }
}

/// Shows text.
pub fn write(bytes: &[u8]) {
    for part in bytes.chunks(WRITTEN) {
        // What a console that is gone does not show is lost.
        let _ = imports::CONSOLE.write(part);
    }
}
