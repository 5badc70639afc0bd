//! Measures passing objects on, and taking them back with all that came of them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::Stamp;
use cairn_bench::{Meter, Purse, Report, Rounds, Taker};
use cairn_interfaces::{Grants, Portals, Rights};

cairn::component! {
    name: "giver",
    imports: { portals: Portals, grants: Grants, left: Taker, right: Taker },
    main: main,
}

use imports::{GRANTS, LEFT, RIGHT};

const WARM_UP: usize = 20;
const ROUNDS: usize = 500;
/// To pass something on takes as long as many calls; so do trees of it.
const WEIGHT: usize = 5;
const TREE_ROUNDS: usize = 20;
const TREE_WEIGHT: usize = 100;
/// Grants of a tree.
const TREE: usize = 100;

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    let purse = imports::PORTALS.open_object::<dyn Purse>("mint.purse").expect("it may be opened");
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    for (name, rights) in
        [("capability.pass", Rights::ALL), ("capability.pass.limited", Rights::ALL.calls(5))]
    {
        report.samples(format_args!("{name}"), 1, |samples| {
            for round in rounds.all() {
                let begin = Stamp::begin();
                let grant = GRANTS.pass(&purse, LEFT.first_portal(), rights);
                let taken = grant.and_then(|grant| LEFT.take(grant));
                let end = Stamp::end();
                LEFT.leave(taken.expect("it is accepted")).expect("it is given up");
                if rounds.counts(round) {
                    samples.add(meter.since(begin, end));
                }
            }
        });
    }
    // The two takers are the instances before this one.
    let own = u64::from(cairn::environment::startup().instance);
    let rounds = Rounds::new(1, TREE_ROUNDS, TREE_WEIGHT);
    report.samples(format_args!("capability.revoke.100"), 1, |samples| {
        for round in rounds.all() {
            let rights = Rights::ALL.passed_on(TREE as u16 - 1);
            let grant = GRANTS.pass(&purse, LEFT.first_portal(), rights).expect("it is granted");
            let first = LEFT.take(grant).expect("it is accepted");
            let mut others = [0; TREE - 1];
            for other in &mut others {
                let word = LEFT.pass(first, own - 1).expect("it may be passed on");
                *other = RIGHT.take_word(own - 2, word).expect("it is accepted");
            }
            let begin = Stamp::begin();
            let revoked = GRANTS.take_back(grant);
            let end = Stamp::end();
            revoked.expect("it is taken back");
            LEFT.leave(first).expect("it is given up");
            others.iter().for_each(|other| RIGHT.leave(*other).expect("it is given up"));
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    report.end();
}
