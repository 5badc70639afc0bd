//! The scheduler gives way to another, while threads run, wait and hold locks. It cannot end and live again, as other instances do when they are replaced, since
//! nobody would run meanwhile. So the other's content comes into its domain, and portals lead to a [face](cairn::succession) of the
//! old one; when all do, one word is changed in the operation in which the other takes over; then portals lead to that, and the old content goes.
//!
//! The worker does all of it, with interrupts on but for that one operation.
//!
//! The interrupt dispatcher gives way in the same manner, but needs no face: what it knows is in the record and in the controller, so it makes no
//! difference which of the two an interrupt finds as long as both are there. And the thread that idles begins anew in the other content, by an operation in which it does not run.

use crate::component as imports;
use crate::system::System;
use cairn::exclusive::Exclusive;
use cairn::succession::{PLACE_SIZE, PLACES};
use cairn::time::{now, ticks};
use cairn::{Error, InstanceId};
use cairn_abi::descriptor::is_name;
use cairn_abi::record::{Export, Instance, Method};
use cairn_interfaces::PAIRS_SIZE;
// Relaxed: one hart; the worker alone writes it.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Between two steps.
const PAUSE_MICROSECONDS: u64 = 10;

/// For how long interrupts were off the last time, by the run clock.
pub static INTERRUPTS_OFF: AtomicU64 = AtomicU64::new(0);

/// Of the one that is under way.
static WAY: Exclusive<Way> = Exclusive::new(Way {
    face: 0,
    own: [0; PLACES],
    successors: [0; PLACES],
    count: 0,
    pairs: [0; PAIRS_SIZE],
});

/// Where methods begin.
#[derive(Clone, Copy)]
enum Methods {
    Own,
    Face,
    Successors,
}

/// Where the methods of both begin, and the places of the face in between; and what of it is to be changed.
struct Way {
    face: u64,
    own: [u64; PLACES],
    successors: [u64; PLACES],
    count: usize,
    pairs: [u8; PAIRS_SIZE],
}

impl Way {
    /// Where the method of this number begins.
    fn entry(&self, methods: Methods, number: usize) -> u64 {
        match methods {
            Methods::Own => self.own[number % PLACES],
            Methods::Face => self.face + number as u64 * PLACE_SIZE,
            Methods::Successors => self.successors[number % PLACES],
        }
    }

    /// What begins at the first is to begin at the second, and so are these others.
    fn pairs(&mut self, from: Methods, to: Methods, others: &[(u64, u64)]) -> &[u8] {
        for number in 0..self.count + others.len() {
            let other = number.checked_sub(self.count).and_then(|other| others.get(other));
            let (from, to) =
                other.copied().unwrap_or((self.entry(from, number), self.entry(to, number)));
            if let Some(place) = self.pairs.as_chunks_mut::<16>().0.get_mut(number) {
                place[..8].copy_from_slice(&from.to_le_bytes());
                place[8..].copy_from_slice(&to.to_le_bytes());
            }
        }
        &self.pairs[..((self.count + others.len()) * 16).min(PAIRS_SIZE)]
    }

    /// Lets the record of the scheduler, and then all portals, lead from the first to the second.
    fn lead(&mut self, scheduler: InstanceId, from: Methods, to: Methods) -> Result<(), Error> {
        let pairs = self.pairs(from, to, &[]);
        imports::MEMORY.repoint(scheduler, pairs)?;
        lead_portals(pairs)
    }
}

/// Lets all portals lead elsewhere, in steps between which others have their turn: whoever calls is served all the time.
fn lead_portals(pairs: &[u8]) -> Result<(), Error> {
    let portals = imports::DOMAIN_PORTALS.get().ok_or(Error::NotSupported)?;
    let mut step = 0;
    loop {
        step = portals.repoint(pairs, step)?;
        if step == 0 {
            return Ok(());
        }
        imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS))?;
    }
}

impl System {
    /// Lets another content take over from one that [gives way](System::gives_way), which the number `successor` has. After an error the former goes on.
    pub fn succeed(&self, record: &'static Instance, successor: InstanceId) -> Result<(), Error> {
        match self.scheduler() {
            _ if self.idles(record) => self.idle_by(record, successor),
            Some(domain) if domain == record.domain => {
                WAY.with(|way| self.succeed_by(way, record, successor))
            }
            _ => WAY.with(|way| self.dispatch_by(way, record, successor)),
        }
    }

