//! Commands that look at the system: they print what the components that know it describe.

use crate::imports;
use crate::screen::Screen;
use cairn::Error;
use cairn_shell::table::{Row, Uptime};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// Longest description of one thing.
const TEXT: usize = 256;

/// Goes through descriptions: `describe` answers the length of a text, and a number in the upper 32
/// bits, from which `next` makes the number to ask with next.
fn each(
    describe: impl Fn(u64, &mut [u8]) -> core::result::Result<u64, Error>,
    next: fn(u64) -> u64,
    mut take: impl FnMut(u64, &str),
) -> core::result::Result<(), Error> {
    let mut number = 0;
    loop {
        let mut text = [0; TEXT];
        let answer = match describe(number, &mut text) {
            Ok(answer) => answer,
            Err(Error::NotFound) => return Ok(()),
            Err(error) => return Err(error),
        };
        let (length, described) = (answer as u32 as usize, answer >> 32);
        take(described, core::str::from_utf8(&text[..length.min(TEXT)]).unwrap_or("?"));
        // Whoever describes may be wrong; going on with a lower number would never end.
        match next(described) {
            later if later > number => number = later,
            _ => return Ok(()),
        }
    }
}

fn behind(number: u64) -> u64 {
    number + 1
}

/// Prints an error, if it is one.
pub fn report(result: core::result::Result<(), Error>, screen: &mut Screen) -> Result {
    match result {
        Ok(()) => Ok(()),
        Err(error) => writeln!(screen, "error: {}", error.text()),
    }
}

/// Every instance: its domain and its name.
pub fn each_instance(mut take: impl FnMut(u64, &str)) {
    // Without the supervisor there are no names to complete.
    let _ = each(
        |number, text| imports::SUPERVISOR.describe(number, text),
        behind,
        |domain, text| take(domain, text.split(' ').next().unwrap_or("")),
    );
}

/// Every name that can be opened.
pub fn each_name(mut take: impl FnMut(&str)) {
    let _ = each(
        |number, text| imports::NAMES.list(number, text),
        core::convert::identity,
        |_, text| take(text.split(' ').next().unwrap_or("")),
    );
}

fn table(
    screen: &mut Screen,
    widths: &'static [usize],
    header: &str,
    describe: impl Fn(u64, &mut [u8]) -> core::result::Result<u64, Error>,
    next: fn(u64) -> u64,
) -> Result {
    let mut result = writeln!(screen, "{}", Row { widths, text: header });
    let described = each(describe, next, |_, text| {
        result = result.and_then(|()| writeln!(screen, "{}", Row { widths, text }));
    });
    result?;
    report(described, screen)
}

pub fn instances(_words: &[Word], screen: &mut Screen) -> Result {
    table(
        screen,
        &[14, 6, 6, 9, 8, 12],
        "component domain state restart restarts memory threads",
        |number, text| imports::SUPERVISOR.describe(number, text),
        behind,
    )
}

pub fn threads(_words: &[Word], screen: &mut Screen) -> Result {
    table(
        screen,
        &[6, 14, 8, 9],
        "thread home priority state microseconds",
        |index, text| imports::SUPERVISOR.describe_thread(index, text),
        behind,
    )
}

pub fn names(_words: &[Word], screen: &mut Screen) -> Result {
    table(
        screen,
        &[24, 18],
        "name interface open-to",
        |number, text| imports::NAMES.list(number, text),
        core::convert::identity,
    )
}

/// Domain of the instance called `name`.
pub fn domain_of(name: &str) -> Option<u64> {
    let mut found = None;
    each_instance(|domain, known| {
        if known == name {
            found = Some(domain);
        }
    });
    found
}

pub fn portals(words: &[Word], screen: &mut Screen) -> Result {
    if let Some(name) = words.first() {
        return match domain_of(name) {
            Some(domain) => portals_of(domain, screen),
            None => writeln!(screen, "error: no component `{name}`; `ps` lists them all"),
        };
    }
    let mut result = Ok(());
    each_instance(|domain, name| {
        result = result.and_then(|()| writeln!(screen, "{name}:")).and_then(|()| portals_of(domain, screen));
    });
    result
}

fn portals_of(domain: u64, screen: &mut Screen) -> Result {
    let mut result = Ok(());
    let described = each(
        |index, text| imports::PORTALS_LISTING.describe(domain, index, text),
        behind,
        |index, text| {
            let row = Row { widths: &[12, 24], text };
            result = result.and_then(|()| writeln!(screen, "  {index:<4} {row}"));
        },
    );
    result?;
    report(described, screen)
}

pub fn memory(_words: &[Word], screen: &mut Screen) -> Result {
    match imports::MEMORY.usage() {
        Ok(pages) => {
            let (free, all) = (pages & 0xffff_ffff, pages >> 32);
            writeln!(screen, "memory      {:>6}K free of {}K", free * 4, all * 4)?;
        }
        Err(error) => writeln!(screen, "memory      error: {}", error.text())?,
    }
    match imports::PORTALS_LISTING.usage() {
        Ok(bytes) => {
            let (used, free) = (bytes & 0xffff_ffff, bytes >> 32);
            writeln!(screen, "portal code {free:>6} bytes free of {}", used + free)
        }
        Err(error) => writeln!(screen, "portal code error: {}", error.text()),
    }
}

pub fn uptime(_words: &[Word], screen: &mut Screen) -> Result {
    match imports::CLOCK.uptime() {
        Ok(nanoseconds) => writeln!(screen, "{}", Uptime(nanoseconds)),
        Err(error) => writeln!(screen, "error: {}", error.text()),
    }
}
