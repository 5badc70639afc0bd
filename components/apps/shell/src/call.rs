//! `call`: any method of any export that the shell may open, by the letters of its specification.

use crate::away::{self, Answer, Outcome};
use crate::imports;
use crate::listing::{each_export, each_name, portal, server_of};
use crate::screen::Screen;
use cairn::Error;
use cairn::abi::descriptor::{METHODS_MAXIMUM, VALUE_UNSIGNED, VALUE_WORDS};
use cairn::abi::text::plain;
use cairn_shell::method::{Argument, Arguments, Expected, Failure, Method, Quoted, Refusal, Value};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// Bytes of a buffer that a method fills.
pub const BUFFER: usize = 256;
/// Longest description of a method.
const TEXT: usize = 256;
/// Most buffers of a call: each takes two of seven registers.
pub const BUFFERS: usize = 3;

/// Every method of the export `name`.
pub fn each_method(name: &str, mut take: impl FnMut(&Method)) {
    for number in 0..METHODS_MAXIMUM as u64 {
        let mut text = [0; TEXT];
        let Some(method) = method(name, number, &mut text) else { return };
        take(&method);
    }
}

fn method<'text>(name: &str, number: u64, text: &'text mut [u8; TEXT]) -> Option<Method<'text>> {
    let length = imports::NAMES.describe_method(name, number, text).ok()?;
    Method::parse(plain(text.get_mut(..length)?))
}

/// `name`, or the only export of the component called so, or the only one of them that is open to the shell.
fn export_of(
    name: &Word,
    screen: &mut Screen,
) -> core::result::Result<Option<Word>, core::fmt::Error> {
    let is_component = !name.contains('.');
    let (mut found, mut count) = (None, 0);
    let (mut found_open, mut open) = (None, 0);
    each_export(|known, is_open| {
        let matches = match is_component {
            true => known.split_once('.').is_some_and(|(component, _)| component == name.as_str()),
            false => known == name.as_str(),
        };
        if matches {
            count += 1;
            found = Word::try_from(known).ok();
            if is_open {
                open += 1;
                found_open = Word::try_from(known).ok();
            }
        }
    });
    if open == 1 {
        return Ok(found_open);
    }
    match count {
        1 => return Ok(found),
        0 => writeln!(screen, "error: no name `{name}`; `names` lists them all")?,
        _ => {
            match open {
                0 => writeln!(screen, "error: `{name}` has {count} exports; write one of")?,
                _ => writeln!(
                    screen,
                    "error: {open} exports of `{name}` are open to the shell; write one of"
                )?,
            }
            let mut result = Ok(());
            each_export(|known, is_open| {
                if known.split('.').next() == Some(name.as_str()) && (is_open || open == 0) {
                    result = result.and_then(|()| writeln!(screen, "  {known}"));
                }
            });
            result?;
        }
    }
    Ok(None)
}

pub fn run(words: &[Word], screen: &mut Screen) -> Result {
    let [name, words @ ..] = words else { return Ok(()) };
    let Some(name) = export_of(name, screen)? else { return Ok(()) };
    if is_registered(&name) {
        return registered(&name, words, screen);
    }
    let Some((wanted, words)) = words.split_first() else { return list(&name, screen) };
    let mut own_threads = false;
    server_of(imports::THREADS.first_portal(), |export| own_threads = export == name.as_str());
    if own_threads {
        return writeln!(
            screen,
            "error: `{name}` is about its caller's own threads, and its caller would be the shell"
        );
    }
    let mut text = [0; TEXT];
    for number in 0..METHODS_MAXIMUM {
        let Some(method) = method(&name, number as u64, &mut text) else { break };
        if method.name == wanted.as_str() {
            return call(&name, number as u32, &method, words, screen);
        }
    }
    writeln!(screen, "error: `{name}` has no method `{wanted}`; it has")?;
    list(&name, screen)
}

fn list(name: &str, screen: &mut Screen) -> Result {
    let mut result = Ok(());
    each_method(name, |method| {
        result = result.and_then(|()| writeln!(screen, "  {name} {method}"))
    });
    result
}

/// What to pass to a method, or nothing if it has said what is wrong with the words.
fn understood(
    name: &Word,
    method: &Method,
    words: &[Word],
    screen: &mut Screen,
) -> core::result::Result<Option<Arguments>, core::fmt::Error> {
    match method.arguments(words) {
        Ok(arguments) => return Ok(Some(arguments)),
        Err(Refusal::Count(_)) => writeln!(screen, "error: expected `call {name} {method}`")?,
        Err(Refusal::Number(position, mistake)) => {
            writeln!(screen, "error: `{}`: {}", words[position], mistake.text())?;
        }
        Err(Refusal::Meaning(position, place)) => {
            writeln!(screen, "error: `{}`: expected {}", words[position], Expected(method, place))?;
        }
        Err(Refusal::Object) => {
            writeln!(
                screen,
                "error: `{name} {}` makes an object, which only a program can use",
                method.name
            )?;
        }
        Err(Refusal::Letter(letter)) => {
            writeln!(screen, "error: only a program can pass a parameter `{letter}`")?;
        }
    }
    Ok(None)
}

