//! `./cairn run`: boots a system with its console on this terminal or driven by a script.

use crate::build::BuiltImage;
use crate::debugger;
use crate::expect::{Guest, TimeLimit};
use crate::machine::{self, Console, Options};
use crate::stored::Stored;
use crate::symbolise::{self, Symboliser};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use wait_timeout::ChildExt;

/// The exit status when the time limit ended the run, as of timeout(1).
pub const TIMED_OUT: u8 = 124;
/// The shell's prompt.
const PROMPT: &[u8] = b"> ";
/// Bytes of a line that are kept.
const LINE_MAXIMUM: usize = 256;
/// Time that nobody waits for.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Tells how to start the debugger, if the guest waits for one.
fn announce(image: &BuiltImage, options: &Options) -> Result<()> {
    if let Some(port) = options.gdb {
        eprintln!("cairn: the guest waits for a debugger; in another terminal run");
        eprintln!("{}", debugger::line(image, port)?);
    }
    Ok(())
}

/// Boots `image` on this terminal; files that it writes there go into the folder as well. Returns the exit status, which is the guest's.
pub fn on_terminal(
    image: &BuiltImage,
    options: &Options,
    limit: Option<Duration>,
    files: Option<&Path>,
) -> Result<u8> {
    let terminal = Stored::new(std::io::stdout(), files)?;
    announce(image, options)?;
    let mut command = machine::command(image, options, Console::Terminal)?;
    if !std::io::stdin().is_terminal() {
        command.stdin(Stdio::piped());
    }
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let mut output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let input = child.stdin.take();
    let symboliser = Symboliser::new(&image.symbols);
    let shown = thread::spawn(move || {
        // Before it prints anything the firmware has not set up the port, and what comes is lost.
        output.fill_buf()?;
        if let Some(mut input) = input {
            thread::spawn(move || std::io::copy(&mut std::io::stdin(), &mut input));
        }
        symbolise::copy(symboliser, output, terminal)
    });
    if let Some(status) = child.wait_timeout(limit.unwrap_or(FOREVER))? {
        let _ = shown.join();
        return Ok(exit_status(status));
    }
    // A request, not a kill: the emulator has to give the terminal back as it was.
    if let Some(process) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        kill_process(process, Signal::TERM)?;
    }
    child.wait()?;
    // What it wrote last.
    let _ = shown.join();
    eprintln!("cairn: the time limit passed");
    Ok(TIMED_OUT)
}

/// Reads the file of a console script.
pub fn read_script(file: &Path) -> Result<String> {
    std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the console script {}", file.display()))
}

/// Boots `image`, with its files as [`on_terminal`], and types the lines of `script`, each when the guest shows its prompt. At
/// the first prompt without a line left, the run ends with status 0.
pub fn scripted(
    image: &BuiltImage,
    options: &Options,
    limit: Option<Duration>,
    files: Option<&Path>,
    script: &str,
) -> Result<u8> {
    let mut terminal = Stored::new(std::io::stdout(), files)?;
    announce(image, options)?;
    let command = machine::command(image, options, Console::Program)?;
    let mut guest = Guest::start(command, limit.unwrap_or(FOREVER))?;
    let mut lines = script.lines();
    let mut prompts = Prompts::default();
    let mut symboliser = Symboliser::new(&image.symbols);
    loop {
        guest.forget();
        let output = match guest.receive() {
            Ok(Some(output)) => output,
            Ok(None) => return Ok(exit_status(guest.wait_for_exit()?)),
            Err(error) if error.is::<TimeLimit>() => {
                eprintln!("cairn: the time limit passed");
                return Ok(TIMED_OUT);
            }
            Err(error) => return Err(error),
        };
        terminal.write_all(&symboliser.add(output))?;
        terminal.flush()?;
        if prompts.shown(output) {
            match lines.next() {
                Some(next) => guest.send(next)?,
                None => return Ok(0),
            }
        }
    }
}

/// Finds the guest's prompt in what it writes.
#[derive(Default)]
struct Prompts {
    /// What stands in the console's line.
    line: Vec<u8>,
    /// A prompt was answered, and its line goes on: what comes is the echo.
    answered: bool,
}

impl Prompts {
    /// Whether a prompt was shown in `output` that waits for a line: a line that begins with it, since other components
    /// write behind it at any time, or the end of the output.
    fn shown(&mut self, output: &[u8]) -> bool {
        let mut shown = false;
        for byte in output {
            match byte {
                b'\n' => {
                    self.line.clear();
                    self.answered = false;
                }
                _ => self.line.push(*byte),
            }
            // Of a longer one the end alone says whether it is a prompt.
            if self.line.len() > LINE_MAXIMUM {
                self.line.drain(..LINE_MAXIMUM / 2);
            }
            if !self.answered && self.line == PROMPT {
                (shown, self.answered) = (true, true);
            }
        }
        if !self.answered && self.line.ends_with(PROMPT) {
            (shown, self.answered) = (true, true);
        }
        shown
    }
}

fn exit_status(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::Prompts;

    /// Which of the pieces of output show a prompt.
    fn shown<const N: usize>(output: [&str; N]) -> [bool; N] {
        let mut prompts = Prompts::default();
        output.map(|piece| prompts.shown(piece.as_bytes()))
    }

    #[test]
    fn a_prompt_is_answered_once() {
        let output = ["Cairn.\r\n> ", "p", "s\r\nscheduler -> x\r\n", "> "];
        assert_eq!(shown(output), [true, false, false, true]);
        assert_eq!(shown(["> ", "echo a > b\r\n", "a > b\r\n> "]), [true, false, true]);
    }

    #[test]
    fn a_prompt_is_found_behind_which_others_write() {
        assert_eq!(shown(["done\r\n> tick\r\n", "tock\r\n", "ps\r\n> "]), [true, false, true]);
        assert_eq!(shown(["> tick\r\ntock\r\n", "more"]), [true, false]);
        assert_eq!(shown([">", " tick\r\n"]), [false, true]);
        assert_eq!(shown(["a line without end> "]), [true]);
        let long = format!("{}> ", "x".repeat(100_000));
        let mut prompts = Prompts::default();
        assert!(prompts.shown(long.as_bytes()) && prompts.line.len() <= super::LINE_MAXIMUM);
    }
}
