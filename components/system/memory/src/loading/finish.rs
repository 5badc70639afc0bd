//! An instance that is made has all of its content: it can be reached from now on.

use crate::manager::Manager;
use crate::numbers::Stage;
use crate::tables::{self, RESERVED, Root};
use cairn_abi::address::{PAGE_SIZE, READY_OFFSET, STARTUP_OFFSET};
use cairn_abi::record::{CONTENT_DATA, Instance, Segment};
use cairn_abi::{Error, InstanceId};
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

impl Manager<'_> {
    /// All content is there, the startup page too (`BadArgument` if not). What its data begins with is kept for a restart, within its quota.
    pub fn finish(&self, instance: InstanceId) -> Result<(), Error> {
        let number = self.state.numbers.get(instance)?;
        number.take(Stage::Made)?;
        let result = self.complete(instance);
        // A successor is no instance.
        let is_whole = result == Ok(true);
        number.set(if is_whole { Stage::Whole } else { Stage::Made });
        result.map(drop)
    }

    /// Whether it is an instance now.
    fn complete(&self, instance: InstanceId) -> Result<bool, Error> {
        let (record, slot) = (self.place(instance)?, self.places(instance)?);
        let root = self.tables.root(record.space()).ok_or(Error::NotFound)?;
        let segments = || {
            let segments = self.record.segments.part(slot.segments);
            segments.filter(|entry| entry.instance() == instance)
        };
        let is_there = |address| {
            let entry = self.tables.find(root, address);
            entry.is_some_and(|entry| entry.load(Relaxed) != 0)
        };
        let startup = record.start_address() + STARTUP_OFFSET;
        let mut pages = segments().flat_map(|segment| {
            let (first, size) = (segment.address(), segment.size());
            (first..first + size).step_by(PAGE_SIZE as usize)
        });
        if !is_there(startup) || !pages.all(is_there) {
            return Err(Error::BadArgument);
        }
        for entry in segments().filter(|entry| entry.content() == CONTENT_DATA) {
            let list = self.keep_content(instance, root, &entry.read())?;
            entry.set(offset_of!(Segment, initial), list);
        }
        let ready = self.tables.find(root, record.start_address() + READY_OFFSET);
        if let (Some(ready), Some(startup)) = (ready, self.tables.find(root, startup))
            && ready.load(Relaxed) == RESERVED as i64
        {
            ready.store(startup.load(Relaxed), Relaxed);
        }
        let pages = self.state.numbers.get(instance)?.pages.load(Relaxed);
        record.set(offset_of!(Instance, memory_used), u64::from(pages) * PAGE_SIZE);
        if record.successor_of() != InstanceId(0) {
            return self.finish_successor(record).map(|()| false);
        }
        self.add_domain(instance)?;
        // One that is started by a call sleeps as long as nobody calls.
        tables::set_reachable(self.reach(instance)?, record.on_demand() == 0);
        self.settle();
        Ok(true)
    }

    /// Keeps what a segment of data begins with; the list of it.
    fn keep_content(
        &self,
        instance: InstanceId,
        root: Root,
        segment: &Segment,
    ) -> Result<u64, Error> {
        if segment.initial != 0 {
            // It did not fit before.
            return Err(Error::Exhausted);
        }
        let quota = self.place(instance)?.memory();
        let take = || {
            self.add_page(instance, quota)?;
            self.take_frame()
        };
        let mut list = 0;
        for page in 0..segment.size / PAGE_SIZE {
            let words = PAGE_SIZE / 8;
            let content = self.content(root, segment, page * words, words);
            if let Err(error) = self.keep(&mut list, page, content, take) {
                self.note_list(instance, segment, list);
                return Err(error);
            }
        }
        Ok(list)
    }

    /// Notes a list that did not become whole, so that it is given back with the instance.
    fn note_list(&self, instance: InstanceId, segment: &Segment, list: u64) {
        let Ok(slot) = self.places(instance) else { return };
        let mut entries = self.record.segments.part(slot.segments);
        if let Some(entry) = entries.find(|entry| entry.address() == segment.address) {
            entry.set(offset_of!(Segment, initial), list);
        }
    }
}
