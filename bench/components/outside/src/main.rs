//! Measures calls into the kernel domain: one that keeps no registers, and one that keeps all that the convention preserves.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_bench::{Inside, Meter, Report, Rounds, SAMPLES};

const WARM_UP: usize = 100;
/// There and back.
const LEGS: u64 = 2;

cairn::component! {
    name: "outside",
    imports: { partial: Inside, #[minimal] minimal: Inside },
    main: main,
}

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    for (name, inside) in [("iii", imports::MINIMAL), ("p.iii", imports::PARTIAL)] {
        report.samples(format_args!("portal.kernel.{name}"), LEGS, |samples| {
            let own = inside.own_cost().expect("it answers");
            let rounds = Rounds::of_chain(WARM_UP, SAMPLES, 2);
            for round in rounds.all() {
                let cost = meter.portal(inside.first_portal(), &[0, 1, 2, 3, 0, 0, 0, 0]) - own;
                if rounds.counts(round) {
                    samples.add(cost);
                }
            }
        });
    }
    report.end();
}
