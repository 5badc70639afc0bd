//! The memory manager.

use cairn::{Caller, DomainId, Error, InstanceId};

/// What every component may ask for, within its quota.
#[cairn::interface]
pub trait Memory {
    /// Maps `pages` zeroed pages into the caller's region; the value is their address.
    fn allocate(&self, caller: Caller, pages: u64) -> Result<u64, Error>;
    /// Takes pages back that `allocate` gave.
    fn free(&self, caller: Caller, address: u64, pages: u64) -> Result<(), Error>;
    /// Makes a section of `pages` pages that the caller and others, to whom it is offered by `share`,
    /// map at the same address; the value is the address. Each instance that maps a section, its maker and those
    /// who accepted it, pays for it in its own quota, with one page more, as long as it maps it; and maps at most
    /// its part of sections at a time (8 in systems of up to 32 instances, and those of `sections_at_run_time` in its description). `Busy` here and below: another thread
    /// of the caller's domain is at work on a section.
    fn make_section(&self, caller: Caller, pages: u64) -> Result<u64, Error>;
    /// Offers a section of the caller's to another instance, to read or to write too. One that takes part stays as
    /// long as it likes, at its own expense.
    fn share(
        &self,
        caller: Caller,
        section: u64,
        with: InstanceId,
        writable: bool,
    ) -> Result<(), Error>;
    /// Maps a section that its maker offered to the caller: its number of pages, and its maker. `Exhausted`: the caller's quota or part of sections does not hold it; the offer stays.
    fn accept(&self, caller: Caller, section: u64) -> Result<(u64, InstanceId), Error>;
    /// Unmaps a section. Its memory goes back when the last has left it.
    fn drop_section(&self, caller: Caller, section: u64) -> Result<(), Error>;
    /// Maps zeroed pages at addresses into which the caller's heap or stack grows (`heap_limit` and `stack_limit` of its description); they
    /// stay until it ends. `BadArgument`: it has no such addresses there; `Busy`: a page is there already.
    fn extend(&self, caller: Caller, address: u64, pages: u64) -> Result<(), Error>;
}

/// What the supervisor asks for.
#[cairn::interface]
pub trait MemoryControl {
    /// A thread of `domain` had a page fault at `address` (`cause` is the machine's number) that no pager has mended, or that
    /// is in no pager's range: whether the manager mends it. `NotFound`: it does not.
    fn page_fault(&self, domain: DomainId, address: u64, cause: u64) -> Result<(), Error>;
    /// The instance dies: its memory is unmapped, so that a thread that enters it faults.
    fn kill(&self, instance: InstanceId) -> Result<(), Error>;
    /// Takes a `kill` back after which nothing was done: the instance's memory is mapped as before.
    fn bring_back(&self, instance: InstanceId) -> Result<(), Error>;
    /// One step of giving back what a dead instance allocated: 0 first, then what it answers, until 0. No
    /// invocation stack may name it any more.
    fn release(&self, instance: InstanceId, cursor: u64) -> Result<u64, Error>;
    /// The same of one that gets other content. What a pager allocated stays, as its clients have it, until a life of it ends otherwise. Which of the
    /// two it is says the step with the cursor 0.
    fn release_for_successor(&self, instance: InstanceId, cursor: u64) -> Result<u64, Error>;
    /// One step, in the same way, of making the memory of a dead instance, after `release`, as it was at the
    /// start: data again as in the image, the rest zero. `but_stacks`: those on which clients' threads run stay as they are, since
    /// some may have come already, with what they bring.
    fn renew(&self, instance: InstanceId, cursor: u64, but_stacks: bool) -> Result<u64, Error>;
    /// Exchanges the content of a dead instance, after `release`, and that of its successor (`DomainMemory::make_successor`), which is whole. Its clients'
    /// stacks, what the description gave it and its log stay.
    fn exchange(&self, instance: InstanceId, successor: InstanceId) -> Result<(), Error>;
    /// Of an instance that runs to completion, while it runs: the content that the successor's number has is in the domain of the instance too, beside the
    /// instance's own; or is there no more. Nobody is led there by that.
    fn attach(&self, instance: InstanceId, successor: InstanceId) -> Result<(), Error>;
    /// Its methods begin elsewhere: where one began at the first address of a pair, at the second. Pairs are words, little-endian.
    fn repoint(&self, instance: InstanceId, pairs: &[u8]) -> Result<(), Error>;
    /// After `renew`: the next life begins; a thread that enters it finds its memory, but, if its callers wait until it serves, not the
    /// page by which it says so.
    fn revive(&self, instance: InstanceId) -> Result<(), Error>;
    /// An instance serves: maps that page.
    fn serves(&self, instance: InstanceId) -> Result<(), Error>;
    /// Copies whole words of an instance's memory, of a dead one's too. They lie in one page. `NotFound`: there is no memory, or it
    /// is a device's registers.
    fn peek(&self, instance: InstanceId, address: u64, words: &mut [u8]) -> Result<(), Error>;
}

