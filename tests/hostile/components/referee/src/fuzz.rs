//! A component calls portals by chance. When it hangs or dies, it starts again and goes on.

use crate::harness::{Harness, pause, say};
use crate::imports::VICTIM;
use cairn::environment;
use cairn_test_hostile_contract::notes;

const CALLS: u64 = 100_000;
/// Longer than any call that returns at all.
const PATIENCE_MICROSECONDS: u64 = 1000;

pub fn attacks(harness: &mut Harness) {
    let name = "portals by chance";
    let failed = harness.failed();
    let Some(section) = environment::section("notes") else {
        return harness.fail(name, "no section");
    };
    section.store(notes::CALLS_WANTED, CALLS);
    let mut restarts = 0;
    let mut earlier = u64::MAX;
    loop {
        let calls = section.load(notes::CALLS);
        if calls >= CALLS {
            break;
        }
        if calls == earlier {
            harness.renew();
            restarts += 1;
            if restarts % 100 == 0 {
                say!("{calls} calls, {restarts} restarts");
                harness.expect(name, VICTIM.echo(1), Ok(2));
            }
        }
        earlier = calls;
        pause(PATIENCE_MICROSECONDS);
    }
    section.store(notes::CALLS_WANTED, 0);
    let counted =
        [notes::SUCCEEDED, notes::NO_PORTAL, notes::WRONG].map(|offset| section.load(offset));
    say!("{CALLS} calls: {counted:?} succeeded, no portal, wrong; {restarts} restarts");
    harness.expect(name, counted[2], 0);
    harness.expect(name, counted[0] > 0 && counted[1] > CALLS / 3, true);
    harness.after(name);
    if failed == harness.failed() {
        say!("ok: {CALLS} calls of portals by chance");
    }
}
