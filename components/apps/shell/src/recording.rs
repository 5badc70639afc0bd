//! `record` and `replay`: calls to a component, and later the same answers to the same calls, from a tool that stands before it. What was
//! recorded goes out as a file of lines that are commands, so it comes in again as they are typed.

use crate::listing::{each, number_of, report};
use crate::screen::Screen;
use crate::tools;
use cairn::Error;
use cairn::text::Line;
use cairn_interfaces::{Recorder, RecorderProxy, Recording, RecordingError};
use cairn_shell::between::Ends;
use cairn_shell::called::{Called, is_file_name};
use cairn_shell::history::LINE;
use cairn_shell::words::Word;
use core::fmt::{Result, Write};

const PACKAGE: &str = "recorder";
const KIND: &str = "record";

/// Does something with a recorder. Errors are shown.
fn with(
    name: &str,
    screen: &mut Screen,
    body: impl FnOnce(RecorderProxy, &mut Screen) -> core::result::Result<Result, Error>,
) -> Result {
    let export = tools::Export::of(format_args!("{name}.recorder"));
    tools::with_export::<dyn Recorder>(export.text(), screen, body)
}

/// Lets a recorder do something, and stand before a server.
fn place(what: Recording, ends: &Ends, screen: &mut Screen) -> Result {
    tools::place((KIND, PACKAGE), ends, screen, |name, screen| {
        let mut does = false;
        with(name, screen, |recorder, screen| {
            let refused = match recorder.act(what) {
                Err(Error::Busy) => "has a recording already, which `unload` ends",
                Err(Error::NotReady) => "has no recording that is complete",
                other => {
                    does = other.is_ok();
                    return other.map(Ok);
                }
            };
            Ok(writeln!(screen, "error: `{name}` {refused}"))
        })?;
        Ok(does)
    })
    .map(drop)
}

/// `record NAME [FILE]`: begins to record; again, it tells how many calls there are, or writes them as a file.
pub fn record(words: &[Word], screen: &mut Screen) -> Result {
    let (ends, file) = match Ends::read(words).filter(|(ends, _)| ends.file.is_empty()) {
        Some((ends, [])) => (ends, None),
        Some((ends, [file])) => (ends, Some(file.as_str())),
        _ => return tools::usage(screen, "record NAME [FILE]"),
    };
    if let Some(file) = file.filter(|file| !is_file_name(file)) {
        return writeln!(
            screen,
            "error: `{file}` is no name of a file: expected letters, digits, `.`, `-`, `_`"
        );
    }
    let name = tools::name_of(KIND, &ends);
    if !tools::stands(KIND, &ends) {
        return place(Recording::Record, &ends, screen);
    }
    with(name.text(), screen, |recorder, screen| {
        let Some(file) = file else {
            let (recorded, lost, ..) = recorder.counts()?;
            return Ok(writeln!(
                screen,
                "{recorded} calls; {lost} had no room or cannot be recorded"
            ));
        };
        match recorder.act(Recording::Stop) {
            // It has done so before, or replays.
            Ok(()) | Err(Error::Busy) => store(recorder, &ends, file, screen),
            Err(error) => Err(error),
        }
    })
}

/// Writes what was recorded as a file on the console, as `trace --to` does.
fn store(
    recorder: RecorderProxy,
    ends: &Ends,
    file: &str,
    screen: &mut Screen,
) -> core::result::Result<Result, Error> {
    let server = if ends.server.is_empty() { "*" } else { ends.server };
    let mut options = Line::<LINE>::new();
    for (option, name) in [("client", ends.client), ("interface", ends.interface)] {
        if !name.is_empty() {
            // It was typed in a line.
            let _ = write!(options, " --{option} {name}");
        }
    }
    let mut result = writeln!(screen, "file {file} begins");
    each(
        |number, text| recorder.line(number, text),
        |number| number.saturating_add(1),
        |_, text| {
            // Where it stands is said with the line that lets it begin.
            let options = if text.starts_with("end") { options.text() } else { "" };
            result = result
                .and_then(|()| writeln!(screen, "file {file}: replay {server} {text}{options}"));
        },
    )?;
    let (recorded, lost, ..) = recorder.counts()?;
    let written = result.and_then(|()| writeln!(screen, "file {file} ends"));
    Ok(written.and_then(|()| {
        writeln!(
            screen,
            "{recorded} calls; {lost} had no room or cannot be recorded; no more are recorded"
        )
    }))
}