/// What may be known of memory; asking changes nothing.
#[cairn::interface]
pub trait MemoryStatistics {
    /// Free pages, and all pages.
    fn usage(&self) -> Result<(u64, u64), Error>;
    /// Pages that an instance has, and its quota.
    fn usage_of(&self, instance: InstanceId) -> Result<(u64, u64), Error>;
    /// One step of measuring the memory of an instance, part by part: 0 first, then the last answer's `next`; `NotFound` behind
    /// the last part.
    fn measure(&self, instance: InstanceId, at: u64) -> Result<MemoryPart, Error>;
}

/// A part of an instance's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct MemoryPart {
    /// Where the next step begins.
    pub next: u64,
    /// What it is for.
    pub content: MemoryContent,
    /// Its bytes; zero: the next step goes on with it.
    pub size: u64,
    /// As many of them were used at most, since the instance was started: of a stack down to its deepest word that is not zero, of a
    /// heap up to its highest. The instance can write what it likes there, so this tells of none that is hostile.
    pub used: u64,
}

/// What a part of an instance's memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub enum MemoryContent {
    /// Machine code.
    Text,
    /// Constants.
    Constants,
    /// Data, memory for DMA included.
    Data,
    /// Its heap.
    Heap,
    /// The stack of its first thread.
    Stack,
    /// A stack on which its clients' threads run.
    ClientStack,
    /// The stack of a thread that it started, a part of its data.
    ThreadStack,
    /// What it gets at run time: `size` as its quota has it, `used` now.
    RunTime,
}

pub use pages::Pages;

/// The use of pages by safe code.
mod pages {
    use super::MemoryProxy;
    use cairn::Error;
    use cairn::abi::address::PAGE_SIZE;
    use cairn::section::Section;
    use core::ops::Deref;

    /// Zeroed pages of one's own, which go back when this is dropped. They are read and written as a
    /// section is.
    pub struct Pages {
        memory: MemoryProxy,
        section: Section,
    }

    impl MemoryProxy {
        /// Pages for this instance, within its quota.
        pub fn pages(&self, pages: u64) -> Result<Pages, Error> {
            Pages::given(*self, self.allocate(pages)?, pages)
        }
    }

    impl Pages {
        /// Pages that the memory manager gave in another way than by `allocate`.
        pub(crate) fn given(memory: MemoryProxy, address: u64, pages: u64) -> Result<Pages, Error> {
            let section = Section::of_pages(address, pages).ok_or(Error::Malformed)?;
            Ok(Pages { memory, section })
        }

        /// Where they came from.
        pub(crate) fn memory(&self) -> MemoryProxy {
            self.memory
        }
    }

    impl Deref for Pages {
        type Target = Section;
        fn deref(&self) -> &Section {
            &self.section
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // It fails only while a window is open on them; then they stay until this instance ends.
            let _ = self
                .memory
                .free(self.section.address() as u64, self.section.size() as u64 / PAGE_SIZE);
        }
    }
}
