//! A terminal that types lines to the shell, and measures what each session costs, from the first key to the prompt behind the last
//! answer; beside it what an application does: it writes 4 KiB to the console as one that echoes lines, opens and closes a component's
//! portals, and passes a reading through a chain.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod terminal;

use cairn::measure::Stamp;
use cairn_app_interfaces::Echo;
use cairn_bench::{Meter, Report, Rounds, Stage};
use cairn_interfaces::{Console, Portals};
use terminal::TERMINAL;

cairn::component! {
    name: "session",
    imports: { console: Console, portals: Portals, sensor: Stage },
    exports: { console: Console = TERMINAL },
    objects: {},
    main: main,
}

/// What a user types who looks around and tries the example.
const SESSION: &[u8] =
    b"ps\rmem\rcall greeter.echo add 2 0x3\rcall greeter say \"good morning\"\rcall greeter fill\r\
    call greeter add 1 two\recho done\r";
/// So many make 4 KiB.
const LINES: usize = 64;
const LINE: &[u8; 64] = b"4 KiB are sixty-four lines, and each has sixty-four characters.\n";

const WARM_UP: usize = 1;
/// How many times longer than a call a session takes, and the rest, roughly.
const SESSION_WEIGHT: usize = 100;
const ECHO_WEIGHT: usize = 50;
const OPEN_WEIGHT: usize = 5;

fn main() {
    TERMINAL.begin();
    let meter = Meter::new();
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    let mut measure = |name: &str, samples: usize, weight: usize, work: &dyn Fn()| {
        report.samples(format_args!("placement.{name}"), 1, |summary| {
            let rounds = Rounds::new(WARM_UP, samples, weight);
            for round in rounds.all() {
                let begin = Stamp::begin();
                work();
                let end = Stamp::end();
                if rounds.counts(round) {
                    summary.add(meter.since(begin, end));
                }
            }
            // What follows begins a line, not behind the prompt.
            let _ = imports::CONSOLE.write(b"\n");
        });
    };
    measure("session", 20, SESSION_WEIGHT, &|| TERMINAL.types(SESSION));
    measure("echo", 20, ECHO_WEIGHT, &|| {
        (0..LINES).for_each(|_| imports::CONSOLE.write(LINE).expect("the console takes it"));
    });
    measure("open", 1_000, OPEN_WEIGHT, &|| {
        let opened = imports::PORTALS.open_object::<dyn Echo>("greeter.echo");
        let first = opened.expect("the export can be opened").first_portal();
        imports::PORTALS.close(first.into()).expect("the portals can be closed");
    });
    measure("chain", 1_000, 1, &|| {
        imports::SENSOR.take(400).expect("the actuator answers");
    });
    report.end();
}
