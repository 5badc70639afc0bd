//! `top`: who has the processor.

use crate::imports;
use crate::listing::{each, each_instance, report};
use crate::screen::Screen;
use cairn::InstanceId;
use cairn::exclusive::Exclusive;
use cairn_shell::shares::Shares;
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// For how long it looks, in nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// Who has what nobody uses.
const IDLE: &str = "idle";

// The shell's one thread uses it; it is too large for a stack.
static SHARES: Exclusive<Shares> = Exclusive::new(Shares::new());

pub fn run(_words: &[Word], screen: &mut Screen) -> Result {
    let found = SHARES.with(|shares| {
        // A thread that ends between the two is in neither, and in both at the second look: what it had is not hidden.
        shares.clear();
        each_ended(|home, used| shares.subtract(home, used));
        each_thread(|home, used| shares.subtract(home, used))?;
        let begin = imports::CLOCK.uptime()?;
        imports::CLOCK.sleep(SECOND)?;
        let elapsed = imports::CLOCK.uptime()?.saturating_sub(begin) / 1000;
        each_thread(|home, used| shares.add(home, used))?;
        each_ended(|home, used| shares.add(home, used));
        Ok(elapsed)
    });
    let elapsed = match found {
        Ok(elapsed) => elapsed.max(1),
        Err(error) => return report(Err(error), screen),
    };
    writeln!(screen, "  share    time/us  threads that began in")?;
    let mut is_idle_shown = false;
    SHARES.with(|shares| {
        shares.in_order(|home, used| {
            is_idle_shown |= home == IDLE;
            // Of a thread that ended while it was looked at, all that it ever had may be in it.
            let used = used.min(elapsed);
            let tenths = used * 1000 / elapsed;
            writeln!(screen, "{:>4}.{} % {used:>10}  {home}", tenths / 10, tenths % 10)
        })
    })?;
    // That nothing is left is what one looks for.
    if is_idle_shown { Ok(()) } else { writeln!(screen, "   0.0 % {:>10}  {IDLE}", 0) }
}

/// Home and processor time in microseconds of every thread.
fn each_thread(mut take: impl FnMut(&str, u64)) -> core::result::Result<(), cairn::Error> {
    each(
        |index, text| imports::SUPERVISOR.describe_thread(index, text),
        |index| index + 1,
        |_, text| {
            let mut words = text.split(' ').skip(1);
            let home = words.next().unwrap_or("?");
            take(home, words.nth(2).and_then(|word| word.parse().ok()).unwrap_or(0));
        },
    )
}

/// Every instance, and what threads that began there and have ended had.
fn each_ended(mut take: impl FnMut(&str, u64)) {
    each_instance(|number, name| {
        take(name, imports::SUPERVISOR.time_ended(InstanceId(number as u16)).unwrap_or(0));
    });
}
