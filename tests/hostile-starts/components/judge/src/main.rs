//! Starts a component again and again whose accomplice has it take the place of its first thread: what that did meanwhile
//! at others has its time. Kills another while that waits for its next life.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_interfaces::{Console, Supervisor, Threads};
use cairn_random::Random;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_hostile_starts_contract::Tidy;

cairn::component! {
    name: "hostile-starts-judge",
    imports: { console: Console, threads: Threads, supervisor: Supervisor, tidy: Tidy },
    main: main,
}

/// How often the first thread's place is to be taken.
const TAKEN: u64 = 1;

fn describes(name: &str, number: u64, text: &str) -> bool {
    let mut room = [0; 128];
    let Ok((length, _)) = imports::SUPERVISOR.describe(number, &mut room) else { return false };
    let line = core::str::from_utf8(&room[..length.min(128)]).unwrap_or("");
    line.starts_with(name) && line.contains(text)
}

fn main() {
    let mut failed = 0;
    // It dies six times, and would wait for its seventh life.
    // Seen once: by the next look, which may come late under deadlines, it can live again.
    let died = judge::wait_until(imports::THREADS, || describes("phoenix", 12, " dead always 5 "));
    let _ = imports::SUPERVISOR.kill("phoenix");
    let lives =
        judge::wait_until(imports::THREADS, || describes("phoenix", 12, " alive always 6 "));
    if !died || !lives {
        say!("FAILED: who shall always live was killed, and stays dead");
        failed += 1;
    }
    say!("ok: who was killed while it waited for its next life lives");
    let (mut lives, mut random) = (0, Random::of_seed(1));
    // Who comes between is, by deadlines, a matter of chance: then so many lives are tried.
    let tried = cairn::environment::argument().parse::<u64>();
    let most = tried.clone().unwrap_or(3000);
    while imports::TIDY.counts().expect("counts").0 < TAKEN && lives < most {
        let _ = imports::SUPERVISOR.kill("newborn");
        // Longer than callees of the dead have; by chance, since the accomplices may be in step with what lasts as long each time.
        judge::pause(imports::THREADS, 101_000 + random.below(3_000));
        let _ = imports::SUPERVISOR.restart("newborn");
        judge::pause(imports::THREADS, 1_000 + random.below(3_000));
        lives += 1;
    }
    judge::pause(imports::THREADS, 100_000);
    let (worked, disturbed) = imports::TIDY.counts().expect("counts");
    if (worked < TAKEN && tried.is_err()) || disturbed != 0 {
        say!(
            "FAILED: in {lives} lives it worked {worked} times, and was disturbed {disturbed} times"
        );
        failed += 1;
    }
    say!("hostile-starts: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed);
}
