//! Drives a guest's console: waits for what it prints, sends lines. Never sleeps: every wait ends
//! when the output comes, when the guest ends, or at a time limit.

use anyhow::{Context, Result, anyhow, bail};
use cairn_abi::text::Visible;
use regex::bytes::Regex;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What a test waits for.
#[derive(Clone, Debug)]
pub struct Pattern {
    shown: String,
    regex: Regex,
}

impl Pattern {
    /// This text.
    pub fn text(text: &str) -> Pattern {
        let regex = Regex::new(&regex::escape(text)).expect("an escaped text is a valid pattern");
        Pattern { shown: format!("\"{text}\""), regex }
    }

    /// A regular expression; `^` and `$` match at lines.
    pub fn expression(expression: &str) -> Result<Pattern> {
        let regex = Regex::new(&format!("(?m:{expression})"))
            .with_context(|| format!("`{expression}` is not a regular expression"))?;
        Ok(Pattern { shown: format!("/{expression}/"), regex })
    }
}

/// A guest whose console this program drives. It dies with this value.
pub struct Guest {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    transcript: Vec<u8>,
    /// What the emulator says of itself. It explains an early end, and would tear the guest's lines apart.
    complaints: Arc<Mutex<Vec<u8>>>,
    matched: usize,
    forbidden: Vec<(Pattern, usize)>,
    deadline: Instant,
}

impl Guest {
    /// Starts `command`; every wait together may take `limit`.
    pub fn start(mut command: Command, limit: Duration) -> Result<Guest> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let (sender, output) = sync_channel(PIECES_MAXIMUM);
        let (console, errors) = (child.stdout.take(), child.stderr.take());
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let (complained, until_both_end) = (complaints.clone(), sender.clone());
        follow(console.expect("stdout is piped"), move |bytes| sender.send(bytes.to_vec()).is_ok());
        follow(errors.expect("stderr is piped"), move |bytes| {
            let _ = &until_both_end;
            let mut complaints = complained.lock().expect("no reader panics");
            if complaints.len() < COMPLAINTS_MAXIMUM {
                complaints.extend(bytes);
            }
            true
        });
        Ok(Guest {
            input: child.stdin.take(),
            child,
            output,
            transcript: Vec::new(),
            complaints,
            matched: 0,
            forbidden: Vec::new(),
            deadline: Instant::now() + limit,
        })
    }

    /// Waits until the guest has printed `pattern`, behind whatever an earlier wait found.
    pub fn wait_for(&mut self, pattern: &Pattern) -> Result<()> {
        self.matched = self.find(pattern)?;
        Ok(())
    }

    /// Waits until the guest has printed all of `patterns`, in any order, behind whatever an earlier wait found; the next wait
    /// begins behind the last of them.
    pub fn wait_for_all(&mut self, patterns: &[Pattern]) -> Result<()> {
        let ends = patterns.iter().map(|pattern| self.find(pattern)).collect::<Result<Vec<_>>>()?;
        self.matched = ends.into_iter().max().unwrap_or(self.matched);
        Ok(())
    }

    /// Where the first `pattern` behind what an earlier wait found ends, as soon as it is there.
    fn find(&mut self, pattern: &Pattern) -> Result<usize> {
        let mut from = self.matched;
        loop {
            if let Some(found) = pattern.regex.find_at(&self.transcript, from) {
                return Ok(found.end());
            }
            from = from.max(self.transcript.len().saturating_sub(OVERLAP));
            if self.receive().with_context(|| format!("waiting for {}", pattern.shown))?.is_none() {
                bail!("the guest ended while the test waited for {}", pattern.shown);
            }
        }
    }

    /// Sends a line, once the guest has printed something: before that the firmware has not set up the port.
    pub fn send(&mut self, line: &str) -> Result<()> {
        self.type_in(&format!("{line}\r"))
    }

    /// Types text, as [`Guest::send`].
    pub fn type_in(&mut self, text: &str) -> Result<()> {
        if self.transcript.is_empty() {
            self.receive().context("waiting for the guest to print anything")?;
        }
        let input = self.input.as_mut().expect("the input is open until the end");
        // In one write: a guest may end at the last character.
        input
            .write_all(text.as_bytes())
            .and_then(|()| input.flush())
            .with_context(|| format!("cannot send \"{}\": the guest has ended", text.trim_end()))
    }

    /// From here to the end the guest must not print `pattern`.
    pub fn forbid(&mut self, pattern: Pattern) {
        self.forbidden.push((pattern, self.matched));
    }

    /// Waits until the guest ends.
    pub fn wait_for_exit(&mut self) -> Result<ExitStatus> {
        while self.receive().context("waiting for the guest to end")?.is_some() {}
        Ok(self.child.wait()?)
    }

    /// The next output, carriage returns removed; `None` at the end.
    pub fn receive(&mut self) -> Result<Option<&[u8]>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut bytes = match self.output.recv_timeout(left) {
            Ok(bytes) => bytes,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => return Err(anyhow!(TimeLimit)),
        };
        // A guest that never stops printing has a limit too.
        if Instant::now() >= self.deadline {
            return Err(anyhow!(TimeLimit));
        }
        // Not all that comes: that may be without end.
        self.output.try_iter().take(PIECES_MAXIMUM).for_each(|more| bytes.extend(more));
        bytes.retain(|byte| *byte != b'\r');
        let from = self.transcript.len();
        self.transcript.extend_from_slice(&bytes);
        for (pattern, since) in &mut self.forbidden {
            if pattern.regex.find_at(&self.transcript, *since).is_some() {
                bail!("the guest printed {}, which this test forbids", pattern.shown);
            }
            *since = (*since).max(self.transcript.len().saturating_sub(OVERLAP));
        }
        Ok(Some(&self.transcript[from..]))
    }

    /// What was printed so far is not needed any more, for no wait and no transcript.
    pub fn forget(&mut self) {
        self.transcript.clear();
        self.matched = 0;
        self.forbidden.iter_mut().for_each(|(_, since)| *since = 0);
    }

    /// Everything printed so far, line by line, for people, and behind it what the emulator says: whatever a guest
    /// prints, nothing that their terminal obeys.
    pub fn transcript(&self) -> String {
        let mut all = self.transcript.clone();
        let complaints = self.complaints.lock().expect("no reader panics");
        if !complaints.is_empty() {
            all.extend(b"\nthe emulator: ");
            all.extend(complaints.iter());
        }
        let lines = all.split(|byte| *byte == b'\n');
        lines.map(|line| Visible(line).to_string()).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Pieces of output that wait until this program takes them: the guest waits with more.
const PIECES_MAXIMUM: usize = 64;
/// Most of what the emulator says that is kept, give or take a piece.
const COMPLAINTS_MAXIMUM: usize = 64 * 1024;
const PIECE: usize = 4096;

/// Gives what a stream has to `take`, in a thread of its own, until it ends or nobody wants more.
fn follow(
    mut stream: impl Read + Send + 'static,
    mut take: impl FnMut(&[u8]) -> bool + Send + 'static,
) {
    thread::spawn(move || {
        let mut buffer = [0; PIECE];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            if !take(&buffer[..count]) {
                break;
            }
        }
    });
}