    fn idle_by(&self, record: &'static Instance, successor: InstanceId) -> Result<(), Error> {
        let number = record.number;
        imports::MEMORY.attach(number, successor)?;
        let taken = imports::MEMORY.exchange(number, successor).and_then(|()| {
            // Of what the record says now.
            let begun = imports::CONTROL.idle_anew(number, record.main, record.stack);
            begun.inspect_err(|_| {
                let back = imports::MEMORY.exchange(number, successor);
                self.expect("exchange back", record, back);
            })
        });
        let left = imports::MEMORY.attach(number, successor);
        self.expect("succeed", record, left);
        taken
    }

    fn dispatch_by(
        &self,
        way: &mut Way,
        record: &'static Instance,
        successor: InstanceId,
    ) -> Result<(), Error> {
        let (number, other) = (record.number, self.instance(successor).ok_or(Error::BadArgument)?);
        self.find_methods(way, number, successor)?;
        imports::MEMORY.attach(number, successor)?;
        // Before they are each other's.
        let others = [(record.stub, other.stub), (record.stack, other.stack)];
        let pairs = way.pairs(Methods::Own, Methods::Successors, &others);
        let taken = imports::MEMORY.exchange(number, successor);
        let led = if taken.is_ok() { lead_portals(pairs) } else { Ok(()) };
        // Nobody enters what the number has now.
        let left = led.and_then(|()| imports::MEMORY.attach(number, successor));
        self.expect("succeed", record, left);
        taken
    }

    fn succeed_by(
        &self,
        way: &mut Way,
        scheduler: &'static Instance,
        successor: InstanceId,
    ) -> Result<(), Error> {
        let (number, other) =
            (scheduler.number, self.instance(successor).ok_or(Error::BadArgument)?);
        way.face = imports::CONTROL.face()?;
        let entry = self.find_methods(way, number, successor)?.ok_or(Error::NotSupported)?;
        for place in 0..way.count {
            let (own, successors) = (way.own[place], way.successors[place]);
            imports::CONTROL.lead(place as u64, own, successors)?;
        }
        imports::MEMORY.attach(number, successor)?;
        let taken = imports::CONTROL
            .prepare_succession(entry)
            .and_then(|()| way.lead(number, Methods::Own, Methods::Face))
            .and_then(|()| imports::CONTROL.succeed_by(entry));
        let led = match taken {
            Ok(interrupts_off) => {
                INTERRUPTS_OFF.store(interrupts_off, Relaxed);
                // Before they are each other's.
                let others = [(scheduler.stub, other.stub), (scheduler.stack, other.stack)];
                let pairs = way.pairs(Methods::Face, Methods::Successors, &others);
                imports::MEMORY.exchange(number, successor).and_then(|()| lead_portals(pairs))
            }
            Err(_) => way.lead(number, Methods::Face, Methods::Own),
        };
        // Whatever the number has now, nobody enters.
        let left = led.and_then(|()| imports::MEMORY.attach(number, successor));
        self.expect("succeed", scheduler, left);
        taken.map(drop)
    }

    /// Finds the methods of both, and, of schedulers, the one by which the other takes over.
    fn find_methods(
        &self,
        way: &mut Way,
        former: InstanceId,
        successor: InstanceId,
    ) -> Result<Option<u64>, Error> {
        let exports = |of: InstanceId| self.exports.iter().filter(move |one| one.instance == of);
        let mut succeed = None;
        way.count = 0;
        for export in exports(former) {
            let same =
                |other: &&Export| (other.name, other.version) == (export.name, export.version);
            let other = exports(successor).find(same).ok_or(Error::VersionMismatch)?;
            for (method, other) in self.methods_of(export).iter().zip(self.methods_of(other)) {
                let place = way.own.get_mut(way.count).zip(way.successors.get_mut(way.count));
                let (own, successors) = place.ok_or(Error::TooLarge)?;
                (*own, *successors) = (method.entry, other.entry);
                way.count += 1;
                if is_name(&method.name, b"succeed") && is_name(&export.interface, b"Supervision") {
                    succeed = Some(other.entry);
                }
            }
        }
        Ok(succeed)
    }

    fn methods_of(&self, export: &Export) -> &'static [Method] {
        let first = export.first_method as usize;
        self.methods.get(first..first + export.method_count as usize).unwrap_or(&[])
    }
}
