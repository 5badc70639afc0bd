//! Measures calls into the kernel domain: one that keeps no registers, and one that keeps all that the convention preserves. What
//! calls from there cost, another component says.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_bench::{Inside, LEAVE, Meter, PASS, Report, Rounds, SAMPLES, Within, settled};

const WARM_UP: usize = 100;
/// There and back.
const LEGS: u64 = 2;

static MEMORY: [u8; 4096] = [7; 4096];

cairn::component! {
    name: "outside",
    imports: {
        partial: Inside,
        #[minimal] minimal: Inside,
        within: Within,
        beside_fellow: Within,
        sharer: Within,
    },
    main: main,
}

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    for (name, inside) in [("iii", imports::MINIMAL), ("p.iii", imports::PARTIAL)] {
        report.samples(format_args!("portal.kernel.{name}"), LEGS, |samples| {
            let own = inside.own_cost(PASS).expect("it answers");
            let rounds = Rounds::of_chain(WARM_UP, SAMPLES, 2);
            for round in rounds.all() {
                let cost = meter.portal(inside.first_portal(), &[0, 1, 2, 3, 0, 0, 0, 0]) - own;
                if rounds.counts(round) {
                    samples.add(cost);
                }
            }
        });
    }
    // What a window costs beside the same call without, whatever lies in it.
    report.samples(format_args!("portal.kernel.window.extra"), LEGS, |samples| {
        let first = imports::PARTIAL.first_portal();
        let words = [0, MEMORY.as_ptr() as u64, MEMORY.len() as u64, 0, 0, 0, 0, 0];
        let cost = |method: u64| {
            meter.portal(first + method as u32, &words)
                - imports::PARTIAL.own_cost(method).expect("it answers")
        };
        let plain = settled(|| cost(PASS));
        let rounds = Rounds::of_chain(WARM_UP, SAMPLES, 2);
        for round in rounds.all() {
            let extra = cost(LEAVE) - plain;
            if rounds.counts(round) {
                samples.add(extra);
            }
        }
    });
    // Those that stay in one place, there and back, are to be compared with a plain call.
    for (name, caller, to_domain, method, legs) in [
        ("portal.from_kernel.iii", imports::WITHIN, 1, PASS, LEGS),
        ("call.kernel.isolated", imports::WITHIN, 0, PASS, 1),
        ("call.kernel.isolated.window", imports::WITHIN, 0, LEAVE, 1),
        ("call.kernel", imports::BESIDE_FELLOW, 0, PASS, 1),
        ("call.shared", imports::SHARER, 0, PASS, 1),
    ] {
        report.samples(format_args!("{name}"), legs, |samples| {
            let rounds = Rounds::of_chain(WARM_UP, SAMPLES, 2);
            for round in rounds.all() {
                let cost = caller.cost(to_domain, method).expect("it answers");
                if rounds.counts(round) {
                    samples.add(cost);
                }
            }
        });
    }
    report.end();
}
