//! The scheduler component with earliest deadline first.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

#[cfg(target_os = "none")]
mod component {
    use cairn::time::ticks;
    use cairn::{Caller, CallerThread, Error};
    use cairn_scheduler::component::{Server, index, instances};
    use cairn_scheduler::{Handle, IDLE, Machine};
    use cairn_scheduler_edf::{EarliestDeadline, Share};

    /// The period of a thread of priority 255; one of priority 0 has 256 times that.
    const UNIT_MICROSECONDS: u64 = 1000;

    cairn_scheduler::scheduler_component!(
        "scheduler-edf",
        EarliestDeadline,
        prepare,
        further: { deadlines: cairn_interfaces::Deadlines = DEADLINES },
    );

    struct Deadlines;
    static DEADLINES: Deadlines = Deadlines;

    fn prepare(policy: &mut EarliestDeadline) {
        policy.set_unit(ticks(UNIT_MICROSECONDS));
        let with_threads = instances().iter().filter(|instance| {
            let idles = instance.first_thread == u32::from(IDLE);
            instance.threads > 0 && instance.run_to_completion == 0 && !idles
        });
        policy.share_out(with_threads.map(|instance| Share {
            instance: instance.number,
            threads: instance.threads,
            percent: instance.share,
        }));
    }

    impl cairn_interfaces::Deadlines for Deadlines {
        fn set_period(
            &self,
            thread: CallerThread,
            caller: Caller,
            other: u64,
            period: u64,
        ) -> Result<(), Error> {
            Server::<This>::operation(move |core, now| {
                let ceiling = core.highest_priority(caller.0);
                let time = core.machine().time(now);
                core.adjust(
                    index(thread),
                    caller.0,
                    Handle(other),
                    now,
                    |policy, threads, other| {
                        policy.set_period(threads, other, period, ceiling, time);
                    },
                )
            })
        }
    }
}

/// There is nothing to run on the host; the policy's tests are in the library.
#[cfg(not(target_os = "none"))]
fn main() {}
