//! A client of the lowest priority, preempted inside the portal manager or the name server, keeps
//! nobody waiting: whoever waits for the manager's lock lends its priority.

use crate::imports;
use crate::report::Failed;
use cairn::thread::Stack;
use cairn::time::{self, ticks};
use cairn_interfaces::spawn;

static STACK: Stack<4096> = Stack::new();

/// For how long a thread of a priority in between takes the processor.
const SPIN_MICROSECONDS: u64 = 2000;
/// Each begins at another place of the client's calls.
const ATTEMPTS: u64 = 40;

fn spin(from: u64) {
    if imports::THREADS.sleep_until(from).is_ok() {
        while time::counter() < from + ticks(SPIN_MICROSECONDS) {}
    }
}

pub fn starved() -> Result<(), Failed> {
    let nobody = cairn::environment::startup().instance;
    let mut longest = 0;
    for attempt in 0..ATTEMPTS {
        let from = time::counter() + ticks(300) + attempt * 7;
        let spinner = succeed!(spawn(imports::THREADS, &STACK, spin, from, 9));
        succeed!(imports::THREADS.sleep_until(from + ticks(20)));
        let before = time::counter();
        // What the supervisor asks for when an instance died; it had opened nothing.
        succeed!(imports::CONTROL.instance_died(nobody));
        longest = longest.max(time::counter() - before);
        succeed!(spinner.join());
    }
    expect!((longest < ticks(SPIN_MICROSECONDS / 2), longest), (true, longest));
    Ok(())
}
