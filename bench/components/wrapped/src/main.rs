//! Measures a call that goes through an interposer, beside the same call before and behind.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::cost::Cost;
use cairn::exclusive::Exclusive;
use cairn_bench::{Link, Meter, PAGE, Page, Report, Rounds, SAMPLES, method, settled};
use cairn_interfaces::Interposition;
use core::fmt::Arguments;

cairn::component! {
    name: "wrapped",
    imports: { link: Link, interposition: Interposition },
    main: main,
}

use imports::{INTERPOSITION, LINK};

const CLIENT: &str = "wrapped";
const SERVER: &str = "end";
const INTERPOSERS: [&str; 2] = ["forwarder", "second"];
const WARM_UP: usize = 100;
static PAGES: Exclusive<Page> = Exclusive::new(Page::ZERO);

fn wrap(interposer: &str) {
    INTERPOSITION.wrap(CLIENT, SERVER, interposer, false).expect("it stands there");
}

fn unwrap(interposer: &str) {
    INTERPOSITION.unwrap(CLIENT, SERVER, interposer).expect("it stood there");
}

/// There and back, by a method of the link.
fn call(meter: &Meter, number: u32) -> Cost {
    PAGES.with(|page| {
        let words = [0, page.address(), PAGE, 0, 0, 0, 0, 0];
        meter.portal(LINK.first_portal() + number, &words)
    })
}

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    let plain = settled(|| call(&meter, method::PASS));
    let window = settled(|| call(&meter, method::LEAVE));
    let own = LINK.own_cost(method::PASS.into()).expect("a link answers");
    let mut measure = |name: Arguments, number: u32, less: Cost| {
        report.samples(name, 2, |samples| {
            let rounds = Rounds::new(WARM_UP, SAMPLES, 1);
            for round in rounds.all() {
                let cost = call(&meter, number);
                if rounds.counts(round) {
                    samples.add(cost - less);
                }
            }
        });
    };
    wrap(INTERPOSERS[0]);
    measure(format_args!("portal.wrapped.iii"), method::PASS, plain);
    measure(format_args!("portal.wrapped.window"), method::LEAVE, window);
    wrap(INTERPOSERS[1]);
    measure(format_args!("portal.wrapped.2.iii"), method::PASS, plain);
    INTERPOSERS.into_iter().for_each(unwrap);
    measure(format_args!("portal.unwrapped.iii"), method::PASS, own);
    report.end();
}
