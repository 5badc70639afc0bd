//! The console of two Linuxes. It kills one of them: at any time of its boot, at any of a `fork`, and when it is up; it looks each time whether
//! it comes back, and for how long the other one has said nothing.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn::window::ReadWindow;
use cairn_interfaces as interfaces;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "linux-lives-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
    },
    exports: { watched: interfaces::Console = WATCHED, neighbour: interfaces::Console = NEIGHBOUR },
    objects: {},
    arguments: { boots: u64, forks: u64, lives: u64 },
    main: main,
}

/// How long a boot may take.
const LIMIT_MICROSECONDS: u64 = 2_000_000;
/// Longer than a fork, and than its parent takes to begin it.
const FORK_MICROSECONDS: u64 = 400;
/// What a Linux of a higher priority may take longer for what it does every few milliseconds, because another one boots and dies.
const GAP_MICROSECONDS: u64 = 1_000;
/// How long the neighbour is watched while nobody dies.
const PEACE_MICROSECONDS: u64 = 500_000;

/// What a Linux has said.
struct Voice {
    /// How often it has come up, and what it says again and again.
    ups: AtomicU64,
    words: AtomicU64,
    /// When it said the last word, and the longest time between two.
    time: AtomicU64,
    gap: AtomicU64,
}

// Relaxed: one processor, and each is a number of its own.
impl Voice {
    const fn new() -> Voice {
        let [ups, words, time, gap] = [const { AtomicU64::new(0) }; 4];
        Voice { ups, words, time, gap }
    }

    fn word(&self) {
        let time = now();
        let before = self.time.swap(time, Relaxed);
        if before != 0 {
            self.gap.fetch_max(time - before, Relaxed);
        }
        self.words.fetch_add(1, Relaxed);
    }

    fn ups(&self) -> u64 {
        self.ups.load(Relaxed)
    }

    fn words(&self) -> u64 {
        self.words.load(Relaxed)
    }
}

static WATCHED: Voice = Voice::new();
static NEIGHBOUR: Voice = Voice::new();

impl interfaces::WriteOnlyConsole for Voice {
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        text.pieces::<128>(|piece| {
            for line in piece.split(|byte| *byte == b'\n') {
                match line.trim_ascii() {
                    b"" => {}
                    b"up" => drop(self.ups.fetch_add(1, Relaxed)),
                    b"forks" | b"here" => self.word(),
                    // Whatever it is, somebody should see it.
                    other => imports::CONSOLE.write(other)?,
                }
            }
            Ok(())
        })
    }
}

fn say(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.print(text);
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

/// Waits until something was said, and answers how many microseconds that took.
fn wait_until(what: &str, is_so: impl Fn() -> bool) -> u64 {
    let begin = now();
    while !is_so() {
        assert!(now() - begin < ticks(LIMIT_MICROSECONDS), "{what}: not in time");
        pause(20);
    }
    (now() - begin) / ticks(1)
}

/// The watched one begins another life.
fn kill() {
    let restarted = imports::SUPERVISOR.restart("watched");
    assert!(restarted.is_ok(), "{restarted:?}");
}

/// It has come up once more; how many microseconds that took.
fn wait_for_boot(before: u64) -> u64 {
    wait_until("a boot", || WATCHED.ups() > before)
}

/// It forks: where it stands after so many thousands of instructions is another place of that each time.
fn wait_for_fork() {
    let words = WATCHED.words();
    wait_until("a fork", || WATCHED.words() > words);
}

fn main() {
    wait_for_boot(0);
    wait_until("the neighbour", || NEIGHBOUR.words() > 2);
    NEIGHBOUR.gap.store(0, Relaxed);
    pause(PEACE_MICROSECONDS);
    let calm = NEIGHBOUR.gap.swap(0, Relaxed) / ticks(1);
    let before = imports::USAGE.usage();

    kill();
    let boot = wait_for_boot(WATCHED.ups());
    for number in 0..arguments::boots() {
        // At times that are spread over a boot and what comes behind it.
        kill();
        pause(boot * 5 / 4 * number / arguments::boots());
    }
    let ups = WATCHED.ups();
    kill();
    wait_for_boot(ups);
    say(format_args!("ok: {} deaths of a boot of {boot} us\n", arguments::boots()));

    for number in 0..arguments::forks() {
        wait_for_fork();
        pause(FORK_MICROSECONDS * number / arguments::forks());
        let ups = WATCHED.ups();
        kill();
        wait_for_boot(ups);
    }
    wait_for_fork();
    say(format_args!("ok: {} deaths of a fork\n", arguments::forks()));

    for _ in 0..arguments::lives() {
        let ups = WATCHED.ups();
        kill();
        wait_for_boot(ups);
        wait_for_fork();
    }
    assert_eq!(imports::USAGE.usage(), before, "nothing is lost with a life");
    say(format_args!("ok: nothing is lost with {} lives\n", arguments::lives()));

    let gap = NEIGHBOUR.gap.swap(0, Relaxed) / ticks(1);
    let answer = if gap <= calm + GAP_MICROSECONDS { "ok" } else { "FAILED" };
    say(format_args!(
        "{answer}: the neighbour says something every {gap} us, before every {calm} us\n"
    ));
    let _ = imports::SUPERVISOR.halt(0);
}
