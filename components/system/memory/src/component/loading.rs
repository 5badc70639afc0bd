//! Entry points of what the loader asks for.

use super::{Server, with};
use cairn::exclusive::Exclusive;
use cairn::window::ReadWindow;
use cairn::{Caller, Error, InstanceId};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::package::HEAD_MAXIMUM;
use cairn_interfaces as interfaces;
use cairn_loader::package::Head;
use core::sync::atomic::{AtomicBool, Ordering};

/// A package's head while an instance is made of it: what others may write meanwhile is checked and used as it was once.
static HEAD: Exclusive<[u8; HEAD_MAXIMUM]> = Exclusive::new([0; HEAD_MAXIMUM]);
static IS_READ: AtomicBool = AtomicBool::new(false);

impl interfaces::DomainMemory for Server {
    fn make(
        &self,
        parent: InstanceId,
        name: ReadWindow<'_>,
        head: ReadWindow<'_>,
    ) -> Result<InstanceId, Error> {
        if IS_READ.swap(true, Ordering::Acquire) {
            return Err(Error::Busy);
        }
        let made = HEAD.with(|bytes| {
            let head = Head::read(head.copy(bytes)?).map_err(|_| Error::Malformed)?;
            let mut text = [0; NAME_SIZE];
            let name = name.text(&mut text).map_err(|_| Error::BadArgument)?;
            with(|manager| manager.make(parent, name, &head))
        });
        IS_READ.store(false, Ordering::Release);
        made
    }

    fn give(
        &self,
        caller: Caller,
        instance: InstanceId,
        offset: u64,
        address: u64,
        pages: u64,
        content: u16,
    ) -> Result<(), Error> {
        with(|manager| manager.give(caller.0, instance, (offset, address), pages, content))
    }

    fn finish(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.finish(instance))
    }

    fn retire(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.retire(instance))
    }
}
