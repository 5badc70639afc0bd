//! Commands that change the system, by way of the supervisor.

use crate::listing::{self, report};
use crate::screen::Screen;
use crate::{call, imports};
use cairn::Error;
use cairn::abi::text::plain;
use cairn::environment::startup;
use cairn::time::{now, ticks};
use cairn_shell::policy::{Policy, Times};
use cairn_shell::words::{Word, number};
use core::cell::Cell;
use core::fmt::{Result, Write};

/// In this time a report is written.
const REPORT_MICROSECONDS: u64 = 5_000;

/// Asks the supervisor about the component that the first word names.
fn ask(
    words: &[Word],
    screen: &mut Screen,
    request: impl Fn(&str) -> core::result::Result<(), Error>,
) -> Result {
    let Some(name) = words.first() else { return Ok(()) };
    match request(name) {
        Ok(()) => {
            // The supervisor's report is made at this priority, and should stand before the answer.
            let _ = imports::THREADS.sleep_until(now() + ticks(REPORT_MICROSECONDS));
            tell(name, screen)
        }
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
    let state = State::of(name);
    writeln!(screen, "{name} is {}, restarted {}", state.phase, Times(state.restarts))
}

/// What `ps` calls the states of an instance.
const PHASES: [&str; 4] = ["dead", "alive", "asleep", "dying"];

#[derive(Default, PartialEq)]
struct State {
    phase: &'static str,
    policy: Option<Policy>,
    restarts: u64,
}

impl State {
    fn of(name: &str) -> State {
        let Some(instance) = listing::number_of(name) else { return State::default() };
        let mut text = [0; 256];
        let (length, _) = imports::SUPERVISOR.describe(instance, &mut text).unwrap_or_default();
        let text = plain(text.get_mut(..length).unwrap_or(&mut []));
        let mut words = text.split(' ').skip(2);
        State {
            phase: words
                .next()
                .and_then(|word| PHASES.into_iter().find(|phase| *phase == word))
                .unwrap_or(PHASES[0]),
            policy: words.next().and_then(Policy::read),
            restarts: words.next().and_then(|word| number(word).ok()).unwrap_or(0),
        }
    }
}

/// Whether this terminal works only with the component `name`: the console, or the shell itself.
pub fn carries_terminal(name: &str) -> bool {
    if listing::number_of(name) == Some(startup().instance.into()) {
        return true;
    }
    let mut is_console = false;
    listing::server_of(imports::CONSOLE.first_portal(), |export| {
        is_console = export.split('.').next() == Some(name);
    });
    is_console
}

/// Says no if the component would stay dead without a shell left to type at.
fn refuse_silence(
    words: &[Word],
    screen: &mut Screen,
    stays_dead: fn(Policy) -> bool,
) -> core::result::Result<bool, core::fmt::Error> {
    let Some(name) = words.first() else { return Ok(false) };
    match State::of(name).policy {
        Some(policy) if stays_dead(policy) && carries_terminal(name) => {
            writeln!(
                screen,
                "error: `{name}` would stay dead, and nobody could type any more; `restart {name}` is \
                 possible, or `restart = \"always\"` in the description"
            )?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

pub fn kill(words: &[Word], screen: &mut Screen) -> Result {
    match refuse_silence(words, screen, Policy::stays_dead_when_killed)? {
        true => Ok(()),
        false => ask(words, screen, |name| imports::SUPERVISOR.kill(name)),
    }
}

pub fn restart(words: &[Word], screen: &mut Screen) -> Result {
    ask(words, screen, |name| imports::SUPERVISOR.restart(name))
}

pub fn crash(words: &[Word], screen: &mut Screen) -> Result {
    if refuse_silence(words, screen, Policy::stays_dead_after_fault)? {
        return Ok(());
    }
    if let Some(name) = words.first()
        && State::of(name).policy == Some(Policy::Essential)
    {
        // Perhaps the last that is heard: the system halts at the fault.
        writeln!(screen, "`{name}` is essential: the system halts when it faults")?;
    }
    let is_untouched = Cell::new(false);
    ask(words, screen, |name| {
        let before = State::of(name);
        imports::SUPERVISOR.crash(name)?;
        if before == State::of(name) {
            // No thread runs in it: it faults when it is called.
            is_untouched.set(!call::enter(name));
        }
        Ok(())
    })?;
    match words.first() {
        Some(name) if is_untouched.get() => writeln!(
            screen,
            "no thread runs in it, and nothing of it is open to the shell: `{name}` faults when it is entered next"
        ),
        _ => Ok(()),
    }
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
