//! One of a ring of equal threads, each in a domain of its own, that pass a token by semaphores: P on
//! the own one, V on the next one's. The first member measures.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::measure::{self, Cost, Mark, Stamp};
use cairn_bench::{Meter, Report, Rounds, SAMPLES, ring};
use cairn_interfaces::{Portals, SemaphoreProxy, Threads};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

cairn::component! {
    name: "ring",
    imports: { portals: Portals, threads: Threads },
    main: main,
}

const WARM_UP: usize = 100;

/// The shared section: what the member did that had the token last, and when.
struct Board {
    /// Before its V.
    give_begin: &'static Mark,
    /// After its V.
    give_end: &'static Mark,
    /// Before the P of whoever called it last.
    take_begin: &'static Mark,
    /// How many members take part.
    active: &'static AtomicI64,
}

struct Member {
    board: Board,
    own: SemaphoreProxy,
    next: SemaphoreProxy,
    first: SemaphoreProxy,
}

fn main() {
    let section = environment::section("ring").expect("the description maps the section `ring`");
    let ([give_begin, give_end, take_begin, ..], _) = section.words(6).as_chunks() else { return };
    let active = &section.words(7)[6];
    let number = ring::member();
    let [own] = ring::publish(imports::PORTALS, &[("token", 0)]);
    let open = |member| ring::open(imports::PORTALS, imports::THREADS, "ring", member, "token");
    let next = open((number + 1) % ring::MEMBERS);
    let first = if number == 0 { own } else { open(0) };
    let member =
        Member { board: Board { give_begin, give_end, take_begin, active }, own, next, first };
    if number == 0 {
        member.measure();
        return;
    }
    loop {
        member.take();
        member.give(number);
    }
}

impl Member {
    /// P: the first method. The stamp after it.
    fn take(&self) -> Stamp {
        let sample = measure::portal(self.own.first_portal(), &[0; 8], self.board.take_begin);
        assert!(sample.reply.status == 0, "P failed");
        sample.end
    }

    /// V: the second method, on the semaphore of the next member that takes part.
    fn give(&self, number: usize) {
        let last = number as i64 + 1 >= self.board.active.load(Relaxed);
        let next = if last { self.first } else { self.next };
        let sample = measure::portal(next.first_portal() + 1, &[0; 8], self.board.give_begin);
        assert!(sample.reply.status == 0, "V failed");
        sample.end.store(self.board.give_end);
    }

    fn measure(&self) {
        let mut report = Report::new();
        let meter = Meter::new();
        let rounds = Rounds::new(WARM_UP, SAMPLES, 1);
        report.samples(format_args!("semaphore.uncontended"), 2, |samples| {
            for round in rounds.all() {
                let v = meter.portal(self.own.first_portal() + 1, &[0; 8]);
                let p = meter.portal(self.own.first_portal(), &[0; 8]);
                if rounds.counts(round) {
                    samples.add(v + p);
                }
            }
        });
        for members in [8, 4, 2, 1] {
            let rounds = Rounds::of_chain(WARM_UP, SAMPLES, members as usize);
            self.board.active.store(members, Relaxed);
            report.samples(format_args!("semaphore.ring.{members}"), 1, |samples| {
                for round in rounds.all() {
                    self.give(0);
                    let end = self.take();
                    if let Some(hop) = self.hop(&meter, end).filter(|_| rounds.counts(round)) {
                        samples.add(hop);
                    }
                }
            });
        }
        report.end();
    }

    /// From the V of the member before to this one's return from P, without what that member
    /// executed itself between its V and its P. `None` if its time slice ended between the two: then
    /// it did not hand over by its P.
    fn hop(&self, meter: &Meter, end: Stamp) -> Option<Cost> {
        let [begin, gave, took] =
            [self.board.give_begin, self.board.give_end, self.board.take_begin].map(Stamp::load);
        let ordered = [begin, gave, took, end].is_sorted_by_key(|stamp| stamp.instructions);
        ordered.then(|| meter.between(begin, gave) + meter.between(took, end))
    }
}
