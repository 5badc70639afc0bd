//! `trace`, `count`, `delay`, `limit`, `inject`: interposers that the shell loads when they are wanted, and that end when they stand nowhere
//! any more. One that stands before `NAME` is called `TOOL-NAME`.

use crate::call::each_method;
use crate::listing::{each, each_name, number_of, report};
use crate::screen::Screen;
use crate::{imports, loading, wrap};
use cairn::Error;
use cairn::abi::descriptor::NAME_SIZE;
use cairn::component::Interface;
use cairn::text::Line;
use cairn_interfaces::{Action, Tool, ToolProxy};
use cairn_shell::between::Ends;
use cairn_shell::called::{Called, Event, FILE_BEGINS, FILE_ENDS, Process, is_file_name, span};
use cairn_shell::table::Column::{Number, Text};
use cairn_shell::table::{Column, Row};
use cairn_shell::words::{Word, number};
use core::cell::Cell;
use core::fmt::{Result, Write};

/// The package of which all of them are instances.
pub const PACKAGE: &str = "interposer";
/// What their names begin with.
const KINDS: [&str; 7] = ["trace", "count", "delay", "limit", "inject", "sandbox", "record"];
/// Clients that a file of a trace names.
const CLIENTS: usize = 32;

/// The name of an instance.
pub type Name = Line<NAME_SIZE>;

/// The name of the tool of a kind that stands before a server, or before all.
pub fn name_of(kind: &str, ends: &Ends) -> Name {
    name_for(kind, if ends.server.is_empty() { "all" } else { ends.server })
}

/// The same for any instance.
pub fn name_for(kind: &str, name: &str) -> Name {
    match kind.len() + 1 + name.len() < NAME_SIZE {
        true => Name::of(format_args!("{kind}-{name}")),
        false => Name::of(format_args!("{kind}-{}", number_of(name).unwrap_or(0))),
    }
}

/// Does something with a tool, which is open meanwhile. Errors are shown.
pub fn with(
    name: &str,
    screen: &mut Screen,
    body: impl FnOnce(ToolProxy, &mut Screen) -> core::result::Result<Result, Error>,
) -> Result {
    let export = Export::of(format_args!("{name}.tool"));
    with_export::<dyn Tool>(export.text(), screen, body)
}

/// The name of an export.
pub type Export = Line<{ NAME_SIZE + 16 }>;

/// The same with any export.
pub fn with_export<I: ?Sized + Interface>(
    name: &str,
    screen: &mut Screen,
    body: impl FnOnce(I::Proxy, &mut Screen) -> core::result::Result<Result, Error>,
) -> Result {
    match imports::PORTALS.open_object::<I>(name) {
        Ok(object) => {
            let done = body(object.proxy(), screen);
            let _ = imports::PORTALS.close(object.first_portal().into());
            match done {
                Ok(shown) => shown,
                Err(error) => report(Err(error), screen),
            }
        }
        Err(error) => writeln!(screen, "error: cannot open `{name}`: {}", error.text()),
    }
}

/// What a tool does.
struct Task<'words> {
    kind: &'static str,
    action: Action,
    number: u64,
    every: u64,
    method: &'words str,
}

impl Task<'_> {
    const fn of(kind: &'static str, action: Action, number: u64) -> Task<'static> {
        Task { kind, action, number, every: 1, method: "" }
    }
}

/// Lets a tool stand before a server and do its task; the tool is loaded if it is not there. Whether it stands there.
fn begin(
    task: &Task,
    ends: &Ends,
    screen: &mut Screen,
) -> core::result::Result<bool, core::fmt::Error> {
    place((task.kind, PACKAGE), ends, screen, |name, screen| {
        let mut does = false;
        with(name, screen, |tool, _| {
            tool.act(task.action, task.number, task.every, task.method)?;
            does = true;
            Ok(Ok(()))
        })?;
        Ok(does)
    })
}

/// Lets a tool of a kind, which is loaded from a package if it is not there, do what `act` says, and stand before a server. Whether it stands
/// there.
pub fn place(
    (kind, package): (&str, &str),
    ends: &Ends,
    screen: &mut Screen,
    act: impl FnOnce(&str, &mut Screen) -> core::result::Result<bool, core::fmt::Error>,
) -> core::result::Result<bool, core::fmt::Error> {
    let Some(interposition) = wrap::interposition(screen)? else { return Ok(false) };
    let name = name_of(kind, ends);
    let name = name.text();
    let is_there = number_of(name).is_some();
    let is_same = wrap::has(interposition, ends, name);
    // Twice before the same calls it would take two stacks for each.
    if !is_same && wrap::stands(interposition, name) {
        writeln!(
            screen,
            "error: `{name}` stands before other calls; `wraps` lists which, `unwrap` ends it"
        )?;
        return Ok(false);
    }
    if !is_there && !loading::load_as(package, name, screen)? {
        return Ok(false);
    }
    let stands = match act(name, screen)? {
        true if is_same => writeln!(screen, "{name} does so from now on").map(|()| true)?,
        true => wrap::put(name, ends, screen)?,
        false => false,
    };
    if !stands && !is_there {
        end(name, screen)?;
    }
    Ok(stands)
}

