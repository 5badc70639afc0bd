//! The content of an instance that cannot end and live again gives way to another: of one that runs to completion, which threads enter all the time, or of the one that
//! idles, whose thread runs when no other can. Both are in its domain until all portals lead to the other, or the thread is there. See [`super::successor`].

use crate::live::Entry;
use crate::manager::Manager;
use crate::numbers::Stage;
use crate::tables;
use cairn_abi::address::{PAGE_SIZE, STARTUP_OFFSET};
use cairn_abi::record::{CONTENT_GROWTH, Instance, Method};
use cairn_abi::{Error, InstanceId};
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

impl<'a> Manager<'a> {
    /// Whether an instance gives way to its successor, which is beside it then.
    pub(super) fn gives_way(&self, record: Entry<Instance>) -> bool {
        record.run_to_completion() != 0 || self.idles(record)
    }

    /// Whether its thread runs when no other does.
    pub(super) fn idles(&self, record: Entry<Instance>) -> bool {
        let mut threads = self.record.threads.iter();
        threads.any(|thread| thread.idle() != 0 && thread.instance() == record.number())
    }

    /// Maps the content of a whole successor beside that of the instance, or takes it out of there again: what the successor's number has in one of the two domains it has
    /// in the other one then. `NotSupported`: it does not give way so, or something is there already.
    pub fn attach(&self, instance: InstanceId, successor: InstanceId) -> Result<(), Error> {
        self.with_succession(instance, successor, |ours, theirs| {
            self.each_own_page(ours, theirs, |one, other| {
                match one.load(Relaxed) == 0 || other.load(Relaxed) == 0 {
                    true => Ok(()),
                    false => Err(Error::NotSupported),
                }
            })?;
            self.each_own_page(ours, theirs, |one, other| {
                tables::exchange(one, other);
                Ok(())
            })?;
            self.settle();
            Ok(())
        })
    }

    /// What the record says of both, and the startup page, become each other's; the pages stay where they are.
    pub(super) fn exchange_running(
        &self,
        ours: Entry<Instance>,
        theirs: Entry<Instance>,
    ) -> Result<(), Error> {
        let slots = (self.places(ours.number())?, self.places(theirs.number())?);
        let startups = (self.startup(ours)?, self.startup(theirs)?);
        let page = |of: Entry<Instance>| {
            let at = of.start_address() + STARTUP_OFFSET;
            self.tables.find(self.root_of(of)?, at).ok_or(Error::NotFound)
        };
        let (one, other) = (page(ours)?, page(theirs)?);
        super::successor::keep(startups.0, startups.1);
        tables::exchange(one, other);
        self.exchange_record((ours, theirs), slots);
        self.settle();
        Ok(())
    }

    /// Methods of an instance that runs to completion begin elsewhere, as pairs say.
    pub fn repoint(
        &self,
        instance: InstanceId,
        pairs: impl Iterator<Item = (u64, u64)> + Clone,
    ) -> Result<(), Error> {
        if self.record(instance)?.run_to_completion() == 0 {
            return Err(Error::NotSupported);
        }
        for export in self.exports_of(instance) {
            let numbers = export.first_method..export.first_method + export.method_count;
            for method in numbers.filter_map(|number| self.record.methods.get(number as usize)) {
                let to = pairs.clone().find(|(from, _)| *from == method.entry());
                if let Some((_, to)) = to {
                    method.set(offset_of!(Method, entry), to);
                }
            }
        }
        Ok(())
    }

    /// An instance that gives way, and a successor that is whole.
    fn with_succession(
        &self,
        instance: InstanceId,
        successor: InstanceId,
        body: impl FnOnce(Entry<Instance>, Entry<Instance>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let number = self.state.numbers.get(successor)?;
        number.take(Stage::Made)?;
        let result = self.record(instance).and_then(|ours| {
            let theirs = self.place(successor)?;
            if theirs.successor_of() != instance || theirs.memory_used() == 0 {
                return Err(Error::BadArgument);
            }
            if self.gives_way(ours) { body(ours, theirs) } else { Err(Error::NotSupported) }
        });
        number.set(Stage::Made);
        result
    }

    /// The page-table entries, in the domain of an instance and in that of its successor, of all pages of the successor's.
    fn each_own_page(
        &self,
        ours: Entry<Instance>,
        theirs: Entry<Instance>,
        mut body: impl FnMut(
            super::successor::Word<'a>,
            super::successor::Word<'a>,
        ) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let roots = (self.root_of(ours)?, self.root_of(theirs)?);
        let starts = (ours.start_address(), theirs.start_address());
        let number = theirs.number();
        let segments = self.record.segments.part(self.places(number)?.segments);
        let own = segments
            .filter(|segment| segment.instance() == number && segment.content() != CONTENT_GROWTH);
        for segment in own {
            for offset in (0..segment.size()).step_by(PAGE_SIZE as usize) {
                let offset = segment.address() - starts.1 + offset;
                let one = self.tables.find(roots.0, starts.0 + offset);
                let other = self.tables.find(roots.1, starts.1 + offset);
                let (Some(one), Some(other)) = (one, other) else {
                    return Err(Error::NotSupported);
                };
                body(one, other)?;
            }
        }
        Ok(())
    }
}
