//! `top`: who has the processor.

use crate::imports;
use crate::listing::{each, report};
use crate::screen::Screen;
use cairn::abi::thread::THREADS_MAXIMUM;
use cairn::exclusive::Exclusive;
use cairn_shell::shares::Shares;
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// For how long it looks, in nanoseconds.
const SECOND: u64 = 1_000_000_000;

// The shell's one thread uses them; they are too large for a stack.
static BEFORE: Exclusive<[u64; THREADS_MAXIMUM]> = Exclusive::new([0; THREADS_MAXIMUM]);
static SHARES: Exclusive<Shares> = Exclusive::new(Shares::new());

pub fn run(_words: &[Word], screen: &mut Screen) -> Result {
    let found = BEFORE.with(|before| {
        *before = [0; THREADS_MAXIMUM];
        each_thread(|index, _, used| before[index] = used)?;
        let begin = imports::CLOCK.uptime()?;
        imports::CLOCK.sleep(SECOND)?;
        let elapsed = imports::CLOCK.uptime()?.saturating_sub(begin) / 1000;
        SHARES.with(|shares| {
            shares.clear();
            each_thread(|index, home, used| shares.add(home, used.saturating_sub(before[index])))?;
            Ok(elapsed)
        })
    });
    let elapsed = match found {
        Ok(elapsed) => elapsed.max(1),
        Err(error) => return report(Err(error), screen),
    };
    writeln!(screen, "  share    time/us  threads that began in")?;
    SHARES.with(|shares| {
        shares.in_order(|home, used| {
            let tenths = used.saturating_mul(1000) / elapsed;
            writeln!(screen, "{:>4}.{} % {used:>10}  {home}", tenths / 10, tenths % 10)
        })
    })
}

/// Index, home and processor time in microseconds of every thread.
fn each_thread(mut take: impl FnMut(usize, &str, u64)) -> core::result::Result<(), cairn::Error> {
    each(
        |index, text| imports::SUPERVISOR.describe_thread(index, text),
        |index| index + 1,
        |index, text| {
            let mut words = text.split(' ').skip(1);
            let home = words.next().unwrap_or("?");
            let used = words.nth(2).and_then(|word| word.parse().ok()).unwrap_or(0);
            if (index as usize) < THREADS_MAXIMUM {
                take(index as usize, home, used);
            }
        },
    )
}