/// Whether a tool stands by the same rule already.
pub fn stands(kind: &str, ends: &Ends) -> bool {
    imports::INTERPOSITION
        .get()
        .is_some_and(|interposition| wrap::has(interposition, ends, name_of(kind, ends).text()))
}

/// Ends a tool that stands nowhere any more. Others than tools stay.
pub fn end(name: &str, screen: &mut Screen) -> Result {
    let is_tool = name.split_once('-').is_some_and(|(kind, _)| KINDS.contains(&kind));
    let stands = imports::INTERPOSITION.get().is_some_and(|one| wrap::stands(one, name));
    let Some(loader) = imports::LOADER.get().filter(|_| is_tool && !stands) else { return Ok(()) };
    match loader.unload(name) {
        // It was not the shell that loaded it, or it is gone.
        Ok(()) | Err(Error::NotFound | Error::NotAllowed) => Ok(()),
        Err(error) => writeln!(screen, "error: `{name}` stays: {}", error.text()),
    }
}

pub fn usage(screen: &mut Screen, text: &str) -> Result {
    writeln!(
        screen,
        "error: expected `{text} [--client NAME] [--interface NAME]`; `*`: all servers"
    )
}

/// What a command of a tool says: whose calls, and the words between. Nothing if they are others, which it has said.
fn read<'words, const WORDS: usize>(
    words: &'words [Word],
    expected: &str,
    screen: &mut Screen,
) -> core::result::Result<Option<(Ends<'words>, &'words [Word; WORDS])>, core::fmt::Error> {
    if let Some((ends, rest)) = Ends::read(words)
        && let Ok(rest) = rest.try_into()
        && (ends.file.is_empty() || expected.contains("--to"))
    {
        return Ok(Some((ends, rest)));
    }
    usage(screen, expected).map(|()| None)
}

/// `trace NAME [--to FILE]`: begins to keep calls, or shows those that were kept.
pub fn trace(words: &[Word], screen: &mut Screen) -> Result {
    let Some((ends, [])) = read(words, "trace NAME [--to FILE]", screen)? else { return Ok(()) };
    if !ends.file.is_empty() && !is_file_name(ends.file) {
        return writeln!(
            screen,
            "error: `{}` is no name of a file: expected letters, digits, `.`, `-`, `_`",
            ends.file
        );
    }
    let stands = stands("trace", &ends);
    if !stands && !begin(&Task::of("trace", Action::Keep, 0), &ends, screen)? {
        return Ok(());
    }
    let name = name_of("trace", &ends);
    match (stands, ends.file) {
        (false, _) => Ok(()),
        (true, "") => with(name.text(), screen, |tool, screen| Ok(show(tool, screen))),
        (true, file) => with(name.text(), screen, |tool, screen| Ok(store(tool, file, screen))),
    }
}

/// Goes through what a tool has kept until now; how many calls were overwritten before.
fn each_kept(
    tool: ToolProxy,
    mut take: impl FnMut(&Called) -> Result,
) -> core::result::Result<u64, core::fmt::Error> {
    // Showing calls makes calls.
    let end = cairn::time::duration(cairn::time::now()).as_nanos() as u64;
    let is_over = Cell::new(false);
    let (mut result, mut lost, mut next) = (Ok(()), 0, 0);
    let _ = each(
        |number, text| if is_over.get() { Err(Error::NotFound) } else { tool.kept(number, text) },
        |number| number.saturating_add(1),
        |number, text| match Called::read(text) {
            Some(called) if called.time > end => is_over.set(true),
            Some(called) => {
                lost += number.saturating_sub(next);
                next = number.saturating_add(1);
                if result.is_ok() {
                    result = take(&called);
                }
            }
            None => {}
        },
    );
    result.map(|()| lost)
}

/// Shows what a tool has kept.
pub fn show(tool: ToolProxy, screen: &mut Screen) -> Result {
    let mut any = false;
    let lost = each_kept(tool, |called| {
        any = true;
        writeln!(screen, "{called}")
    })?;
    match (any, lost) {
        (false, _) => writeln!(screen, "no call yet"),
        (_, 0) => Ok(()),
        _ => writeln!(screen, "and {lost} before these"),
    }
}

/// Writes what was kept as a file on the console, each of its lines behind its name: whoever has the console's other end takes it
/// from there.
fn store(tool: ToolProxy, file: &str, screen: &mut Screen) -> Result {
    writeln!(screen, "file {file} begins")?;
    writeln!(screen, "file {file}: {FILE_BEGINS}")?;
    let mut clients = heapless::Vec::<Name, CLIENTS>::new();
    let mut events = 0;
    let lost = each_kept(tool, |called| {
        let process = number_of(called.client).unwrap_or(0);
        let is_new = clients.iter().all(|client| client.text() != called.client);
        if is_new && clients.push(Name::of(format_args!("{}", called.client))).is_ok() {
            writeln!(screen, "file {file}: {},", Process(called.client, process))?;
        }
        events += 1;
        writeln!(screen, "file {file}: {},", Event(called, process))
    })?;
    // What the viewer is told last has no comma behind it.
    writeln!(screen, "file {file}: {}", Process("cairn", 0))?;
    writeln!(screen, "file {file}: {FILE_ENDS}")?;
    writeln!(screen, "file {file} ends")?;
    writeln!(screen, "{events} calls; {lost} before these were overwritten")
}

