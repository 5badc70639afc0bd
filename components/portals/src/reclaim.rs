//! Which portal code the invocation stacks name: the code of closed blocks that they do not name can go.
//!
//! Nobody can enter a closed block any more, so a name that is not there now never comes. Two looks: the
//! first takes every word of an invocation stack that looks like an address for a name, saved registers
//! included, which is quick and never wrong in the dangerous direction. But whoever puts addresses of
//! portal code into its registers and waits could keep others' blocks for ever. So if a block is
//! named, the second look walks the frames. That is exact as long as the thread does not run meanwhile.

use crate::area::{GRANULE, Granules};
use crate::machine::Machine;
use cairn_abi::Error;
use cairn_abi::address::PORTAL_CODE;
use cairn_abi::thread::{BASE_FRAME, FRAME_RETURN, THREAD_BLOCK_SIZE};
use cairn_portal::invocation::{Kind, Walk};

/// How often a walk is made again because another thread ran meanwhile.
const WALKS: usize = 3;

/// Where the calling thread is: its own block does not say while it runs, but the portal of its call does
/// (letter `f`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its index.
    pub thread: u64,
    /// Offset in its block of the header of the frame of its call. What lies below does not change while
    /// the call is inside.
    pub top: u64,
}

/// How exactly to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Every word that looks like a name.
    Words,
    /// The frames, where that can be.
    Frames,
}

/// The granules of portal code that are named.
pub fn names<M: Machine>(machine: &M, running: Running, look: Look, named: &mut Granules) {
    *named = Granules::NONE;
    for thread in 0..machine.threads() {
        let exact = match look {
            Look::Words => false,
            Look::Frames if thread == running.thread => {
                let trap_return = machine.layout().header.trap_return;
                of_walk(machine, Walk::of_running(machine, trap_return, thread, running.top), named)
            }
            Look::Frames => of_frames(machine, thread, named).unwrap_or(false),
        };
        if !exact {
            // A thread that does not run has put down where its topmost frame is.
            let top = match thread == running.thread {
                true => running.top,
                false => machine.thread_top(thread),
            };
            of_words(machine, thread, top, named);
        }
    }
}

fn name(address: u64, named: &mut Granules) {
    named.set(address.wrapping_sub(PORTAL_CODE) / GRANULE);
}

/// Takes every word for a name, up to the header at `top`.
fn of_words<M: Machine>(machine: &M, thread: u64, top: u64, named: &mut Granules) {
    for offset in (BASE_FRAME as u64..=top.min(THREAD_BLOCK_SIZE - 8)).step_by(8) {
        name(machine.thread_word(thread, offset), named);
    }
}

/// Names what the frames of another thread name; whether these are all.
fn of_frames<M: Machine>(machine: &M, thread: u64, named: &mut Granules) -> Result<bool, Error> {
    if machine.thread_top(thread) == 0 {
        return Ok(true);
    }
    for _ in 0..WALKS {
        let since = machine.running_since()?;
        if machine.now() == since {
            // A switch that comes in this tick would have the time of the last one.
            continue;
        }
        let walk = Walk::new(machine, machine.layout().header.trap_return, thread);
        let complete = of_walk(machine, walk, named);
        if machine.running_since()? == since {
            return Ok(complete);
        }
    }
    Ok(false)
}

/// Whether the walk came to the bottom.
fn of_walk<M: Machine>(machine: &M, walk: Walk<'_, M>, named: &mut Granules) -> bool {
    let mut complete = false;
    for frame in walk {
        complete = frame.kind == Kind::Base;
        if matches!(frame.kind, Kind::Call { .. }) {
            // A dead entry lies in the same block as its return portal.
            let back = machine.load(frame.header.wrapping_add_signed(FRAME_RETURN));
            name(back.unwrap_or(0), named);
        }
    }
    complete
}
