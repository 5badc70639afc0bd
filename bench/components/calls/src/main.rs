//! Measures portal calls: a short circuit, chains of one to eight domains, windows.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::exclusive::Exclusive;
use cairn::measure::Cost;
use cairn::window::WriteWindow;
use cairn_bench::{
    Link, LinkProxy, Meter, PAGE, Page, Report, Rounds, SAMPLES, SHORT_CIRCUIT, Samples, method,
    settled,
};
use core::fmt::Arguments;

const WARM_UP: usize = 100;

/// The chain of one domain calls this component itself.
struct Own;
static OWN: Own = Own;
static PAGES: Exclusive<Page> = Exclusive::new(Page::ZERO);

cairn::component! {
    name: "calls",
    imports: {
        new2: Link, new3: Link, new4: Link, new5: Link, new6: Link, new7: Link, new8: Link,
        #[minimal] shared1: Link,
        #[minimal] shared2: Link, #[minimal] shared3: Link, #[minimal] shared4: Link,
        #[minimal] shared5: Link, #[minimal] shared6: Link, #[minimal] shared7: Link,
        #[minimal] shared8: Link,
        new1: Link,
    },
    exports: { link: Link = OWN },
    main: main,
}

impl Link for Own {
    fn pass(&self, _next: u64, _second: u64, _third: u64) -> Result<u64, Error> {
        Ok(0)
    }
    fn leave(&self, _buffer: WriteWindow, _next: u64) -> Result<(), Error> {
        Err(Error::NotSupported)
    }
    fn touch(&self, _buffer: WriteWindow, _next: u64) -> Result<(), Error> {
        Err(Error::NotSupported)
    }
    fn own_cost(&self, _method: u64) -> Result<Cost, Error> {
        let [Some(entry), ..] = LinkProxy::entries::<CairnExport_link>() else {
            return Err(Error::NotFound);
        };
        let meter = Meter::new();
        Ok(settled(|| meter.entry(entry, &[0; 8])))
    }
}

/// Index, in a link's portal table, of the next link's first method: links import it over a new
/// stack first, over a shared one second.
const NEXT_NEW: u32 = PORTAL_FIRST_IMPORT as u32;
const NEXT_SHARED: u32 = NEXT_NEW + LinkProxy::METHODS;

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    report.samples(format_args!("portal.short_circuit"), 1, |samples| {
        take(samples, 1, || meter.portal(SHORT_CIRCUIT, &[0; 8]));
    });
    use imports::*;
    let shared = [SHARED1, SHARED2, SHARED3, SHARED4, SHARED5, SHARED6, SHARED7, SHARED8];
    chains(&mut report, &meter, "portal.smciii", 1, &shared, NEXT_SHARED);
    // It calls itself.
    chains(&mut report, &meter, "portal.npciii", 1, &[NEW1], NEXT_NEW);
    let new = [NEW2, NEW3, NEW4, NEW5, NEW6, NEW7, NEW8];
    chains(&mut report, &meter, "portal.npciii", 2, &new, NEXT_NEW);
    windows(&mut report, &meter, &new);
    report.end();
}

/// As many samples as there is room for, after the warm-up.
fn take(samples: &mut Samples, domains: usize, mut measure: impl FnMut() -> Cost) {
    let rounds = Rounds::of_chain(WARM_UP, SAMPLES, domains);
    for round in rounds.all() {
        let cost = measure();
        if rounds.counts(round) {
            samples.add(cost);
        }
    }
}

/// Chains of `domains` and more domains. A sample is all legs of a chain, there and back, without
/// what the domains themselves execute.
fn chains(
    report: &mut Report,
    meter: &Meter,
    name: &str,
    domains: usize,
    chain: &[LinkProxy],
    next: u32,
) {
    for (link, domains) in chain.iter().zip(domains..) {
        let words = [0, next.into(), 2, 3, 0, 0, 0, 0];
        report.samples(format_args!("{name}.{domains}"), legs(domains), |samples| {
            let own = own_cost(chain, link, domains, method::PASS);
            take(samples, domains, || {
                meter.portal(link.first_portal() + method::PASS, &words) - own
            });
        });
    }
}

fn legs(domains: usize) -> u64 {
    2 * (domains as u64 - 1).max(1)
}

/// What the domains of the chain that begins with `link` take themselves.
fn own_cost(chain: &[LinkProxy], link: &LinkProxy, domains: usize, method: u32) -> Cost {
    let ask = |link: &LinkProxy| link.own_cost(method.into()).expect("a link answers");
    // The chain of `n` domains goes through those of fewer, down to that of two, which is the end's.
    let first = chain.iter().position(|other| other == link).unwrap_or(0);
    chain[..=first].iter().rev().take(domains.saturating_sub(1).max(1)).map(ask).sum()
}

/// Chains in which every domain passes a page of its own in a window; and, for two domains, what that
/// costs beside the same call without.
fn windows(report: &mut Report, meter: &Meter, chain: &[LinkProxy]) {
    let mut measure = |name: Arguments,
                       link: &LinkProxy,
                       domains: usize,
                       method: u32,
                       less: &dyn Fn() -> Cost| {
        report.samples(name, legs(domains), |samples| {
            let less = less() + own_cost(chain, link, domains, method);
            PAGES.with(|page| {
                let words = [0, page.address(), PAGE, NEXT_NEW.into(), 0, 0, 0, 0];
                take(samples, domains, || {
                    meter.portal(link.first_portal() + method, &words) - less
                });
            });
        });
    };
    let first = &chain[0];
    let plain = || {
        settled(|| meter.portal(first.first_portal() + method::PASS, &[0; 8]))
            - own_cost(chain, first, 2, method::PASS)
    };
    measure(format_args!("portal.window.extra"), first, 2, method::LEAVE, &plain);
    for (name, method) in [("untouched", method::LEAVE), ("written", method::TOUCH)] {
        for (link, domains) in chain.iter().zip(2..) {
            let name = format_args!("portal.window.{name}.{domains}");
            measure(name, link, domains, method, &Cost::default);
        }
    }
}
