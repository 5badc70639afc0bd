//! `attach`: what is typed goes to a component that has a terminal of its own.

use crate::imports;
use crate::screen::Screen;
use cairn::Error;
use cairn_interfaces::{Keyboard, KeyboardProxy};
use cairn_shell::words::Word;
use core::fmt::{Result, Write};
use heapless::String;

/// ctrl-], as telnet has it.
const LEAVE: u8 = 0x1d;

pub fn run(words: &[Word], screen: &mut Screen) -> Result {
    let Some(name) = words.first() else { return Ok(()) };
    let mut export = String::<96>::new();
    write!(export, "{name}.keyboard")?;
    let keyboard = match imports::PORTALS.open_object::<dyn Keyboard>(&export) {
        Ok(keyboard) => keyboard,
        Err(error) => {
            return writeln!(screen, "error: cannot open `{export}`: {}", error.text());
        }
    };
    writeln!(screen, "{name} has the keyboard; ctrl-] comes back")?;
    screen.flush();
    let ended = pass_on(&keyboard.proxy());
    let _ = imports::PORTALS.close(keyboard.first_portal().into());
    match ended {
        Ok(()) => writeln!(screen),
        Err(error) => writeln!(screen, "{name} takes nothing any more: {}", error.text()),
    }
}

/// Until it is left, or the other does not take it.
fn pass_on(keyboard: &KeyboardProxy) -> core::result::Result<(), Error> {
    loop {
        let mut bytes = [0; 64];
        let count = imports::CONSOLE.read(&mut bytes)?;
        let typed = bytes.get(..count).unwrap_or(&bytes);
        let end = typed.iter().position(|byte| *byte == LEAVE);
        let text = &typed[..end.unwrap_or(typed.len())];
        if !text.is_empty() {
            keyboard.type_text(text)?;
        }
        if let Some(end) = end {
            crate::away::keep(&typed[end + 1..]);
            return Ok(());
        }
    }
}
