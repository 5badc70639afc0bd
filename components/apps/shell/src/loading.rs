//! Components that come and go: loaded from packages, unloaded, replaced and moved.

use crate::screen::Screen;
use crate::{control, imports, listing, sandbox};
use cairn::Error;
use cairn::abi::text::plain;
use cairn::environment::startup;
use cairn::text::Line;
use cairn_interfaces::{LoaderProxy, Location};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// What is said of a shell that is connected to none.
pub const NO_LOADER: &str = "error: this shell has no loader; write under `[instance.shell.imports]`: loader = \"loader.loader\"";
/// The time that a replacement may take, if it is not said.
const MILLISECONDS: u64 = 1000;

/// `load PACKAGE [as NAME]`.
pub fn load(words: &[Word], screen: &mut Screen) -> Result {
    let Some(loader) = imports::LOADER.get() else {
        return writeln!(screen, "{NO_LOADER}");
    };
    let (package, name) = match words {
        [package] => (package, package),
        [package, word, name] if word.as_str() == "as" => (package, name),
        _ => return writeln!(screen, "error: expected `load PACKAGE [as NAME]`"),
    };
    match loader.load(package, name) {
        Ok(instance) => writeln!(screen, "{} is loaded, number {instance}", name.as_str()),
        Err(error) => explain(loader, error, screen),
    }
}

/// Why the loader did not do what was asked.
pub fn explain(loader: LoaderProxy, error: Error, screen: &mut Screen) -> Result {
    let mut text = [0; 192];
    match loader.explain(&mut text) {
        Ok(length) => {
            writeln!(screen, "error: {}", plain(text.get_mut(..length).unwrap_or(&mut [])))
        }
        Err(_) => writeln!(screen, "error: {}", error.text()),
    }
}

/// Loads a package for another command; whether it is there.
pub fn load_as(
    package: &str,
    name: &str,
    screen: &mut Screen,
) -> core::result::Result<bool, core::fmt::Error> {
    let Some(loader) = imports::LOADER.get() else {
        writeln!(screen, "{NO_LOADER}")?;
        return Ok(false);
    };
    match loader.load(package, name) {
        Ok(_) => Ok(true),
        Err(error) => explain(loader, error, screen).map(|()| false),
    }
}

/// `replace NAME with PACKAGE [within MILLISECONDS]`. What carries the terminal can be replaced, too: who reads and writes waits for its successor.
pub fn replace(words: &[Word], screen: &mut Screen) -> Result {
    let (Some(loader), Some(replacement)) = (imports::LOADER.get(), imports::REPLACEMENT.get())
    else {
        return writeln!(
            screen,
            "error: the shell of this system may not replace components; write under `[instance.shell.imports]`: replacement = \"loader.replacement\""
        );
    };
    let asked = match words {
        [name, with, package] if with == "with" => Some((name, package, MILLISECONDS)),
        [name, with, package, within, time] if with == "with" && within == "within" => {
            time.parse().ok().map(|time| (name, package, time))
        }
        _ => None,
    };
    let Some((name, package, milliseconds)) = asked else {
        return writeln!(
            screen,
            "error: expected `replace NAME with PACKAGE [within MILLISECONDS]`"
        );
    };
    // What was said before must not wait behind it.
    screen.flush();
    let replaced = replacement.replace(name, package, milliseconds);
    tell_waited(name, "is replaced", replaced, loader, screen)
}

/// `move NAME kernel|domain|with OTHER [within MILLISECONDS]`.
pub fn move_to(words: &[Word], screen: &mut Screen) -> Result {
    let (Some(loader), Some(replacement)) = (imports::LOADER.get(), imports::REPLACEMENT.get())
    else {
        return writeln!(screen, "error: the shell of this system may not move components");
    };
    let time = |within: &[Word]| match within {
        [] => Some(MILLISECONDS),
        [within, time] if within == "within" => time.parse().ok(),
        _ => None,
    };
    let asked = match words {
        [name, to, within @ ..] if to == "kernel" => Some((name, Ok(Location::Kernel), within)),
        [name, to, within @ ..] if to == "domain" => Some((name, Ok(Location::Domain), within)),
        [name, with, other, within @ ..] if with == "with" => Some((name, Err(other), within)),
        _ => None,
    };
    let asked = asked.and_then(|(name, to, within)| Some((name, to, time(within)?)));
    let Some((name, to, milliseconds)) = asked else {
        let expected = "move NAME kernel|domain|with OTHER [within MILLISECONDS]";
        return writeln!(screen, "error: expected `{expected}`");
    };
    screen.flush();
    let moved = match to {
        Ok(to) => replacement.move_to(name, to, milliseconds),
        Err(other) => replacement.move_with(name, other, milliseconds),
    };
    let mut what = Line::<64>::new();
    let _ = match to {
        Ok(Location::Kernel) => what.write_str("is in the kernel"),
        Ok(_) => what.write_str("is in its domain"),
        Err(other) => write!(what, "is with {}", other.as_str()),
    };
    tell_waited(name, what.text(), moved, loader, screen)
}

/// Says for how many ticks callers waited, or why nothing was done.
fn tell_waited(
    name: &Word,
    what: &str,
    waited: core::result::Result<u64, Error>,
    loader: LoaderProxy,
    screen: &mut Screen,
) -> Result {
    match waited {
        Ok(waited) => {
            let base = u128::from(startup().time_base.max(1));
            let microseconds = u128::from(waited) * 1_000_000 / base;
            let name = name.as_str();
            writeln!(screen, "{name} {what}; calls waited for {microseconds} us at most")
        }
        Err(error) => explain(loader, error, screen),
    }
}

/// `unload NAME`, whether it was loaded or the description has it; with those in its domain.
pub fn unload(words: &[Word], screen: &mut Screen) -> Result {
    let Some(name) = words.first() else { return Ok(()) };
    let fellows = listing::fellows(name);
    let mut names = fellows.text().split(", ");
    if let Some(fellow) = names.find(|fellow| control::carries_terminal(fellow)) {
        return writeln!(screen, "error: without `{fellow}` nobody could type any more");
    }
    match imports::SUPERVISOR.retire(name) {
        Ok(()) => {
            let are = if fellows.text().contains(',') { "are" } else { "is" };
            writeln!(screen, "{} {are} gone", fellows.text())?;
            let mut names = fellows.text().split(", ");
            names.try_for_each(|fellow| sandbox::end_of(fellow, screen))
        }
        Err(Error::NotFound) => {
            writeln!(screen, "error: no component `{}`; `ps` lists them all", name.as_str())
        }
        Err(Error::NotAllowed) => {
            writeln!(screen, "error: without `{}` the system would halt", name.as_str())
        }
        Err(Error::NotSupported) => writeln!(
            screen,
            "error: `{}` stays as long as the system runs: it, or one in its domain, has `moves` or others move to it, or has devices that nobody silences; or the supervisor lacks the imports that `parts/loading` gives it",
            name.as_str()
        ),
        Err(Error::Busy) => {
            let mut text = [0; 32];
            match imports::SUPERVISOR.user_of(name, &mut text) {
                Ok(length) => writeln!(
                    screen,
                    "error: `{}` is connected to `{}`, which has to go first",
                    plain(text.get_mut(..length).unwrap_or(&mut [])),
                    fellows.text()
                ),
                Err(_) => {
                    writeln!(screen, "error: `{}` still has a device's memory", name.as_str())
                }
            }
        }
        Err(error) => writeln!(screen, "error: {}", error.text()),
    }
}
