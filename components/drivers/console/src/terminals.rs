//! Open terminals: objects, each with what is left of its client's last line.

use crate::{TERMINAL, imports};
use cairn::object::ObjectParts;
use cairn::successor;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place};
use cairn_interfaces::Terminal;
// Relaxed: a kept line is touched in the writers' turn, which a lock orders; `echo` says nothing of other words.
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// Open terminals of a client. A client that opens one more loses the oldest; those of its former lives end as well.
const CLIENT_MAXIMUM: usize = 2;
/// Bytes of a line that are kept back until it ends.
const LINE: usize = 96;

/// Bytes that say of a terminal what is not its line.
const ABOUT: usize = 18;

/// The open terminals, of which each client has a part of its own.
pub struct Terminals(ObjectParts<OpenTerminal, CLIENT_MAXIMUM>);

/// The open terminals.
pub static TERMINALS: Terminals = Terminals(ObjectParts::new());

/// An open terminal.
pub struct OpenTerminal {
    /// Its own control word.
    control: u64,
    /// Whether its client may read what is typed.
    reads: bool,
    echo: AtomicBool,
    /// What was written of a line that has not ended; changed in the writers' turn alone.
    line: [AtomicU8; LINE],
    length: AtomicU8,
}

impl Terminals {
    /// Runs `body` with the terminal that `control` names.
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&OpenTerminal) -> R) -> Result<R, Error> {
        self.0.with(control, body)
    }

    /// Opens a terminal for a client, where it wants it.
    pub fn open(&self, place: Place, reads: bool) -> Result<Object<dyn Terminal>, Error> {
        let client = place.client();
        let life = imports::PORTALS.life(client.0)?;
        let terminal = |control| OpenTerminal {
            control,
            reads,
            echo: AtomicBool::new(true),
            line: [const { AtomicU8::new(0) }; LINE],
            length: AtomicU8::new(0),
        };
        let control = self.0.insert(client, life, terminal, |_| {})?;
        let made = imports::PORTALS.grant::<dyn Terminal>(place, control);
        if made.is_err() {
            self.0.remove(control)?;
        }
        made
    }
}

/// For a successor, while nobody is inside.
impl Terminals {
    /// Hands each over: what is known of it, and its line.
    pub fn write(
        &self,
        mut write: impl FnMut(&[u8], &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.0.try_for_each(|control, known, terminal| {
            let mut about = [0; ABOUT];
            about[..8].copy_from_slice(&control.to_le_bytes());
            about[8..16].copy_from_slice(&known.to_le_bytes());
            about[16] = terminal.reads.into();
            about[17] = terminal.echo.load(Relaxed).into();
            let line = terminal.line.each_ref().map(|byte| byte.load(Relaxed));
            let length = usize::from(terminal.length.load(Relaxed));
            write(&about, line.get(..length).unwrap_or(&line))
        })
    }

    /// Takes one over.
    pub fn take(&self, content: &[u8]) -> Result<(), Error> {
        let ([control, known], rest) = successor::words(content)?;
        let ([reads, echo], line) = successor::split(rest)?;
        // A line is shown when it is full.
        if line.len() >= LINE {
            return Err(Error::TooLarge);
        }
        let terminal = OpenTerminal {
            control,
            reads: reads != 0,
            echo: AtomicBool::new(echo != 0),
            line: core::array::from_fn(|at| AtomicU8::new(line.get(at).copied().unwrap_or(0))),
            length: AtomicU8::new(line.len() as u8),
        };
        self.0.restore(control, known, terminal)
    }

    /// The highest generation of one.
    pub fn generation(&self) -> u32 {
        self.0.generation()
    }

    /// What comes next does not have a control word of one of this generation.
    pub fn follow(&self, generation: u32) {
        self.0.follow(generation);
    }
}

impl OpenTerminal {
    /// Keeps a byte, or shows the line that it ends or fills. In the writers' turn.
    fn keep(&self, byte: u8) -> Result<(), Error> {
        let length = usize::from(self.length.load(Relaxed));
        self.line[length].store(byte, Relaxed);
        self.length.store(length as u8 + 1, Relaxed);
        if byte == b'\n' || length + 1 == LINE { self.show() } else { Ok(()) }
    }

    /// Shows what was kept. In the writers' turn.
    fn show(&self) -> Result<(), Error> {
        let length = usize::from(self.length.swap(0, Relaxed));
        TERMINAL.put_all(self.line[..length].iter().map(|byte| byte.load(Relaxed)))
    }
}

impl Terminal for OpenTerminal {
    fn write(&self, text: ReadWindow) -> Result<(), Error> {
        text.pieces::<LINE>(|piece| {
            TERMINAL.turn.take(|| piece.iter().try_for_each(|byte| self.keep(*byte)))
        })
    }

    fn flush(&self) -> Result<(), Error> {
        TERMINAL.turn.take(|| self.show())
    }

    fn read_line(&self, buffer: WriteWindow) -> Result<usize, Error> {
        if !self.reads {
            return Err(Error::NotAllowed);
        }
        self.flush()?;
        TERMINAL.collect_line(buffer, self.echo.load(Relaxed), self.control)
    }

    fn set_echo(&self, on: bool) -> Result<(), Error> {
        self.echo.store(on, Relaxed);
        Ok(())
    }

    fn close(&self) -> Result<(), Error> {
        self.flush()?;
        TERMINALS.0.remove(self.control)
    }
}
