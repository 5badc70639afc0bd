//! The line editor: keys in, a line out, and what the terminal has to be told.
//!
//! The terminal always shows prompt and line with the cursor at its place; only what changes is sent,
//! so that typing at the end of a line costs one byte.

use crate::complete::{Completer, Completion};
use crate::history::{History, LINE, Line};
use crate::keys::{Decoder, Key};
use core::fmt::{Result, Write};

/// What stands before the line.
pub const PROMPT: &str = "> ";

/// What came of a byte.
// There is no heap for the line.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The line goes on.
    More,
    /// The line has ended. The terminal is at the start of the next one.
    Line(Line),
    /// It has ended, but some of what was typed had no room in it: it must not be done.
    TooLong,
}

/// The line, the cursor, the lines before.
#[derive(Default)]
pub struct Editor {
    decoder: Decoder,
    line: Line,
    /// Bytes before the cursor. A byte is a character, since only ASCII gets into the line.
    cursor: usize,
    history: History,
    /// Characters were refused, and nothing but characters came since: the user has not seen it.
    overflowed: bool,
}

impl Editor {
    /// Shows prompt and line.
    pub fn show(&self, screen: &mut impl Write) -> Result {
        screen.write_str(PROMPT)?;
        screen.write_str(&self.line)?;
        left(screen, self.line.len() - self.cursor)
    }

    /// A byte has come from the terminal.
    pub fn take(
        &mut self,
        byte: u8,
        completer: &impl Completer,
        screen: &mut impl Write,
    ) -> core::result::Result<Answer, core::fmt::Error> {
        let Some(key) = self.decoder.take(byte) else { return Ok(Answer::More) };
        let overflowed = core::mem::take(&mut self.overflowed);
        match key {
            Key::Enter => {
                right(screen, self.line.len() - self.cursor)?;
                screen.write_str("\n")?;
                self.cursor = 0;
                let line = core::mem::take(&mut self.line);
                self.history.add(&line);
                return Ok(if overflowed { Answer::TooLong } else { Answer::Line(line) });
            }
            Key::Control(b'c') => {
                right(screen, self.line.len() - self.cursor)?;
                screen.write_str("^C\n")?;
                self.line.clear();
                self.cursor = 0;
                self.show(screen)?;
            }
            Key::Control(b'l') => {
                screen.write_str("\x1b[2J\x1b[H")?;
                self.show(screen)?;
            }
            Key::Tab => self.complete(completer, screen)?,
            Key::Character(character) => {
                self.overflowed = overflowed || self.line.len() == LINE;
                self.insert(&[character], screen)?;
            }
            Key::Backspace if self.cursor > 0 => {
                self.remove(self.cursor - 1, self.cursor, screen)?
            }
            Key::Delete | Key::Control(b'd') if self.cursor < self.line.len() => {
                self.remove(self.cursor, self.cursor + 1, screen)?;
            }
            Key::Control(b'k') => self.remove(self.cursor, self.line.len(), screen)?,
            Key::Control(b'u') => self.remove(0, self.cursor, screen)?,
            Key::Control(b'w') => self.remove(self.word_start(), self.cursor, screen)?,
            Key::Left | Key::Control(b'b') if self.cursor > 0 => {
                self.go(self.cursor - 1, screen)?
            }
            Key::Right | Key::Control(b'f') if self.cursor < self.line.len() => {
                self.go(self.cursor + 1, screen)?
            }
            Key::Home | Key::Control(b'a') => self.go(0, screen)?,
            Key::End | Key::Control(b'e') => self.go(self.line.len(), screen)?,
            Key::Up | Key::Control(b'p') => match self.history.older(&self.line) {
                Some(line) => self.replace(line, screen)?,
                None => bell(screen)?,
            },
            Key::Down | Key::Control(b'n') => match self.history.newer() {
                Some(line) => self.replace(line, screen)?,
                None => bell(screen)?,
            },
            _ => bell(screen)?,
        }
        Ok(Answer::More)
    }

    fn insert(&mut self, bytes: &[u8], screen: &mut impl Write) -> Result {
        let text = core::str::from_utf8(bytes).map_err(|_| core::fmt::Error)?;
        if self.line.len() + text.len() > LINE {
            return bell(screen);
        }
        let mut line = Line::new();
        line.push_str(&self.line[..self.cursor])
            .and_then(|()| line.push_str(text))
            .map_err(|_| core::fmt::Error)?;
        line.push_str(&self.line[self.cursor..]).map_err(|_| core::fmt::Error)?;
        self.line = line;
        screen.write_str(&self.line[self.cursor..])?;
        self.cursor += text.len();
        left(screen, self.line.len() - self.cursor)
    }

    /// Takes the characters `from..to` out; the cursor is at one of both.
    fn remove(&mut self, from: usize, to: usize, screen: &mut impl Write) -> Result {
        if from == to {
            return Ok(());
        }
        self.go(from, screen)?;
        let mut line = Line::new();
        line.push_str(&self.line[..from])
            .and_then(|()| line.push_str(&self.line[to..]))
            .map_err(|_| core::fmt::Error)?;
        self.line = line;
        screen.write_str(&self.line[from..])?;
        screen.write_str("\x1b[K")?;
        left(screen, self.line.len() - from)
    }

    fn replace(&mut self, line: Line, screen: &mut impl Write) -> Result {
        self.go(0, screen)?;
        self.line = line;
        self.cursor = self.line.len();
        screen.write_str(&self.line)?;
        screen.write_str("\x1b[K")
    }

    fn go(&mut self, cursor: usize, screen: &mut impl Write) -> Result {
        left(screen, self.cursor.saturating_sub(cursor))?;
        right(screen, cursor.saturating_sub(self.cursor))?;
        self.cursor = cursor;
        Ok(())
    }

    /// Start of the word before the cursor, the spaces behind it included.
    fn word_start(&self) -> usize {
        let before = self.line[..self.cursor].trim_end_matches(' ');
        before.rfind(' ').map_or(0, |space| space + 1)
    }

    /// Completes the word before the cursor as far as all candidates agree; if they do not at all,
    /// shows them.
    fn complete(&mut self, completer: &impl Completer, screen: &mut impl Write) -> Result {
        let before = &self.line[..self.cursor];
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        let (words, word) = before.split_at(start);
        let mut completion = Completion::new(word);
        completer.candidates(words, &mut |candidate| completion.consider(candidate));
        let end: Line = completion.end();
        if completion.count() == 0 {
            return bell(screen);
        }
        if !end.is_empty() {
            return self.insert(end.as_bytes(), screen);
        }
        screen.write_str("\n")?;
        let mut result = Ok(());
        completer.candidates(words, &mut |candidate| {
            if candidate.starts_with(word) && result.is_ok() {
                result = screen.write_str("  ").and_then(|()| screen.write_str(candidate));
            }
        });
        result?;
        screen.write_str("\n")?;
        self.show(screen)
    }
}

fn bell(screen: &mut impl Write) -> Result {
    screen.write_str("\x07")
}

fn left(screen: &mut impl Write, columns: usize) -> Result {
    match columns {
        0 => Ok(()),
        1 => screen.write_str("\x08"),
        _ => write!(screen, "\x1b[{columns}D"),
    }
}

fn right(screen: &mut impl Write, columns: usize) -> Result {
    match columns {
        0 => Ok(()),
        _ => write!(screen, "\x1b[{columns}C"),
    }
}