/// Output in which a pattern was not found is not searched again, but for its last bytes, in which a
/// match may have begun: no longer match is sure to be found.
const OVERLAP: usize = 4096;

/// The time limit passed.
#[derive(Debug)]
pub struct TimeLimit;

impl std::fmt::Display for TimeLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("the time limit passed")
    }
}

impl std::error::Error for TimeLimit {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guest_prints_without_end_takes_no_more_memory() {
        let command = |text: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", text]);
            shell
        };
        let limit = Duration::from_secs(60);
        let mut guest = Guest::start(command("exec yes"), limit).unwrap();
        for _ in 0..100 {
            guest.forget();
            // It is ahead of who receives by as much as there is room for.
            thread::sleep(Duration::from_millis(1));
            let count = guest.receive().unwrap().map_or(0, <[u8]>::len);
            assert!(count <= (PIECES_MAXIMUM + 1) * PIECE, "{count}");
        }
        assert!(guest.transcript.len() <= (PIECES_MAXIMUM + 1) * PIECE);
        let mut guest =
            Guest::start(command("head -c 1000000 /dev/zero >&2; echo done"), limit).unwrap();
        guest.wait_for(&Pattern::text("done")).unwrap();
        guest.wait_for_exit().unwrap();
        let complaints = guest.complaints.lock().unwrap().len();
        assert!((PIECE..=COMPLAINTS_MAXIMUM + PIECE).contains(&complaints), "{complaints}");
    }
}