/// `count NAME`: begins to count, or shows what was counted.
pub fn count(words: &[Word], screen: &mut Screen) -> Result {
    const COLUMNS: &[Column] =
        &[Text(20), Text(14), Number(8), Number(6), Number(7), Text(4), Number(7), Text(4)];
    let Some((ends, [])) = read(words, "count NAME", screen)? else { return Ok(()) };
    if !stands("count", &ends) {
        return begin(&Task::of("count", Action::Count, 0), &ends, screen).map(drop);
    }
    with(name_of("count", &ends).text(), screen, |tool, screen| {
        let text = "export method calls errors mean unit longest unit";
        let mut result = writeln!(screen, "{}", Row { columns: COLUMNS, text });
        each(
            |number, text| tool.counted(number, text),
            |number| number.saturating_add(1),
            |_, text| {
                let mut words = text.split(' ');
                let mut word = || words.next().unwrap_or("");
                let (export, method, calls, errors) = (word(), word(), word(), word());
                let [calls, time, longest] =
                    [calls, word(), word()].map(|word| number(word).unwrap_or(0));
                let ((mean, unit), (longest, of_it)) = (span(time / calls.max(1)), span(longest));
                let row = Line::<192>::of(format_args!(
                    "{export} {method} {calls} {errors} {mean} {unit} {longest} {of_it}"
                ));
                let row = Row { columns: COLUMNS, text: row.text() };
                result = result.and_then(|()| writeln!(screen, "{row}"));
            },
        )?;
        Ok(result)
    })
}

/// A command whose tool does something by a number.
fn by_number(
    words: &[Word],
    (kind, action, expected): (&'static str, Action, &str),
    screen: &mut Screen,
) -> Result {
    let Some((ends, [value])) = read(words, expected, screen)? else { return Ok(()) };
    match number(value) {
        Ok(value) => begin(&Task::of(kind, action, value), &ends, screen).map(drop),
        Err(mistake) => writeln!(screen, "error: `{value}`: {}", mistake.text()),
    }
}

/// `delay NAME MICROSECONDS`.
pub fn delay(words: &[Word], screen: &mut Screen) -> Result {
    by_number(words, ("delay", Action::Delay, "delay NAME MICROSECONDS"), screen)
}

/// `limit NAME CALLS_A_SECOND`.
pub fn limit(words: &[Word], screen: &mut Screen) -> Result {
    by_number(words, ("limit", Action::Limit, "limit NAME CALLS_A_SECOND"), screen)
}

/// `inject NAME METHOD ERROR [every N]`.
pub fn inject(words: &[Word], screen: &mut Screen) -> Result {
    const EXPECTED: &str = "inject NAME METHOD ERROR [every N]";
    let Some((ends, rest)) = Ends::read(words).filter(|(ends, _)| ends.file.is_empty()) else {
        return usage(screen, EXPECTED);
    };
    let (method, error, every) = match rest {
        [method, error] => (method, error, Ok(1)),
        [method, error, word, every] if word.as_str() == "every" => (method, error, number(every)),
        _ => return usage(screen, EXPECTED),
    };
    let Some(status) = status(error) else {
        write!(
            screen,
            "error: `{error}`: expected the number of the method's own error, or one of"
        )?;
        Error::ALL.iter().try_for_each(|error| write!(screen, " {}", error.name()))?;
        return writeln!(screen);
    };
    let Ok(every @ 1..) = every else {
        return writeln!(screen, "error: `every`: expected a number from 1 on");
    };
    let method = if method.as_str() == "*" { "" } else { method };
    let task = Task { every, method, ..Task::of("inject", Action::Inject, status as u64) };
    if begin(&task, &ends, screen)? && !is_served(ends.server, method) {
        writeln!(
            screen,
            "no export of `{}` has a method `{method}`: perhaps an object of its",
            ends.server
        )?;
    }
    Ok(())
}

/// Whether an export of a component has a method of this name, which may stand behind the export's. Nothing stands for all.
fn is_served(server: &str, method: &str) -> bool {
    let name = method.rsplit('.').next().unwrap_or(method);
    let mut found = server.is_empty() || method.is_empty();
    each_name(|export| {
        if export.split('.').next() == Some(server) {
            each_method(export, |served| found |= served.name == name);
        }
    });
    found
}

/// The status of an error, by its name or number.
fn status(error: &str) -> Option<i64> {
    let named = Error::ALL.iter().find(|one| one.name().eq_ignore_ascii_case(error));
    let own = || i32::try_from(number(error).ok()?).ok().filter(|own| *own > 0);
    named.map(|error| error.status()).or_else(|| own().map(i64::from))
}
