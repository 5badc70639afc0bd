//! Entry points of what the loader asks for.

use super::{Server, with};
use cairn::exclusive::Exclusive;
use cairn::window::ReadWindow;
use cairn::{Caller, Error, InstanceId};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::fork::Quotas;
use cairn_abi::package::HEAD_MAXIMUM;
use cairn_interfaces as interfaces;
use cairn_loader::package::Head;
use core::sync::atomic::{AtomicBool, Ordering};

/// A package's head while an instance is made of it: what others may write meanwhile is checked and used as it was once.
static HEAD: Exclusive<[u8; HEAD_MAXIMUM]> = Exclusive::new([0; HEAD_MAXIMUM]);
static IS_READ: AtomicBool = AtomicBool::new(false);

/// Runs `body` with a package's head, one at a time.
fn with_head<T, E: From<Error>>(
    head: ReadWindow<'_>,
    body: impl FnOnce(&Head) -> Result<T, E>,
) -> Result<T, E> {
    if IS_READ.swap(true, Ordering::Acquire) {
        return Err(Error::Busy.into());
    }
    let made = HEAD.with(|bytes| {
        let head = Head::read(head.copy(bytes)?).map_err(|_| Error::Malformed)?;
        body(&head)
    });
    IS_READ.store(false, Ordering::Release);
    made
}

impl interfaces::DomainMemory for Server {
    fn make(
        &self,
        parent: InstanceId,
        name: ReadWindow<'_>,
        head: ReadWindow<'_>,
    ) -> Result<InstanceId, Error> {
        with_head(head, |head| {
            let mut text = [0; NAME_SIZE];
            let name = name.text(&mut text).map_err(|_| Error::BadArgument)?;
            with(|manager| manager.make(parent, name, head))
        })
    }

    fn make_successor(
        &self,
        caller: Caller,
        parent: InstanceId,
        of: InstanceId,
        head: ReadWindow<'_>,
        in_place: bool,
    ) -> Result<(InstanceId, u64), interfaces::SuccessorError> {
        let in_place = in_place.then_some(caller.0);
        with_head(head, |head| with(|manager| manager.make_successor(parent, of, head, in_place)))
    }

    fn join(&self, successor: InstanceId) -> Result<(), Error> {
        with(|manager| manager.join(successor))
    }

    fn keep_state(
        &self,
        successor: InstanceId,
        from: u64,
        to: u64,
        pages: u64,
    ) -> Result<(), Error> {
        with(|manager| manager.keep_state(successor, (from, to), pages))
    }

    fn prepare_place(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.prepare_place(instance))
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

    fn fork(
        &self,
        parent: InstanceId,
        name: ReadWindow<'_>,
        begins: u64,
        stack: u64,
        quotas: u64,
    ) -> Result<InstanceId, Error> {
        let mut text = [0; NAME_SIZE];
        let name = name.text(&mut text).map_err(|_| Error::BadArgument)?;
        with(|manager| manager.fork(parent, name, (begins, stack), Quotas::of(quotas)))
    }

    fn retire(&self, instance: InstanceId) -> Result<(), Error> {
        with(|manager| manager.retire(instance))
    }
}
