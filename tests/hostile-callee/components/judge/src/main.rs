//! Starts callers of those who never return again, and sees that nobody else notices.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_captors::Captor;
use cairn_test_hostile_contract::{judge, say};

cairn::component! {
    name: "hostile-judge-callee",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
    },
    exports: { captor: Captor = ANSWERS },
    main: main,
}

/// The end of each chain: it keeps nobody.
struct Answers;
static ANSWERS: Answers = Answers;

impl Captor for Answers {
    fn keep(&self) -> Result<u64, Error> {
        Ok(0)
    }

    fn answer(&self) -> Result<u64, Error> {
        Ok(0)
    }
}

/// Who dies, for another one to see that it starts again, and what its callee does, or it does itself.
const CAPTIVES: [(&str, &str); 14] = [
    ("c-sleep", "a callee sleeps in a loop"),
    ("c-clock", "a callee calls the innocent clock in a loop"),
    ("c-console", "a callee reads from the innocent console in a loop"),
    ("c-lock", "a callee waits for its own lock, which its own thread keeps"),
    ("c-held", "a callee sleeps with its lock held"),
    ("c-circle", "a callee waits for a stack in a circle"),
    ("c-passed", "a callee waits for its lock, which accomplices with new names pass on"),
    ("c-brief", "a callee sleeps again and again, each time for a moment"),
    ("c-yields", "a callee leaves the processor to its own thread again and again"),
    ("c-chain", "a chain of four accomplices"),
    ("c-relay", "an innocent callee of one that sleeps in a loop"),
    ("k-clock", "who calls the innocent clock in a loop dies, and has the same thread again"),
    ("c-portals", "a callee calls the portal manager in a loop"),
    ("c-spin", "a callee runs in a loop"),
];
/// Who does not come back in time, and hides behind whom it calls.
const LATE: (&str, &str) =
    ("k-late", "a callee that is late calls accomplices that are late in turn");
/// They have done nothing.
const INNOCENT: [&str; 7] =
    ["clock", "console", "portals", "memory", "names", "relay", "bystander"];
/// Looks at the state of who starts again, 2 ms apart.
const LOOKS: u64 = 1000;

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// Whether an instance is alive, and how often it was started again; `None` if the description has none.
fn state(name: &str) -> Option<(bool, u64)> {
    judge::life(imports::SUPERVISOR, name, |state, restarts| (state == "alive", restarts))
}

fn starts_again(name: &str) -> bool {
    let Some((_, before)) = state(name) else { return false };
    if imports::SUPERVISOR.restart(name).is_err() {
        return false;
    }
    (0..LOOKS).any(|_| {
        pause(2000);
        matches!(state(name), Some((true, restarts)) if restarts > before)
    })
}

fn main() {
    pause(20_000);
    let mut failed = 0;
    let (late, what) = LATE;
    if state(late).is_some() {
        let dies = || matches!(state(late), Some((_, restarts)) if restarts > 0);
        let died = (0..LOOKS).any(|_| {
            pause(2000);
            dies()
        });
        failed += u64::from(!died);
        say!("{}: {what}", if died { "ok" } else { "FAILED" });
    }
    for (captive, what) in CAPTIVES.into_iter().filter(|(name, _)| state(name).is_some()) {
        // The second time everyone, the callee too, has another life.
        let again = (0..2)
            .filter(|_| {
                // Time to be called.
                pause(5000);
                starts_again(captive)
            })
            .count();
        let harmed = INNOCENT
            .iter()
            .filter(|name| state(name).is_some_and(|found| found != (true, 0)))
            .count();
        if (again, harmed) == (2, 0) {
            say!("ok: {what}");
        } else {
            failed += 1;
            say!(
                "FAILED {what}: its caller started again {again} times of 2, {harmed} innocent were harmed"
            );
        }
    }
    say!("hostile-callee: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
