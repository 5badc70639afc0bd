//! `call`: any method of any export that the shell may open, by the letters of its specification.

use crate::imports;
use crate::listing::each_name;
use crate::screen::Screen;
use cairn::Error;
use cairn::abi::descriptor::{METHODS_MAXIMUM, VALUE_UNSIGNED};
use cairn::call::Call;
use cairn_shell::method::{Argument, Failure, Method, Quoted, Refusal, Value};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

/// Bytes of a buffer that a method fills.
const BUFFER: usize = 256;
/// Longest description of a method.
const TEXT: usize = 64;
/// Most buffers of a call: each takes two of seven registers.
const BUFFERS: usize = 3;

/// Every method of the export `name`.
pub fn each_method(name: &str, mut take: impl FnMut(&Method)) {
    for number in 0..METHODS_MAXIMUM as u64 {
        let mut text = [0; TEXT];
        let Some(method) = method(name, number, &mut text) else { return };
        take(&method);
    }
}

fn method<'text>(name: &str, number: u64, text: &'text mut [u8; TEXT]) -> Option<Method<'text>> {
    let length = imports::NAMES.describe_method(name, number, text).ok()? as u32 as usize;
    Method::parse(core::str::from_utf8(text.get(..length)?).ok()?)
}

/// `name`, or the only export of the component called so.
fn export_of(
    name: &Word,
    screen: &mut Screen,
) -> core::result::Result<Option<Word>, core::fmt::Error> {
    let is_component = !name.contains('.');
    let (mut found, mut count) = (None, 0);
    each_name(|known| {
        let matches = match is_component {
            true => known.split_once('.').is_some_and(|(component, _)| component == name.as_str()),
            false => known == name.as_str(),
        };
        if matches {
            count += 1;
            found = Word::try_from(known).ok();
        }
    });
    match count {
        1 => return Ok(found),
        0 => writeln!(screen, "error: no name `{name}`; `names` lists them all")?,
        _ => {
            writeln!(screen, "error: `{name}` has {count} exports; write one of")?;
            let mut result = Ok(());
            each_name(|known| {
                if known.split('.').next() == Some(name.as_str()) {
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
    let Some((wanted, words)) = words.split_first() else { return list(&name, screen) };
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

fn call(name: &Word, number: u32, method: &Method, words: &[Word], screen: &mut Screen) -> Result {
    let arguments = match method.arguments(words) {
        Ok(arguments) => arguments,
        Err(Refusal::Count(_)) => {
            return writeln!(screen, "error: expected `call {name} {method}`");
        }
        Err(Refusal::Number(position, mistake)) => {
            return writeln!(screen, "error: `{}`: {}", words[position], mistake.text());
        }
        Err(Refusal::Letter(letter)) => {
            return writeln!(screen, "error: only a program can pass a parameter `{letter}`");
        }
    };
    let first = match imports::PORTALS.open(name, 0, &[]) {
        Ok(first) => first as u32,
        Err(Error::NotAllowed) => {
            return writeln!(
                screen,
                "error: `{name}` is not open to the shell; its `open` in the description says to whom"
            );
        }
        Err(error) => return writeln!(screen, "error: cannot open `{name}`: {}", error.text()),
    };
    let mut buffers = [[0; BUFFER]; BUFFERS];
    let mut unused = buffers.iter_mut();
    let mut call = Call::new();
    for argument in &arguments {
        match argument {
            Argument::Number(number) => call.word(*number),
            Argument::Text(position) => call.bytes(words[*position].as_bytes()),
            Argument::Skip => call.skip(),
            Argument::Buffer => {
                if let Some(buffer) = unused.next() {
                    call.bytes_mut(buffer);
                }
            }
        }
    }
    let reply = call.invoke(first + number);
    // It was opened for this call only.
    let closed = imports::PORTALS.close(first.into());
    if reply.status != 0 {
        writeln!(screen, "error: {}", Failure(reply.status))?;
    } else {
        write!(screen, "{}", Value(method.value, reply.value))?;
        let filled = arguments.iter().filter(|argument| **argument == Argument::Buffer).count();
        for buffer in &buffers[..filled] {
            write!(screen, " {}", Quoted(part(buffer, method, reply.value)))?;
        }
        writeln!(screen)?;
    }
    crate::listing::report(closed, screen)
}

/// What of a buffer was filled: by the rule of the interfaces the value's lower half is the length;
/// else up to the last byte that is not zero.
fn part<'buffer>(buffer: &'buffer [u8; BUFFER], method: &Method, value: u64) -> &'buffer [u8] {
    let length = value as u32 as usize;
    if method.value == VALUE_UNSIGNED && length <= BUFFER {
        return &buffer[..length];
    }
    let end = buffer.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &buffer[..end]
}

/// Enters the component called `component`, whose memory is gone, so that it faults.
pub fn enter(component: &str) {
    let mut name = None;
    each_name(|known| {
        if known.split('.').next() == Some(component) {
            name = Word::try_from(known).ok();
        }
    });
    let Some(name) = name else { return };
    if let Ok(first) = imports::PORTALS.open(&name, 0, &[]) {
        // No instruction of it runs, so it does not matter what is passed.
        let _ = Call::new().invoke(first as u32);
        let _ = imports::PORTALS.close(first);
    }
}
