//! Measures how long a Linux takes from its end to the prompt of its next life's shell, by its snapshot and by a boot. It is that Linux' console.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::measure::{Cost, Mark, Stamp, unused_mark};
use cairn::sync::Semaphore;
use cairn::time::{now, ticks};
use cairn::window::ReadWindow;
use cairn_bench::{Meter, Report, Rounds};
use cairn_interfaces::{Console, Portals, Supervisor, Threads, WriteOnlyConsole};

cairn::component! {
    name: "lives",
    imports: {
        console: Console,
        portals: Portals,
        threads: Threads,
        supervisor: Supervisor,
    },
    exports: { linux: Console = LISTENER },
    objects: {},
    main: main,
}

const WARM_UP: usize = 1;
const ROUNDS: usize = 5;
/// A round takes as long as many calls.
const WEIGHT: usize = 1;
/// What the shell says when it waits for a line, and nothing else has in it.
const PROMPT: &[u8] = b"# ";
/// Longer than a life must last, for another to begin with the same snapshot.
const LIFE_MICROSECONDS: u64 = 1_200_000;

struct Listener;
static LISTENER: Listener = Listener;
static ANSWERED: Semaphore = Semaphore::new(0);
static PROMPTED: Mark = unused_mark();

impl WriteOnlyConsole for Listener {
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        text.pieces::<128>(|piece| {
            if piece.windows(PROMPT.len()).any(|letters| letters == PROMPT) {
                Stamp::end().store(&PROMPTED);
                ANSWERED.release()?;
            }
            Ok(())
        })
    }
}

/// Ends Linux; what that takes until the next life's shell waits for a line.
fn restart(meter: &Meter) -> Cost {
    let begin = Stamp::begin();
    imports::SUPERVISOR.restart("linux").expect("it ends");
    ANSWERED.acquire().expect("it comes back");
    meter.since(begin, Stamp::load(&PROMPTED))
}

fn main() {
    let meter = Meter::new();
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    ANSWERED.acquire().expect("it boots");
    report.samples(format_args!("linux.restart"), 1, |samples| {
        for round in rounds.all() {
            let _ = imports::THREADS.sleep_until(now() + ticks(LIFE_MICROSECONDS));
            let cost = restart(&meter);
            if rounds.counts(round) {
                samples.add(cost);
            }
        }
    });
    report.samples(format_args!("linux.reboot"), 1, |samples| {
        for round in rounds.all() {
            // A life that was so short is no reason to trust the snapshot. The next one boots, and makes another.
            let cost = restart(&meter);
            if rounds.counts(round) {
                samples.add(cost);
            }
            restart(&meter);
        }
    });
    report.end();
}
