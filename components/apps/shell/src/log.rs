//! `log`: what components have logged, in the order in which they did, and at which level they do.

use crate::imports;
use crate::listing::{each_instance, number_of, report};
use crate::screen::Screen;
use cairn::InstanceId;
use cairn::abi::address::LOG_MAXIMUM;
use cairn::abi::identifier::INSTANCES_MAXIMUM;
use cairn::abi::log::{LEVELS, Stamp};
use cairn::abi::text::plain;
use cairn::environment::startup;
use cairn::exclusive::Exclusive;
use cairn::time::now;
use cairn_interfaces::{LogRecord, LogsProxy};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// Longest text of a record.
const TEXT: usize = 256;
/// Between two looks for further records, in nanoseconds.
const PAUSE: u64 = 100_000_000;

/// The next record of an instance: its place, and when it was written. Records from `end` on have been begun since.
#[derive(Clone, Copy)]
struct Next {
    place: u64,
    time: u64,
    end: u64,
}

impl Next {
    const FIRST: Next = Next { place: 0, time: END, end: END };
}

/// Nothing more of an instance.
const END: u64 = u64::MAX;

// The shell's one thread uses it; it is too large for a stack.
static NEXT: Exclusive<[Next; INSTANCES_MAXIMUM]> =
    Exclusive::new([Next::FIRST; INSTANCES_MAXIMUM]);

pub fn run(words: &[Word], screen: &mut Screen) -> Result {
    let Some(logs) = imports::LOGS.get() else {
        return writeln!(screen, "error: this system has no logs: nobody has the role `logs`");
    };
    let (follow, words) = match words.split_first() {
        Some((first, rest)) if first.as_str() == "-f" => (true, rest),
        _ => (false, words),
    };
    let mut only = None;
    if let Some(name) = words.first() {
        only = number_of(name);
        if only.is_none() {
            return writeln!(screen, "error: no component `{name}`; `ps` lists them all");
        }
    }
    if let (Some(number), Some(level)) = (only, words.get(1)) {
        return set_level(logs, number, level, screen);
    }
    let mut wanted = [false; INSTANCES_MAXIMUM];
    each_instance(|number, _| {
        if let Some(wanted) = wanted.get_mut(number as usize) {
            *wanted = only.is_none_or(|only| only == number);
        }
    });
    NEXT.with(|next| {
        *next = [Next::FIRST; INSTANCES_MAXIMUM];
        if !follow {
            let begun = now();
            return show(logs, &wanted, next, screen, |record| record.time > begun);
        }
        let mut is_over = false;
        loop {
            show(logs, &wanted, next, screen, |_| {
                is_over |= is_key_pressed();
                is_over
            })?;
            screen.flush();
            if is_over || is_key_pressed() {
                return Ok(());
            }
            let _ = imports::CLOCK.sleep(PAUSE);
        }
    })
}

fn set_level(logs: LogsProxy, number: u64, level: &str, screen: &mut Screen) -> Result {
    let Some(level) = LEVELS.iter().position(|one| *one == level) else {
        write!(screen, "error: expected one of")?;
        LEVELS.iter().try_for_each(|level| write!(screen, " {level}"))?;
        return writeln!(screen);
    };
    report(logs.set_level(InstanceId(number as u16), level as u8), screen)
}

/// Prints all records that are there, the oldest first, up to the one before which it is to stop. Of an instance that writes
/// meanwhile, whatever it says of that, it prints no more than a log holds.
fn show(
    logs: LogsProxy,
    wanted: &[bool; INSTANCES_MAXIMUM],
    next: &mut [Next; INSTANCES_MAXIMUM],
    screen: &mut Screen,
    mut is_last: impl FnMut(&LogRecord) -> bool,
) -> Result {
    let mut text = [0; TEXT];
    for (number, next) in next.iter_mut().enumerate().filter(|(number, _)| wanted[*number]) {
        next.end = END;
        look(logs, number, next, &mut text);
    }
    while let Some((number, next)) = next
        .iter_mut()
        .enumerate()
        .min_by_key(|(_, next)| next.time)
        .filter(|(_, next)| next.time != END)
    {
        if let Some(record) = look(logs, number, next, &mut text) {
            if is_last(&record) {
                break;
            }
            print(number as u64, &record, &mut text, screen)?;
            next.place = record.next;
            look(logs, number, next, &mut text);
        }
    }
    Ok(())
}

/// Looks for the next record of an instance.
fn look(
    logs: LogsProxy,
    number: usize,
    next: &mut Next,
    text: &mut [u8; TEXT],
) -> Option<LogRecord> {
    next.time = END;
    loop {
        let record = logs.read(InstanceId(number as u16), next.place, text).ok()?;
        if next.end == END {
            next.end = record.next.saturating_add(LOG_MAXIMUM / 8);
        }
        // What its writer claims may lead back: of that log nothing more is shown this time.
        if record.next <= next.place || record.next > next.end {
            return None;
        }
        if record.level > 0 {
            next.time = record.time;
            return Some(record);
        }
        next.place = record.next;
    }
}

fn print(number: u64, record: &LogRecord, text: &mut [u8; TEXT], screen: &mut Screen) -> Result {
    let time_base = startup().time_base.max(1);
    let stamp = Stamp { time: record.time, time_base, level: record.level };
    let mut name = [0; 64];
    let described = imports::SUPERVISOR.describe(number, &mut name);
    let length = described.map_or(0, |(length, _)| length.min(name.len()));
    let name = plain(&mut name[..length]).split(' ').next().unwrap_or("?");
    let text = plain(&mut text[..record.length.min(TEXT)]);
    writeln!(screen, "{stamp} {name}: {text}")
}

/// Whether something was typed, which is dropped.
fn is_key_pressed() -> bool {
    imports::CONSOLE.try_read(&mut [0; 16]).is_ok_and(|count| count > 0)
}
