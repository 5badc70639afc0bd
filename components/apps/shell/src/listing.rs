//! Commands that look at the system: they print what the components that know it describe.

use crate::imports;
use crate::screen::Screen;
use crate::usage;
use cairn::Error;
use cairn::InstanceId;
use cairn::abi::text::plain;
use cairn::environment::{self, startup};
use cairn::text::Line;
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::domain::FELLOWS_MAXIMUM;
use cairn_shell::table::Column::{self, Number, Text};
use cairn_shell::table::{Row, Uptime};
use cairn_shell::words::{Word, number};
use core::fmt::{Result, Write};

/// Longest description of one thing.
const LONGEST: usize = 256;
/// Names of all instances of a domain, with what is between them.
const FELLOWS: usize = FELLOWS_MAXIMUM * (NAME_SIZE + ", ".len());

/// Goes through descriptions: `describe` answers the length of a text, and a number, from
/// which `next` makes the number to ask with next.
pub fn each(
    describe: impl Fn(u64, &mut [u8]) -> core::result::Result<(usize, u64), Error>,
    next: fn(u64) -> u64,
    mut take: impl FnMut(u64, &str),
) -> core::result::Result<(), Error> {
    let mut number = 0;
    loop {
        let mut text = [0; LONGEST];
        let (length, described) = match describe(number, &mut text) {
            Ok(answer) => answer,
            Err(Error::NotFound) => return Ok(()),
            Err(error) => return Err(error),
        };
        take(described, plain(&mut text[..length.min(LONGEST)]));
        // A description may be wrong; going on with a lower number would never end.
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

/// Why the portal manager did not do what the shell asked for: it says of what there is no more.
pub fn of_portals(error: Error, out: impl FnOnce(&str) -> Result) -> Result {
    let mut text = [0; LONGEST];
    let told = match error {
        Error::Exhausted => imports::PORTALS_LISTING.refused(startup().instance, &mut text),
        error => Err(error),
    };
    out(match told {
        Ok(length) => plain(&mut text[..length.min(LONGEST)]),
        Err(_) => error.text(),
    })
}

/// Every instance: its number and its name.
pub fn each_instance(mut take: impl FnMut(u64, &str)) {
    each_described(|number, text| take(number, text.split(' ').next().unwrap_or("")));
}

/// Every instance: its number and its description, of words.
fn each_described(take: impl FnMut(u64, &str)) {
    // Without the supervisor there is nothing to show, nor to complete.
    let _ = each(|number, text| imports::SUPERVISOR.describe(number, text), behind, take);
}

/// Of a description the name, and the number of the domain.
fn name_and_domain(text: &str) -> Option<(&str, u64)> {
    let (name, words) = text.split_once(' ')?;
    Some((name, number(words.split(' ').next()?).ok()?))
}

/// The names of all that are in the domain of an instance, and so end with it; none, if there is no such instance.
pub fn fellows(name: &str) -> Line<FELLOWS> {
    let (mut own, mut names) = (None, Line::new());
    each_described(|_, text| match name_and_domain(text) {
        Some((other, domain)) if other == name => own = own.or(Some(domain)),
        _ => {}
    });
    each_described(|_, text| {
        if let Some((other, _)) = name_and_domain(text).filter(|(_, domain)| Some(*domain) == own) {
            let comma = if names.bytes().is_empty() { "" } else { ", " };
            let _ = write!(names, "{comma}{other}");
        }
    });
    names
}

/// Every name that can be opened.
pub fn each_name(mut take: impl FnMut(&str)) {
    each_export(|name, _| take(name));
}

/// Each name, and whether what it names is open to the shell.
pub fn each_export(mut take: impl FnMut(&str, bool)) {
    let _ = each(
        |number, text| imports::NAMES.list(number, text),
        core::convert::identity,
        |_, text| {
            let mut words = text.split(' ');
            let name = words.next().unwrap_or("");
            let policy = words.nth(1).unwrap_or("");
            take(name, policy == "*" || policy.split(',').any(|one| one == environment::name()));
        },
    );
}

fn table(
    screen: &mut Screen,
    columns: &'static [Column],
    header: &str,
    describe: impl Fn(u64, &mut [u8]) -> core::result::Result<(usize, u64), Error>,
    next: fn(u64) -> u64,
) -> Result {
    let mut result = writeln!(screen, "{}", Row { columns, text: header });
    let described = each(describe, next, |_, text| {
        result = result.and_then(|()| writeln!(screen, "{}", Row { columns, text }));
    });
    result?;
    report(described, screen)
}

pub fn instances(words: &[Word], screen: &mut Screen) -> Result {
    match words.first().map(|word| word.as_str()) {
        Some("-m") => return usage::run(screen),
        Some(_) => return writeln!(screen, "error: expected `ps` or `ps -m`"),
        None => {}
    }
    table(
        screen,
        &[Text(14), Number(6), Text(6), Text(9), Number(8), Number(12), Number(7)],
        "component domain state restart restarts memory/quota threads placement",
        |number, text| imports::SUPERVISOR.describe(number, text),
        behind,
    )
}

pub fn threads(_words: &[Word], screen: &mut Screen) -> Result {
    table(
        screen,
        &[Number(6), Text(14), Number(8), Text(9), Number(12)],
        "thread home priority state run-time/us",
        |index, text| imports::SUPERVISOR.describe_thread(index, text),
        behind,
    )
}

pub fn names(_words: &[Word], screen: &mut Screen) -> Result {
    table(
        screen,
        &[Text(23), Text(16)],
        "name interface open-to",
        |number, text| imports::NAMES.list(number, text),
        core::convert::identity,
    )
}

/// Number of the instance called `name`.
pub fn number_of(name: &str) -> Option<u64> {
    let mut found = None;
    each_instance(|number, known| {
        if known == name {
            found = Some(number);
        }
    });
    found
}

/// Hands `take` what portal `index` of the shell says of itself: specification, server, method.
pub fn portal(index: u32, take: impl FnOnce(&str)) {
    let mut text = [0; LONGEST];
    let described = imports::PORTALS_LISTING.describe(startup().instance, index.into(), &mut text);
    let (length, _) = described.unwrap_or_default();
    take(plain(text.get_mut(..length).unwrap_or(&mut [])));
}

/// Hands `take` the export that portal `index` of the shell leads to.
pub fn server_of(index: u32, take: impl FnOnce(&str)) {
    portal(index, |text| take(text.split(' ').nth(1).unwrap_or("")));
}

pub fn portals(words: &[Word], screen: &mut Screen) -> Result {
    if let Some(name) = words.first() {
        return match number_of(name) {
            Some(number) => portals_of(number, name, screen),
            None => writeln!(screen, "error: no component `{name}`; `ps` lists them all"),
        };
    }
    let mut result = Ok(());
    each_instance(|number, name| result = result.and_then(|()| portals_of(number, name, screen)));
    result?;
    writeln!(
        screen,
        "Each domain has further portals, which no index reaches: its exceptions and the timer lead to the\n\
         scheduler, interrupts of devices to the interrupt dispatcher."
    )
}

pub fn grants(words: &[Word], screen: &mut Screen) -> Result {
    if let Some(name) = words.first() {
        return match number_of(name) {
            Some(number) => grants_of(number, name, screen).and_then(|any| match any {
                true => Ok(()),
                false => writeln!(screen, "{name}: has passed on nothing"),
            }),
            None => writeln!(screen, "error: no component `{name}`; `ps` lists them all"),
        };
    }
    let (mut result, mut any) = (Ok(()), false);
    each_instance(|number, name| {
        if result.is_ok() {
            result = grants_of(number, name, screen).map(|some| any |= some);
        }
    });
    result?;
    if any { Ok(()) } else { writeln!(screen, "no component has passed on anything") }
}

/// Whether there are any.
fn grants_of(
    instance: u64,
    name: &str,
    screen: &mut Screen,
) -> core::result::Result<bool, core::fmt::Error> {
    let columns = &[Text(14), Text(8), Text(28), Text(16), Number(7), Number(9), Number(6)];
    let header = Row { columns, text: "to state what methods calls time passes" };
    let mut result = Ok(());
    let mut any = false;
    let described = each(
        |number, text| imports::PORTALS_LISTING.given(InstanceId(instance as u16), number, text),
        behind,
        |_, text| {
            if !any {
                result = writeln!(screen, "{name}:\n  {header}");
                any = true;
            }
            let row = Row { columns, text };
            result = result.and_then(|()| writeln!(screen, "  {row}"));
        },
    );
    result?;
    report(described, screen).map(|()| any)
}

fn portals_of(instance: u64, name: &str, screen: &mut Screen) -> Result {
    let columns = &[Text(13), Text(23), Text(16)];
    let header = Row { columns, text: "specification to method" };
    let mut result = Ok(());
    let mut none = true;
    let described = each(
        |index, text| imports::PORTALS_LISTING.describe(InstanceId(instance as u16), index, text),
        behind,
        |index, text| {
            if none {
                result = writeln!(screen, "{name}:\n{:>5}  {header}", "index");
                none = false;
            }
            let row = Row { columns, text };
            result = result.and_then(|()| writeln!(screen, "{index:>5}  {row}"));
        },
    );
    result?;
    if none && described.is_ok() {
        writeln!(screen, "{name}: calls nobody")?;
    }
    report(described, screen)
}

pub fn memory(_words: &[Word], screen: &mut Screen) -> Result {
    /// Kilobytes of a page.
    const PAGE: u64 = 4;
    let columns = &[Text(11), Number(9), Number(9), Number(9), Text(5)];
    writeln!(screen, "{}", Row { columns, text: "what used free all unit" })?;
    let mut row =
        |what: &str, numbers: core::result::Result<[u64; 3], Error>, unit: &str| match numbers {
            Ok([used, free, all]) => {
                writeln!(screen, "{what:<11}  {used:>9}  {free:>9}  {all:>9}  {unit}")
            }
            Err(error) => writeln!(screen, "{what:<11}  error: {}", error.text()),
        };
    // What the components began with is not in it: it can never go to any other.
    let pages = imports::MEMORY
        .usage()
        .map(|(free, all)| [all.saturating_sub(free) * PAGE, free * PAGE, all * PAGE]);
    row("memory", pages, "KiB, to allocate")?;
    let bytes = imports::PORTALS_LISTING.usage().map(|(used, free)| [used, free, used + free]);
    row("portal-code", bytes, "bytes")
}

pub fn uptime(_words: &[Word], screen: &mut Screen) -> Result {
    match imports::CLOCK.uptime() {
        Ok(nanoseconds) => writeln!(screen, "{}", Uptime(nanoseconds)),
        Err(error) => writeln!(screen, "error: {}", error.text()),
    }
}
