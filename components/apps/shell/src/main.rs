//! The shell: reads lines from the console and does what they say.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod attach;
mod away;
mod bench;
mod call;
mod commands;
mod control;
mod listing;
mod loading;
mod log;
mod recording;
mod sandbox;
mod screen;
mod shelf;
mod tools;
mod top;
mod usage;
mod wrap;

use cairn::Error;
use cairn_interfaces as interfaces;
use cairn_shell::editor::{Answer, Editor};
use commands::Commands;
use screen::Screen;

cairn::component! {
    name: "shell",
    imports: {
        console: interfaces::Console,
        clock: interfaces::Clock,
        supervisor: interfaces::Supervisor,
        names: interfaces::Names,
        portals: interfaces::Portals,
        portals_listing: interfaces::PortalListing,
        memory: interfaces::MemoryStatistics,
        threads: interfaces::Threads,
        logs: Option<interfaces::Logs>,
        packages: Option<interfaces::Packages>,
        loader: Option<interfaces::Loader>,
        interposition: Option<interfaces::Interposition>,
        replacement: Option<interfaces::Replacement>,
    },
    main: main,
}

fn main() {
    let mut screen = Screen::new(screen::write);
    let mut editor = Editor::default();
    // Writing to the screen cannot fail.
    let _ = commands::greet(&mut screen);
    let first = cairn::environment::argument();
    if cairn::environment::startup().generation == 0 && !first.is_empty() {
        let _ = commands::run(first, &mut screen);
    }
    let _ = editor.show(&mut screen);
    loop {
        // One by one: while a call is away, ctrl-C takes back what was typed behind it.
        while let Some(byte) = away::next_typed() {
            match editor.take(byte, &Commands, &mut screen) {
                Ok(Answer::Line(line)) => drop(commands::run(&line, &mut screen)),
                Ok(Answer::TooLong) => drop(commands::refuse(&mut screen)),
                _ => continue,
            }
            let _ = editor.show(&mut screen);
        }
        screen.flush();
        let mut bytes = [0; 64];
        match imports::CONSOLE.read(&mut bytes) {
            // The console is another component, and says what it likes.
            Ok(count) => away::keep(bytes.get(..count).unwrap_or(&bytes)),
            Err(error) => wait_for_console(error, &editor, &mut screen),
        }
    }
}

/// The console died, or is starting: shows the line again when it is there.
fn wait_for_console(error: Error, editor: &Editor, screen: &mut Screen) {
    const PAUSE: u64 = 100_000_000;
    assert!(
        matches!(error, Error::Dead | Error::Busy | Error::Cancelled),
        "cannot read from the console: {}",
        error.text()
    );
    let _ = imports::CLOCK.sleep(PAUSE);
    let _ = editor.show(screen);
    screen.flush();
}
