//! `wrap`, `unwrap`, `wraps`: who stands between whom.

use crate::imports;
use crate::listing::{each, number_of, report};
use crate::screen::Screen;
use crate::tools;
use cairn::Error;
use cairn::text::Line;
use cairn_interfaces::InterpositionProxy;
use cairn_shell::between::{Ends, Portals};
use cairn_shell::table::Column::Text;
use cairn_shell::table::{Column, Row};
use cairn_shell::words::Word;
use core::convert::identity;
use core::fmt::{Result, Write};

const COLUMNS: &[Column] = &[Text(14), Text(24), Text(18), Text(0)];

/// What the portal manager is asked by; nothing if it has said that the shell is not connected to it.
pub fn interposition(
    screen: &mut Screen,
) -> core::result::Result<Option<InterpositionProxy>, core::fmt::Error> {
    let found = imports::INTERPOSITION.get();
    if found.is_none() {
        writeln!(
            screen,
            "error: the shell of this system is not connected to `portals.interposition`: `parts/tools` in `extends` does that"
        )?;
    }
    Ok(found)
}

/// Whether there is this component, and says so if not. `*` and nothing stand for all.
fn is_there(name: &str, screen: &mut Screen) -> core::result::Result<bool, core::fmt::Error> {
    if name.is_empty() || number_of(name).is_some() {
        return Ok(true);
    }
    writeln!(screen, "error: no component `{name}`; `ps` lists them all")?;
    Ok(false)
}