fn call(name: &Word, number: u32, method: &Method, words: &[Word], screen: &mut Screen) -> Result {
    let Some(arguments) = understood(name, method, words, screen)? else { return Ok(()) };
    let Some(first) = open(name, screen)? else { return Ok(()) };
    let done = invoke(first + number, method, &arguments, words, screen);
    // It was opened for this call only.
    let closed = imports::PORTALS.close(first.into());
    done?;
    crate::listing::report(closed, screen)
}

/// Opens `name`; the first of its portals, or nothing if it has said why not.
fn open(name: &Word, screen: &mut Screen) -> core::result::Result<Option<u32>, core::fmt::Error> {
    match imports::PORTALS.open(name, 0, &[]) {
        Ok(first) => return Ok(Some(first as u32)),
        Err(Error::NotAllowed) => writeln!(
            screen,
            "error: `{name}` is not open to the shell; its `open` in the description, or who registered it, \
             says to whom"
        )?,
        Err(Error::WouldBlock) => writeln!(
            screen,
            "error: who registered `{name}` wants to be asked first, which only a program that knows its \
             interface does"
        )?,
        Err(error) => crate::listing::of_portals(error, |why| {
            writeln!(screen, "error: cannot open `{name}`: {why}")
        })?,
    }
    Ok(None)
}

/// Calls the portal at `index` and shows what comes back.
fn invoke(
    index: u32,
    method: &Method,
    arguments: &[Argument],
    words: &[Word],
    screen: &mut Screen,
) -> Result {
    let outcome = away::call(index, arguments, words);
    if let Some(refusal) = away::refusal(&outcome) {
        return writeln!(screen, "{refusal}");
    }
    let Outcome::Back(Answer { status, words, buffers }) = outcome else { return Ok(()) };
    if status != 0 {
        writeln!(screen, "error: {}", Failure(status, method.meanings))?;
    } else {
        write!(screen, "{}", Value(method.value, method.reply(&words)))?;
        let filled = arguments.iter().filter(|argument| **argument == Argument::Buffer).count();
        for buffer in &buffers[..filled] {
            write!(screen, " {}", Quoted(part(buffer, method, words[0])))?;
        }
        writeln!(screen)?;
    }
    Ok(())
}

/// Whether `name` was registered at run time: then the name server knows nothing of its methods.
fn is_registered(name: &str) -> bool {
    let mut text = [0; TEXT];
    method(name, 0, &mut text).is_none()
}

/// Calls what was registered at run time, or lists its methods: their letters are those of the portals
/// that opening it makes. Methods have numbers unless it is a semaphore or a lock.
fn registered(name: &Word, words: &[Word], screen: &mut Screen) -> Result {
    let Some(first) = open(name, screen)? else { return Ok(()) };
    let done = in_registered(name, first, words, screen);
    let closed = imports::PORTALS.close(first.into());
    done?;
    crate::listing::report(closed, screen)
}

fn in_registered(name: &Word, first: u32, words: &[Word], screen: &mut Screen) -> Result {
    let count = imports::PORTALS.size(first.into()).unwrap_or(0) as u32;
    let each = |take: &mut dyn FnMut(u32, &Method) -> Result| {
        (first..first + count).try_for_each(|index| {
            let mut result = Ok(());
            portal(index, |text| {
                if let Some(method) = Method::of_portal(text) {
                    result = take(index, &method);
                }
            });
            result
        })
    };
    let (wanted, arguments) = match words.split_first() {
        Some((wanted, arguments)) => (Some(wanted), arguments),
        None => (None, words),
    };
    let mut found = wanted.is_none();
    each(&mut |index, method| match wanted {
        None => writeln!(screen, "  {name} {method}"),
        Some(wanted) if wanted.as_str() == method.name => {
            found = true;
            match understood(name, method, arguments, screen)? {
                Some(passed) => invoke(index, method, &passed, arguments, screen),
                None => Ok(()),
            }
        }
        Some(_) => Ok(()),
    })?;
    match (found, wanted) {
        (false, Some(wanted)) => {
            writeln!(screen, "error: `{name}` has no method `{wanted}`; it has")?;
            each(&mut |_, method| writeln!(screen, "  {name} {method}"))
        }
        _ => Ok(()),
    }
}

/// What of a buffer was filled: by the rule of the interfaces the value, or its first word, is the length;
/// else up to the last byte that is not zero.
fn part<'buffer>(buffer: &'buffer [u8; BUFFER], method: &Method, value: u64) -> &'buffer [u8] {
    let length = value as usize;
    if matches!(method.value, VALUE_UNSIGNED | VALUE_WORDS) && length <= BUFFER {
        return &buffer[..length];
    }
    let end = buffer.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &buffer[..end]
}

/// Enters the component called `component`, whose memory is gone, so that it faults. False if nothing of it is open to the
/// shell.
pub fn enter(component: &str) -> bool {
    let mut is_entered = false;
    each_name(|known| {
        // Not every export is open to the shell.
        if !is_entered
            && known.split('.').next() == Some(component)
            && let Ok(first) = imports::PORTALS.open(known, 0, &[])
        {
            // It may be in its next life by now, and keep who calls.
            let outcome = away::call(first as u32, &[], &[]);
            let _ = imports::PORTALS.close(first);
            is_entered = !matches!(outcome, Outcome::Busy);
        }
    });
    is_entered
}
