//! What the record says of an instance that is loaded.

use super::{New, rights};
use crate::live::Entry;
use crate::manager::Manager;
use cairn_abi::InstanceId;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::{NAME_SIZE, Name};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::loadable::Entries;
use cairn_abi::package::NONE;
use cairn_abi::record::*;
use cairn_abi::semaphore::{LOCK_PORTALS, SEMAPHORE_PORTALS};
use cairn_loader::placement::Placement;
use core::mem::offset_of;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;

fn name(text: &str) -> Name {
    let mut name = [0; NAME_SIZE];
    name.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
    name
}

/// An activation of a new instance, which no client has: where the page-table entries of its windows are.
pub(super) fn write_activation(place: Entry<Activation>, instance: InstanceId, windows: u64) {
    let index = place.index();
    let (queue, client) = (u32::MAX, InstanceId(0));
    place.write(&Activation { index, queue, instance, client, reserved: 0, windows });
}

impl Manager<'_> {
    /// Writes the entry of an instance, its activations and its segments.
    pub(super) fn write_record(&self, new: &New) {
        let (numbers, record) = (new.head.numbers(), &new.record);
        let at = new.placement.image().start;
        let image = new.linked(at);
        let kept = numbers.semaphores + numbers.locks + numbers.portals;
        let portals =
            numbers.semaphores * SEMAPHORE_PORTALS + numbers.locks * LOCK_PORTALS + numbers.portals;
        let stack = new.placement.stacks().next().map_or(0, |stack| stack.end);
        let entry = Instance {
            float: numbers.float.into(),
            on_demand: numbers.on_demand,
            callers_wait: numbers.says_ready & numbers.callers_wait,
            priority: numbers.priority.into(),
            restart: numbers.restart.into(),
            essential: 0,
            first_thread: u32::MAX,
            threads: numbers.threads,
            semaphores: numbers.semaphores,
            locks: numbers.locks,
            per_client: numbers.per_client,
            stack_group: u32::MAX,
            first_export: new.slot.exports.first,
            export_count: numbers.counts.exports,
            leader: new.number,
            successor_of: new.linked.map_or(InstanceId(0), |linked| linked.of),
            next_fellow: InstanceId(0),
            idle_stop: numbers.idle_stop,
            blocks: kept.into(),
            portals: portals.into(),
            main: if numbers.main == NONE { 0 } else { image + u64::from(numbers.main) },
            stub: image + u64::from(numbers.stub),
            package: image,
            package_hash: numbers.hash.first_chunk().map_or(0, |first| u64::from_be_bytes(*first)),
            stack: new.linked(stack),
            ..*record
        };
        self.write_segments(new, new.address(at));
        // A successor has the clients' stacks of its predecessor.
        let activations = new.linked.map_or(new.slot.activations, |_| Entries::default());
        let activations = self.record.activations.part(activations);
        for (stack, activation) in new.placement.stacks().zip(activations) {
            let windows = Placement::windows(stack.end) / PAGE_SIZE * 8;
            write_activation(activation, new.number, record.entries + windows);
        }
        if let Ok(place) = self.place(new.number) {
            place.write(&entry);
            // There is one when all the rest is there.
            place.set(offset_of!(Instance, number), new.number);
        }
    }

    fn write_segments(&self, new: &New, image: u64) {
        let segment = |content, address, size| Segment {
            instance: new.number,
            content,
            flags: rights(content) as u32,
            address,
            size,
            physical: 0,
            initial: 0,
        };
        let of_image = new.head.segments();
        let of_image = of_image.map(|one| segment(one.content, image + one.offset, one.size));
        let heap = new.placement.heap();
        let heap = Some(segment(CONTENT_HEAP, new.address(heap.start), heap.end - heap.start));
        let mut stacks = new.placement.stacks().enumerate().map(|(place, stack)| {
            let content = if place == 0 { CONTENT_STACK } else { CONTENT_CLIENT_STACK };
            segment(content, new.address(stack.start), stack.end - stack.start)
        });
        let heap = heap.filter(|heap| heap.size > 0);
        let content = of_image.chain(heap).chain(stacks.next());
        for (place, segment) in self.record.segments.part(new.slot.segments).zip(content) {
            place.write(&segment);
        }
        for (place, segment) in self.record.segments.part(new.slot.stacks).zip(stacks) {
            place.write(&segment);
        }
    }

    /// Writes the exports with their methods. Policies name instances that are there.
    pub(super) fn write_exports(&self, new: &New) {
        let image = new.linked(new.placement.image().start);
        let mut methods = self.record.methods.part(new.slot.methods);
        let mut first_method = new.slot.methods.first;
        let mut text = new.slot.text.range();
        for (place, export) in self.record.exports.part(new.slot.exports).zip(new.head.exports()) {
            let mut count = 0;
            for (method, place) in export.methods().zip(&mut methods) {
                count += 1;
                let meanings = self.write_text(&mut text, method.meanings.as_bytes());
                place.write(&Method {
                    name: name(method.name()),
                    letters: method.letters,
                    value: method.value,
                    entry: image + method.entry,
                    meanings: meanings.unwrap_or_default(),
                    meanings_length: meanings.map_or(0, |_| method.meanings.len() as u32),
                });
            }
            place.write(&Export {
                name: name(export.name()),
                interface: name(export.interface()),
                version: export.version,
                instance: new.number,
                is_object: export.is_object.into(),
                is_added: 0,
                first_method,
                method_count: count,
                longest_execution: export.longest_execution,
                longest_call: export.longest_call,
                cancelled_for: export.cancelled_for,
                open: self.open(export.policy),
            });
            first_method += count;
        }
    }

    /// Puts a text where there is room for it; where it is. Without room what it means is not said.
    fn write_text(&self, room: &mut Range<usize>, text: &[u8]) -> Option<u32> {
        let place = room.start;
        if text.len() > room.len() {
            return None;
        }
        for (place, byte) in room.by_ref().take(text.len()).zip(text) {
            let Some(word) = self.record.text.get(place / 8) else { continue };
            let mut bytes = word.load(Relaxed).to_le_bytes();
            bytes[place % 8] = *byte;
            word.store(i64::from_le_bytes(bytes), Relaxed);
        }
        u32::try_from(place).ok()
    }

    /// Whom a policy admits.
    fn open(&self, policy: &str) -> [u64; INSTANCES_MAXIMUM / 64] {
        let mut open = [0; INSTANCES_MAXIMUM / 64];
        if policy == "*" {
            return [u64::MAX; INSTANCES_MAXIMUM / 64];
        }
        for wanted in policy.split(' ').filter(|word| !word.is_empty()) {
            let mut instances = self.record.instances.iter().filter(|one| one.is_there());
            if let Some(found) = instances.find(|one| one.name() == name(wanted)) {
                let number = found.number().index();
                open[number / 64] |= 1 << (number % 64);
            }
        }
        open
    }
}
