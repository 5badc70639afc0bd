//! What the host tool laid out: instances, first threads, the devices' semaphores.

use super::{Component, Core};
use crate::{Configuration, Quota};
use cairn::InstanceId;
use cairn::record::Record;
use cairn::time::{run_rate, ticks};
use cairn_abi::record::{Header, Instance, Interrupt, Table, Thread};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// A thread runs this long before an equal one takes its turn.
const QUANTUM_MICROSECONDS: u64 = 10_000;

/// A table of the layout's record; none of it if the record is not what it should be.
fn table<T: FromBytes + Immutable + KnownLayout>(
    choose: impl Fn(&Header) -> Table,
) -> &'static [T] {
    Record::find().map_or(&[], |record| record.table(choose(record.header)))
}

/// The instances.
pub fn instances() -> &'static [Instance] {
    table(|header| header.instances)
}

/// Takes over from the layout: quotas, first threads, the devices' semaphores. Panics if they do not
/// fit: the host tool counts them.
pub fn take_over<C: Component>(core: &mut Core<C::Policy>) {
    core.machine_mut().begin();
    core.start(Configuration {
        quantum: ticks(QUANTUM_MICROSECONDS),
        run_rate: run_rate(),
        supervisor_semaphore: 0,
        threads: Record::find().map_or(0, |record| record.header.free_threads.end as usize),
    });
    C::prepare(core.policy());
    for instance in instances().iter().filter(|one| one.is_described()) {
        let threads = u8::try_from(instance.threads).unwrap_or(u8::MAX);
        let semaphores = u16::try_from(instance.semaphores).unwrap_or(u16::MAX);
        let locks = u8::try_from(instance.locks).unwrap_or(u8::MAX);
        let quota = Quota { threads, semaphores, locks, priority: instance.priority as u8 };
        core.add_domain(instance.number, quota).expect("an instance has an account");
        if instance.cpu_period != 0 {
            let [period, budget] =
                [instance.cpu_period, instance.cpu_budget].map(|time| ticks(time / 1000));
            core.set_budget(instance.number, period, budget).expect("a budget is free");
        }
    }
    let interrupts: &[Interrupt] = table(|header| header.interrupts);
    for interrupt in interrupts {
        core.add_device(interrupt.instance, interrupt.semaphore as u16)
            .expect("a device's semaphore is free");
    }
    // Instance 0 is none: it owns what is the scheduler's own.
    let own = InstanceId(0);
    let quota = Quota { semaphores: 1, ..Quota::NONE };
    core.add_domain(own, quota).expect("an instance has an account");
    let faults = core.create_semaphore(own, 0).expect("a semaphore for faults is free");
    core.set_supervisor_semaphore(faults);
    let threads: &[Thread] = table(|header| header.threads);
    for thread in threads.iter().filter(|thread| thread.idle == 0) {
        core.adopt_thread(thread.index as u8, thread.instance, thread.priority as u8)
            .expect("a first thread's number is free");
        core.set_first_thread(thread.index as u8);
    }
}