/// `replay NAME [LINE]`: answers calls from what was recorded; again, it shows which were not there. A line of a file belongs to what is
/// recorded.
pub fn replay(words: &[Word], screen: &mut Screen) -> Result {
    let Some((ends, line)) = Ends::read(words).filter(|(ends, _)| ends.file.is_empty()) else {
        return tools::usage(screen, "replay NAME [LINE OF A RECORDING]");
    };
    let name = tools::name_of(KIND, &ends);
    let is_there = number_of(name.text()).is_some();
    match line {
        [] if is_there => {}
        [new] if new.as_str() == "new" => {
            if !is_there && !crate::loading::load_as(PACKAGE, name.text(), screen)? {
                return Ok(());
            }
            return add(name.text(), line, screen).map(drop);
        }
        [_, ..] if is_there => {
            let is_end = line.first().is_some_and(|word| word.as_str() == "end");
            if !add(name.text(), line, screen)? || !is_end {
                return Ok(());
            }
        }
        _ => {
            return writeln!(
                screen,
                "error: there is no recording: `record {}` makes one, and so do the lines of a file",
                words.first().map_or("NAME", |word| word.as_str())
            );
        }
    }
    let mut does = false;
    if tools::stands(KIND, &ends) {
        with(name.text(), screen, |recorder, screen| {
            does = matches!(recorder.act(Recording::Replay), Err(Error::Busy));
            Ok(if does { show(recorder, screen) } else { Ok(()) })
        })?;
        return match does {
            true => Ok(()),
            false => writeln!(screen, "{} answers from now on", name.text()),
        };
    }
    place(Recording::Replay, &ends, screen)
}

/// Gives a recorder a line; whether it has taken it.
fn add(
    name: &str,
    line: &[Word],
    screen: &mut Screen,
) -> core::result::Result<bool, core::fmt::Error> {
    let mut text = Line::<LINE>::new();
    for (position, word) in line.iter().enumerate() {
        // They were in a line of that length.
        let _ = write!(text, "{}{word}", if position > 0 { " " } else { "" });
    }
    let mut is_taken = false;
    with(name, screen, |recorder, screen| {
        let why = match recorder.add(text.text()) {
            Ok(()) => {
                is_taken = true;
                return Ok(Ok(()));
            }
            Err(RecordingError::Unexpected) => "another line is due; `new` begins again",
            Err(RecordingError::Malformed) => "no such method, number, or bytes",
            Err(RecordingError::Length) => "a buffer has more or fewer bytes than its length says",
            Err(RecordingError::Count) => "there are not so many calls: lines are missing",
            Err(RecordingError::Full) => "there is no room for more",
            Err(RecordingError::Portal(Error::Busy)) => {
                "it records or replays already; `unwrap` ends that"
            }
            Err(RecordingError::Portal(error)) => return Err(error),
        };
        Ok(writeln!(screen, "error: `{}`: {why}", text.text()))
    })?;
    Ok(is_taken)
}

/// How much of a recording was replayed, and which calls were not found in it.
fn show(recorder: RecorderProxy, screen: &mut Screen) -> Result {
    let (recorded, _, used, missed) = match recorder.counts() {
        Ok(counts) => counts,
        Err(error) => return report(Err(error), screen),
    };
    writeln!(
        screen,
        "{used} of {recorded} calls were answered; {missed} others were not recorded"
    )?;
    let mut result = Ok(());
    let told = each(
        |number, text| recorder.missed(number, text),
        |number| number.saturating_add(1),
        |_, text| {
            if let Some(called) = Called::read(text) {
                result = result.and_then(|()| writeln!(screen, "{called}"));
            }
        },
    );
    result?;
    report(told, screen)
}
