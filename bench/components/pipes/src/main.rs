//! One of a ring of equal threads, each in a domain of its own, that pass a byte around by pipes. The
//! first member measures.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::measure::Stamp;
use cairn_bench::pipe::{CAPACITY, Pipe};
use cairn_bench::{Meter, Report, Rounds, SAMPLES, ring};
use cairn_interfaces::{Portals, Threads};

cairn::component! {
    name: "pipes",
    imports: { portals: Portals, threads: Threads },
    main: main,
}

const WARM_UP: usize = 100;
/// The byte says how many members still have to pass it on.
const LAST: u8 = 1;

fn main() {
    let section = environment::section("pipes").expect("the description maps the section `pipes`");
    let number = ring::member();
    let [items, spaces] = ring::publish(imports::PORTALS, &[("items", 0), ("spaces", CAPACITY)]);
    let own = Pipe::new(section, number, items, spaces);
    let open = |member| {
        let semaphore =
            |name| ring::open(imports::PORTALS, imports::THREADS, "pipes", member, name);
        Pipe::new(section, member, semaphore("items"), semaphore("spaces"))
    };
    let next = open((number + 1) % ring::MEMBERS);
    let first = if number == 0 { own } else { open(0) };
    if number == 0 {
        measure(own, next);
        return;
    }
    // A failed pipe ends this member, and then the measurement stands still: a benchmark that
    // ends in time had none.
    while let Ok(left) = own.read() {
        let pipe = if left == LAST { &first } else { &next };
        if pipe.write(left.wrapping_sub(1)).is_err() {
            return;
        }
    }
}

/// Once around the ring, the members' own instructions included. The pipes are values of a function by
/// itself, so that the loop has them in registers.
#[inline(never)]
fn measure(own: Pipe, next: Pipe) {
    let mut report = Report::new();
    let meter = Meter::new();
    for members in [8, 4, 2, 1] {
        let rounds = Rounds::of_chain(WARM_UP, SAMPLES, members as usize);
        let pipe = if members == 1 { own } else { next };
        report.samples(format_args!("pipe.ring.{members}"), members, |samples| {
            for round in rounds.all() {
                let begin = Stamp::begin();
                let result = pipe.write(members as u8 - 1).and_then(|()| own.read());
                let end = Stamp::end();
                assert!(result == Ok(0), "the byte came back changed");
                if rounds.counts(round) {
                    samples.add(meter.since(begin, end));
                }
            }
        });
    }
    report.end();
}
