//! Taking back the code of closed blocks, once no invocation stack names it.
//!
//! Nobody can enter a closed block any more, so a name that is not there now never comes. Two looks: the
//! first takes every word of an invocation stack that looks like an address for a name, saved registers
//! included, which is quick and never wrong in the dangerous direction. But whoever puts addresses of
//! portal code into its registers and waits could keep others' blocks for ever. So if a block is
//! named, the second look walks the frames. That is exact as long as the thread does not run meanwhile.

use crate::component::SCHEDULER;
use crate::manager::Manager;
use crate::memory::Memory;
use cairn::{Error, time};
use cairn_abi::address::PORTAL_CODE;
use cairn_abi::thread::{FRAME_RETURN, INVOCATION_LIMIT};
use cairn_portal::invocation::{Kind, Walk, Words};
use cairn_portals::area::{GRANULE, Granules};
use cairn_portals::frames;

/// How often a walk is made again because another thread ran meanwhile.
const WALKS: usize = 3;

impl Manager {
    /// Frees the code of closed blocks that no invocation stack names.
    pub fn reclaim(&mut self) {
        let Ok(memory) = self.memory() else { return };
        for exact in [false, true] {
            if self.blocks.closed() > 0 {
                self.named = Granules::NONE;
                let own = time::own_thread();
                let own_top = self.top(&memory, own).ok();
                for thread in 0..memory.threads() {
                    let is_exact = exact
                        && match thread == own {
                            true => own_top.is_some_and(|top| self.name_own(&memory, own, top)),
                            false => self.name_frames(&memory, thread).unwrap_or(false),
                        };
                    if !is_exact {
                        // A thread that does not run has put down where its topmost frame is.
                        let top = match thread == own {
                            true => own_top.unwrap_or(INVOCATION_LIMIT),
                            false => memory.thread_top(thread),
                        };
                        self.name_words(&memory, thread, top);
                    }
                }
                self.forget_unnamed();
            }
        }
        self.queues.release_unused(&memory, &self.blocks);
    }

    fn forget_unnamed(&mut self) {
        let Manager { blocks, area, named, .. } = self;
        blocks.forget(
            |block| !named.any(block.start, block.granules),
            |block| area.release(block.start, block.granules),
        );
    }

    fn name(&mut self, address: u64) {
        self.named.set(address.wrapping_sub(PORTAL_CODE) / GRANULE);
    }

    /// Takes every word for a name.
    fn name_words(&mut self, memory: &Memory, thread: u64, top: u64) {
        for offset in frames::below(top) {
            self.name(memory.thread_word(thread, offset));
        }
    }

    /// Names what the frames of another thread name; whether these are all.
    fn name_frames(&mut self, memory: &Memory, thread: u64) -> Result<bool, Error> {
        if memory.thread_top(thread) == 0 {
            return Ok(true);
        }
        for _ in 0..WALKS {
            let since = SCHEDULER.running_since()?;
            // From the next tick on, a switch cannot have the time of the last one.
            while time::counter() == since {}
            let walk = Walk::new(memory, memory.header.trap_return, thread);
            let complete = self.name_walk(memory, walk);
            if SCHEDULER.running_since()? == since {
                return Ok(complete);
            }
        }
        Ok(false)
    }

    /// The same of the calling thread, whose frames below the topmost one do not change in here.
    fn name_own(&mut self, memory: &Memory, own: u64, top: u64) -> bool {
        let walk = Walk::of_running(memory, memory.header.trap_return, own, top);
        self.name_walk(memory, walk)
    }

    /// Whether the walk came to the bottom.
    fn name_walk(&mut self, memory: &Memory, walk: Walk<'_, Memory>) -> bool {
        let mut complete = false;
        for frame in walk {
            complete = frame.kind == Kind::Base;
            if matches!(frame.kind, Kind::Call { .. }) {
                // A dead entry lies in the same block as its return portal.
                let back = memory.load(frame.header.wrapping_add_signed(FRAME_RETURN));
                self.name(back.unwrap_or(0));
            }
        }
        complete
    }
}
