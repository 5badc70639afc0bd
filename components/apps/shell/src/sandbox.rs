//! `sandbox`: a package is loaded that can call nobody but who is allowed by name. An interposer stands between it and all others before it
//! begins, and stays there: when it dies, all calls find it dead.

use crate::listing::{each_name, number_of};
use crate::screen::Screen;
use crate::{imports, loading, tools, wrap};
use cairn::Error;
use cairn::abi::descriptor::NAME_SIZE;
use cairn_interfaces::{Action, InterpositionProxy, LoaderProxy};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

const KIND: &str = "sandbox";

/// `sandbox PACKAGE [as NAME] [allow SERVER[.EXPORT]...]`, or `sandbox NAME` of one that is there.
pub fn run(words: &[Word], screen: &mut Screen) -> Result {
    const EXPECTED: &str = "sandbox PACKAGE [as NAME] [allow SERVER[.EXPORT]...]";
    let Some((package, rest)) = words.split_first() else { return Ok(()) };
    let (name, rest) = match rest {
        [word, name, rest @ ..] if word.as_str() == "as" => (name, rest),
        rest => (package, rest),
    };
    let allowed = match rest {
        [] => &[],
        [word, allowed @ ..] if word.as_str() == "allow" && !allowed.is_empty() => allowed,
        _ => return writeln!(screen, "error: expected `{EXPECTED}`"),
    };
    if KIND.len() + 1 + name.len() >= NAME_SIZE {
        let most = NAME_SIZE - 2 - KIND.len();
        return writeln!(
            screen,
            "error: `{name}` is too long a name: expected at most {most} characters"
        );
    }
    let guard = tools::name_for(KIND, name);
    if words.len() == 1 && number_of(guard.text()).is_some() {
        return tools::with(guard.text(), screen, |tool, screen| Ok(tools::show(tool, screen)));
    }
    if let Some(unknown) = allowed.iter().find(|name| !serves(name)) {
        return writeln!(
            screen,
            "error: `{unknown}` serves nothing: expected SERVER or SERVER.EXPORT of the `names` that there are"
        );
    }
    let Some(interposition) = wrap::interposition(screen)? else { return Ok(()) };
    let Some(loader) = imports::LOADER.get() else {
        return writeln!(screen, "{}", loading::NO_LOADER);
    };
    if !loading::load_as(tools::PACKAGE, guard.text(), screen)? {
        return Ok(());
    }
    let mut is_told = false;
    tools::with(guard.text(), screen, |tool, _| {
        allowed.iter().try_for_each(|name| tool.allow(name))?;
        tool.act(Action::Guard, 0, 1, "")?;
        is_told = true;
        Ok(Ok(()))
    })?;
    if !is_told || !enclose((loader, interposition), (package, name), guard.text(), screen)? {
        return tools::end(guard.text(), screen);
    }
    writeln!(screen, "{name} is loaded; `sandbox {name}` shows what it was refused")
}

/// Whether the server of a name has exports, or has registered some. Its objects nobody lists.
fn serves(name: &str) -> bool {
    let wanted = server_of(name);
    let mut is_there = false;
    each_name(|one| is_there |= server_of(one) == wanted);
    is_there
}

fn server_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(server, _)| server)
}

/// Loads the package with the guard before all that it calls; whether that worked.
fn enclose(
    (loader, interposition): (LoaderProxy, InterpositionProxy),
    (package, name): (&str, &str),
    guard: &str,
    screen: &mut Screen,
) -> core::result::Result<bool, core::fmt::Error> {
    let instance = match loader.prepare(package, name) {
        Ok(instance) => instance,
        Err(error) => return loading::explain(loader, error, screen).map(|()| false),
    };
    // Whatever it gets, it gets behind the guard. It begins only if that stands there.
    let begun = match interposition.wrap(name, "", guard, false) {
        Ok(_) => match loader.begin(instance) {
            Ok(()) => return Ok(true),
            Err(error) => loading::explain(loader, error, screen),
        },
        Err(error) => {
            writeln!(screen, "error: `{guard}` cannot stand before `{name}`: {}", error.text())
        }
    };
    begun?;
    match loader.unload(name) {
        Ok(()) => Ok(false),
        Err(Error::NotFound) => {
            writeln!(screen, "error: `{name}` was gone already: another has ended it")?;
            Ok(false)
        }
        Err(error) => {
            writeln!(screen, "error: `{name}` stays, and never begins: {}", error.text())?;
            Ok(false)
        }
    }
}

/// An instance is gone: so is its guard.
pub fn end_of(name: &str, screen: &mut Screen) -> Result {
    let guard = tools::name_for(KIND, name);
    match number_of(guard.text()) {
        Some(_) => tools::end(guard.text(), screen),
        None => Ok(()),
    }
}
