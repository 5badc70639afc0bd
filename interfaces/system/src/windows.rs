//! Windows that last longer than a call, and windows that hand pages over.

use cairn::{Caller, Error, InstanceId};

/// What the memory manager does with pages that the caller [allocated](super::Memory::allocate): they are lent, or change their owner.
#[cairn::interface]
pub trait Windows {
    /// Opens a lasting window on pages of the caller's, at most 16, which stay where they are: the value names it, as the
    /// address of a section that `Memory::share` offers, and another maps by `Memory::accept`, at its own expense. Whoever has it closes it by
    /// `Memory::drop_section`, without asking the others; if its owner does while others have it, they keep the pages, and it goes on with a
    /// copy. `Busy`: a page is in a window, or another thread is at work on a section. No thread may use the pages meanwhile.
    fn lend(&self, caller: Caller, address: u64, pages: u64) -> Result<u64, Error>;
    /// Tears pages of the caller's off, at most 64, for another instance, which takes them: the value is what it takes them by. They are
    /// unmapped at once, not copied, and the caller pays for them until they are taken. `Busy` as with `lend`.
    fn tear(
        &self,
        caller: Caller,
        address: u64,
        pages: u64,
        with: InstanceId,
    ) -> Result<u64, Error>;
    /// Takes pages that an instance tore off for the caller, or those that the caller tore off itself and nobody has taken: where they are now, and
    /// how many. They are the caller's, as if it had allocated them. `from` is whom it expects them of: what others pass on as theirs
    /// is `NotAllowed`. `NotFound`: there are no such pages, or not any more.
    fn take_torn(&self, caller: Caller, torn: u64, from: InstanceId) -> Result<(u64, u64), Error>;
}

/// Pages on their way to another owner, as a parameter or value of a method: a write that tears pages off has it as a parameter, a read as its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct Torn {
    /// By which they are taken.
    pub name: u64,
}

pub use safe::{Joined, Lent};

/// The use of lent and torn pages by safe code.
mod safe {
    use super::{Torn, WindowsProxy};
    use crate::{MemoryProxy, Pages};
    use cairn::abi::address::PAGE_SIZE;
    use cairn::section::Section;
    use cairn::{Error, InstanceId};
    use core::ops::Deref;

    /// Pages of one's own on which a window is open for others, until this is dropped.
    pub struct Lent {
        memory: MemoryProxy,
        pages: Pages,
        window: u64,
    }

    /// A window on another's pages, until this is dropped.
    pub struct Joined {
        memory: MemoryProxy,
        section: Section,
        owner: InstanceId,
    }

    impl Pages {
        /// Opens a lasting window on them. If it fails, they are given back.
        pub fn lend(self, windows: &WindowsProxy) -> Result<Lent, Error> {
            let (address, pages) = (self.address() as u64, self.size() as u64 / PAGE_SIZE);
            let window = windows.lend(address, pages)?;
            Ok(Lent { memory: self.memory(), pages: self, window })
        }

        /// Tears them off for another instance. If it fails, they are given back.
        pub fn tear(self, windows: &WindowsProxy, with: InstanceId) -> Result<Torn, Error> {
            let (address, pages) = (self.address() as u64, self.size() as u64 / PAGE_SIZE);
            let name = windows.tear(address, pages, with)?;
            // They are not this instance's any more.
            core::mem::forget(self);
            Ok(Torn { name })
        }
    }

    impl Lent {
        /// By what another joins it.
        pub fn name(&self) -> u64 {
            self.window
        }

        /// Lets another instance join it, once, to read or to write too.
        pub fn share(&self, with: InstanceId, writable: bool) -> Result<(), Error> {
            self.memory.share(self.window, with, writable)
        }

        /// Closes it. The pages are as they were, or copies, where others have it still.
        pub fn close(self) -> Result<Pages, Error> {
            self.memory.drop_section(self.window)?;
            let lent = core::mem::ManuallyDrop::new(self);
            let (address, pages) =
                (lent.pages.address() as u64, lent.pages.size() as u64 / PAGE_SIZE);
            self::Pages::given(lent.memory, address, pages)
        }
    }

    impl Deref for Lent {
        type Target = Section;
        fn deref(&self) -> &Section {
            &self.pages
        }
    }

    impl Drop for Lent {
        fn drop(&mut self) {
            // Before its pages go back. It fails only while another thread is at work on a section: then they stay until this
            // instance ends.
            let _ = self.memory.drop_section(self.window);
        }
    }

    impl MemoryProxy {
        /// Joins a window that another instance lent and offered: `NotAllowed` if it is not `owner`'s.
        pub fn join(
            &self,
            window: u64,
            owner: InstanceId,
            writable: bool,
        ) -> Result<Joined, Error> {
            let (pages, whose) = self.accept(window)?;
            let section = Section::of_window(window, pages, writable).ok_or(Error::Malformed);
            let joined = section.map(|section| Joined { memory: *self, section, owner: whose })?;
            if whose == owner { Ok(joined) } else { Err(Error::NotAllowed) }
        }

        /// Takes pages that an instance tore off, or one's own that nobody took.
        pub fn take(
            &self,
            windows: &WindowsProxy,
            torn: Torn,
            from: InstanceId,
        ) -> Result<Pages, Error> {
            let (address, pages) = windows.take_torn(torn.name, from)?;
            Pages::given(*self, address, pages)
        }
    }

    impl Joined {
        /// Whose pages they are.
        pub fn owner(&self) -> InstanceId {
            self.owner
        }
    }

    impl Deref for Joined {
        type Target = Section;
        fn deref(&self) -> &Section {
            &self.section
        }
    }

    impl Drop for Joined {
        fn drop(&mut self) {
            // It fails only while another thread is at work on a section; then it lasts until this instance ends.
            let _ = self.memory.drop_section(self.section.address() as u64);
        }
    }
}
