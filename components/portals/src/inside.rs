//! Whether a thread is inside a server on behalf of a client.
//!
//! An object may be put into a client's table only while the client's own call is in the server, so
//! the frames of the calling thread have to be walked from the top. What a block says of its top is
//! out of date while the thread runs. But this thread is the one that asks: a call of its own pushes
//! a frame at the top, where the header stays readable after the return. Two calls through different
//! portals with frames of the same size push it at the same place, so the one word that changed from
//! the first's return address to the second's is the top's. Nobody else can make a word change so. But an
//! interrupt in between saves this thread's registers in the block, and both addresses are in registers
//! here: what is found is taken only if the frames below it are what they have to be, else it is looked
//! for again.

use crate::component::{SCHEDULER, THREADS};
use crate::manager::Manager;
use crate::memory::Memory;
use cairn::Error;
use cairn_abi::address::PORTAL_CODE;
use cairn_interfaces as interfaces;
use cairn_portal::invocation::{Kind, Walk};
use cairn_portal::literal::LITERAL_RETURN;
use cairn_portals::frames::offsets;

/// An interrupt between a call and the look at its frame leaves its own frame there; then again.
const ATTEMPTS: usize = 16;
/// A wrong top needs an interrupt at a place of a few instructions; twice in a row is no accident.
const LOOKS: usize = 3;

impl Manager {
    /// The calling thread `thread` is in the server, which `client` called, and in this manager,
    /// which the server called.
    pub fn check_inside(&self, thread: u32, client: u8, server: u8) -> Result<(), Error> {
        let memory = self.memory()?;
        let thread = u64::from(thread);
        let call = |caller: u8, callee: u8| {
            (u64::from(caller), Kind::Call { callee: u64::from(callee) }, false)
        };
        let expected = [call(server, self.own), call(client, server)];
        for _ in 0..LOOKS {
            let top = self.top(&memory, thread)?;
            let walk = Walk::of_running(&memory, memory.header.trap_return, thread, top);
            // The topmost frame is that of the call which found it.
            let found = walk.skip(1).map(|frame| (frame.into, frame.kind, frame.dead));
            if found.take(expected.len()).eq(expected) {
                return Ok(());
            }
        }
        Err(Error::NotAllowed)
    }

    /// Return address of one of this domain's own portals.
    fn back(&self, memory: &Memory, first: u32, method: usize) -> u64 {
        let code = memory.entry(self.own, first as usize + method) - PORTAL_CODE;
        memory.code(code.wrapping_add_signed(LITERAL_RETURN))
    }

    /// Offset of the topmost frame of the calling thread while it makes a call from here.
    pub fn top(&self, memory: &Memory, thread: u64) -> Result<u64, Error> {
        let first_back = self.back(memory, THREADS.first_portal(), TIME_USED);
        let second_back = self.back(memory, SCHEDULER.first_portal(), FAULT_SEMAPHORE);
        for _ in 0..ATTEMPTS {
            THREADS.time_used()?;
            let mut before = [0u64; 8];
            for (position, offset) in offsets().enumerate() {
                before[position / 64] |=
                    u64::from(memory.thread_word(thread, offset) == first_back) << (position % 64);
            }
            SCHEDULER.fault_semaphore()?;
            let mut changed = offsets().enumerate().filter(|(position, offset)| {
                before[position / 64] >> (position % 64) & 1 == 1
                    && memory.thread_word(thread, *offset) == second_back
            });
            if let (Some((_, top)), None) = (changed.next(), changed.next()) {
                return Ok(top);
            }
        }
        Err(Error::Busy)
    }
}

/// Place of a method in an interface.
const fn method(interface: &cairn_abi::descriptor::InterfaceDescriptor, name: &str) -> usize {
    let wanted = cairn_abi::descriptor::name(name);
    let mut index = 0;
    while index < interface.method_count as usize {
        let (mut at, mut equal) = (0, true);
        while at < wanted.len() {
            equal &= wanted[at] == interface.methods[index].name[at];
            at += 1;
        }
        if equal {
            return index;
        }
        index += 1;
    }
    panic!("no such method")
}

const TIME_USED: usize = method(&interfaces::ThreadsProxy::DESCRIPTOR, "time_used");
const FAULT_SEMAPHORE: usize =
    method(&interfaces::SchedulerControlProxy::DESCRIPTOR, "fault_semaphore");
