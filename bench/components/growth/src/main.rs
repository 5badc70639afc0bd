//! The last of many clients of one server, after all others have called it: measures what a call costs it. The argument says how
//! many they are.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn_bench::{Link, Meter, Report, Rounds, SAMPLES, method};

const WARM_UP: usize = 100;

cairn::component! {
    name: "growth",
    imports: { server: Link },
    main: main,
}

fn main() {
    let clients = environment::argument();
    let mut report = Report::new();
    let meter = Meter::new();
    let own = imports::SERVER.own_cost(method::PASS.into()).expect("the server measures itself");
    let call = || meter.portal(imports::SERVER.first_portal() + method::PASS, &[0; 8]) - own;
    // There and back.
    report.samples(format_args!("growth.calls.{clients}"), 2, |samples| {
        let rounds = Rounds::new(WARM_UP, SAMPLES, 1);
        for round in rounds.all() {
            let cost = call();
            if rounds.counts(round) {
                samples.add(cost);
            }
        }
    });
    report.end();
}