/// Whether there are all of which a rule is.
fn are_there(
    interposer: &str,
    ends: &Ends,
    screen: &mut Screen,
) -> core::result::Result<bool, core::fmt::Error> {
    for name in [ends.server, ends.client, interposer] {
        if !is_there(name, screen)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The server, and behind it the interface, as the portal manager is told.
fn server(ends: &Ends) -> Line<{ 2 * cairn::abi::descriptor::NAME_SIZE }> {
    let separator = if ends.interface.is_empty() { "" } else { "/" };
    Line::of(format_args!("{}{separator}{}", ends.server, ends.interface))
}

/// Puts an interposer between others, and says what came of it; whether it stands there.
pub fn put(
    interposer: &str,
    ends: &Ends,
    screen: &mut Screen,
) -> core::result::Result<bool, core::fmt::Error> {
    let Some(interposition) = interposition(screen)? else { return Ok(false) };
    if !are_there(interposer, ends, screen)? {
        return Ok(false);
    }
    match interposition.wrap(ends.client, server(ends).text(), interposer, true) {
        Ok(portals) => writeln!(screen, "{interposer} stands there: {}", Portals(portals))?,
        Err(error) => {
            refused(error, interposer, ends, screen)?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Why an interposer does not stand where it should.
fn refused(error: Error, interposer: &str, ends: &Ends, screen: &mut Screen) -> Result {
    match error {
        Error::NotFound => writeln!(
            screen,
            "error: `{interposer}` is no interposer: it has registered no entrance for others' calls"
        ),
        Error::BadArgument => writeln!(
            screen,
            "error: expected two different components and an interposer that is none of them"
        ),
        Error::NotAllowed => writeln!(
            screen,
            "error: nobody stands between `{}` and what it calls: the system cannot do without it",
            ends.client
        ),
        Error::NotSupported => {
            writeln!(screen, "error: `{interposer}` runs in the kernel domain, or to completion")
        }
        Error::Busy => writeln!(screen, "error: `{interposer}` stands there already"),
        Error::Exhausted => {
            let mut text = [0; 192];
            let number = number_of(interposer).unwrap_or(0);
            let told = imports::PORTALS_LISTING
                .refused(cairn::InstanceId(number as u16), &mut text)
                .map(|length| cairn::abi::text::plain(text.get_mut(..length).unwrap_or_default()));
            let why = told.unwrap_or("there are too many rules");
            writeln!(screen, "error: `{interposer}` cannot stand there: {why}")?;
            let rest = "`--client NAME` and `--interface NAME` take fewer portals";
            if ends.is_of_all() { writeln!(screen, "{rest}") } else { Ok(()) }
        }
        error => report(Err(error), screen),
    }
}

fn is_with(word: &Word, ends: &Ends) -> bool {
    word.as_str() == "with" && ends.file.is_empty()
}

/// `wrap NAME with INTERPOSER [--client NAME] [--interface NAME]`.
pub fn wrap(words: &[Word], screen: &mut Screen) -> Result {
    match Ends::read(words) {
        Some((ends, [with, interposer])) if is_with(with, &ends) => {
            put(interposer, &ends, screen).map(drop)
        }
        _ => writeln!(
            screen,
            "error: expected `wrap NAME with INTERPOSER [--client NAME] [--interface NAME]`; `*`: all servers"
        ),
    }
}

/// `unwrap NAME [with INTERPOSER] [--client NAME] [--interface NAME]`; without an interposer: all that stand before it, of which the
/// shell's own go.
pub fn unwrap(words: &[Word], screen: &mut Screen) -> Result {
    let Some(interposition) = interposition(screen)? else { return Ok(()) };
    match Ends::read(words) {
        Some((ends, [with, interposer])) if is_with(with, &ends) => {
            if !are_there(interposer, &ends, screen)? {
                return Ok(());
            }
            match interposition.unwrap(ends.client, server(&ends).text(), interposer) {
                Ok(portals) => {
                    writeln!(screen, "{interposer} stands there no more: {}", Portals(portals))?;
                    tools::end(interposer, screen)
                }
                Err(Error::NotFound) => writeln!(
                    screen,
                    "error: `{interposer}` does not stand there; `wraps` lists who does"
                ),
                Err(error) => report(Err(error), screen),
            }
        }
        Some((ends, [])) if ends.is_of_all() => {
            if !is_there(ends.server, screen)? {
                return Ok(());
            }
            unwrap_all(interposition, ends.server, screen)
        }
        _ => writeln!(
            screen,
            "error: expected `unwrap NAME`, or the words by which it was wrapped; `wraps` lists them"
        ),
    }
}

/// A rule, as the portal manager tells it.
type Told = Line<128>;

/// The first rule about a server.
fn rule_of(interposition: InterpositionProxy, server: &str) -> Option<Told> {
    let mut found = None;
    let _ = each_rule(interposition, |text| {
        if found.is_none() && Ends::of_rule(text).is_some_and(|(ends, _)| ends.server == server) {
            found = Some(Told::of(format_args!("{text}")));
        }
    });
    found
}

fn unwrap_all(interposition: InterpositionProxy, name: &str, screen: &mut Screen) -> Result {
    let mut any = false;
    while let Some(rule) = rule_of(interposition, name) {
        let Some((ends, interposer)) = Ends::of_rule(rule.text()) else { break };
        match interposition.unwrap(ends.client, server(&ends).text(), interposer) {
            Ok(portals) => {
                writeln!(screen, "{interposer} stands there no more: {}", Portals(portals))?;
            }
            // It went by itself.
            Err(Error::NotFound) if !any => {}
            Err(error) => return report(Err(error), screen),
        }
        any = true;
        tools::end(interposer, screen)?;
    }
    if any { Ok(()) } else { writeln!(screen, "nobody stands before `{name}`") }
}

fn each_rule(
    interposition: InterpositionProxy,
    mut take: impl FnMut(&str),
) -> core::result::Result<(), Error> {
    each(
        |number, text| interposition.rule(number, text).map(|length| (length, number + 1)),
        identity,
        |_, text| take(text),
    )
}

/// Whether an interposer stands somewhere.
pub fn stands(interposition: InterpositionProxy, interposer: &str) -> bool {
    let mut found = false;
    let _ = each_rule(interposition, |text| {
        found |= Ends::of_rule(text).is_some_and(|(_, one)| one == interposer);
    });
    found
}

/// Whether an interposer stands exactly between these.
pub fn has(interposition: InterpositionProxy, ends: &Ends, interposer: &str) -> bool {
    let wanted = Ends { file: "", ..*ends };
    let mut found = false;
    let _ = each_rule(interposition, |text| {
        found |= Ends::of_rule(text) == Some((wanted, interposer));
    });
    found
}

/// `wraps`.
pub fn list(_words: &[Word], screen: &mut Screen) -> Result {
    let Some(interposition) = interposition(screen)? else { return Ok(()) };
    let header = Row { columns: COLUMNS, text: "client server interposer until" };
    let (mut any, mut result) = (false, Ok(()));
    let listed = each_rule(interposition, |text| {
        if !any {
            result = writeln!(screen, "{header}");
            any = true;
        }
        let (rule, until) = match (text.strip_suffix(" falls back"), text.strip_suffix(" ends")) {
            (Some(rule), _) => (rule, "death"),
            // An `unwrap` was cut short: whoever does it again comes to the end.
            (_, Some(rule)) => (rule, "now"),
            _ => (text, "unwrap"),
        };
        let text = Line::<160>::of(format_args!("{rule} {until}"));
        let row = Row { columns: COLUMNS, text: text.text() };
        result = result.and_then(|()| writeln!(screen, "{row}"));
    });
    result?;
    if !any && listed.is_ok() {
        writeln!(screen, "nobody stands between others")?;
    }
    report(listed, screen)
}
