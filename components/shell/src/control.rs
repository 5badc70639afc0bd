//! Commands that change the system, by way of the supervisor.

use crate::listing::{self, report};
use crate::screen::Screen;
use crate::{call, imports};
use cairn::Error;
use cairn_shell::words::{Word, number};
use core::fmt::{Result, Write};

/// Asks the supervisor about the component that the first word names.
fn ask(
    words: &[Word],
    screen: &mut Screen,
    request: impl Fn(&str) -> core::result::Result<(), Error>,
) -> Result {
    let Some(name) = words.first() else { return Ok(()) };
    match request(name) {
        Ok(()) => tell(name, screen),
        Err(Error::NotFound) => {
            writeln!(screen, "error: no component `{name}`; `ps` lists them all")
        }
        Err(Error::NotAllowed) => {
            writeln!(screen, "error: `{name}` is essential: without it the system would halt")
        }
        Err(Error::Dead) => writeln!(screen, "error: `{name}` is dead; `restart {name}` starts it"),
        Err(error) => writeln!(screen, "error: {}", error.text()),
    }
}

/// What has become of a component.
fn tell(name: &str, screen: &mut Screen) -> Result {
    let mut state = State::default();
    state.read(name);
    writeln!(
        screen,
        "{name} is {}, restarted {} times",
        if state.alive { "alive" } else { "dead" },
        state.restarts
    )
}

#[derive(Default, PartialEq)]
struct State {
    alive: bool,
    restarts: u64,
}

impl State {
    fn read(&mut self, name: &str) {
        let Some(domain) = listing::domain_of(name) else { return };
        let mut text = [0; 256];
        let length = imports::SUPERVISOR.describe(domain, &mut text).unwrap_or(0) as u32 as usize;
        let text = core::str::from_utf8(text.get(..length).unwrap_or(&[])).unwrap_or("");
        let mut words = text.split(' ').skip(2);
        self.alive = words.next() == Some("alive");
        self.restarts = words.nth(1).and_then(|word| number(word).ok()).unwrap_or(0);
    }
}

pub fn kill(words: &[Word], screen: &mut Screen) -> Result {
    ask(words, screen, |name| imports::SUPERVISOR.kill(name))
}

pub fn restart(words: &[Word], screen: &mut Screen) -> Result {
    ask(words, screen, |name| imports::SUPERVISOR.restart(name))
}

pub fn crash(words: &[Word], screen: &mut Screen) -> Result {
    ask(words, screen, |name| {
        let (mut before, mut after) = (State::default(), State::default());
        before.read(name);
        imports::SUPERVISOR.crash(name)?;
        after.read(name);
        if before == after {
            // Nobody runs in it: it faults when it is called.
            call::enter(name);
        }
        Ok(())
    })
}

pub fn halt(words: &[Word], screen: &mut Screen) -> Result {
    let status = match words.first().map_or(Ok(0), |word| number(word)) {
        Ok(status @ 0..=255) => status,
        Ok(_) => return writeln!(screen, "error: an exit status is 0 to 255"),
        Err(mistake) => return writeln!(screen, "error: {}", mistake.text()),
    };
    screen.flush();
    report(imports::SUPERVISOR.halt(status), screen)
}

pub fn reboot(_words: &[Word], screen: &mut Screen) -> Result {
    screen.flush();
    report(imports::SUPERVISOR.reboot(), screen)
}
