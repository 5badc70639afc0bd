//! Open terminals: objects, each with what is left of its client's last line.

use crate::{TERMINAL, imports};
use cairn::object::ObjectTable;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place};
use cairn_interfaces::Terminal;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Open terminals of all clients.
const TERMINALS_MAXIMUM: usize = 32;
/// Open terminals of a client. Who opens one more loses the oldest. Those of its former lives end as
/// well, and when there is no room, those of all who are dead.
const CLIENT_MAXIMUM: usize = 2;
/// Bytes of a line that are kept back until it ends.
const LINE: usize = 256;

/// The open terminals.
pub struct Terminals {
    open: ObjectTable<OpenTerminal, TERMINALS_MAXIMUM>,
    opened: AtomicU64,
}

/// The open terminals.
pub static TERMINALS: Terminals = Terminals { open: ObjectTable::new(), opened: AtomicU64::new(0) };

/// An open terminal.
pub struct OpenTerminal {
    client: u32,
    /// Which of the client's lives opened it.
    life: u64,
    /// Terminals opened before it.
    age: u64,
    /// Its own control word, once it is in the table.
    control: AtomicU64,
    echo: AtomicBool,
    /// What was written of a line that has not ended; changed in the writers' turn alone.
    line: [AtomicU8; LINE],
    length: AtomicUsize,
}

impl Terminals {
    /// Runs `body` with the terminal that `control` names.
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&OpenTerminal) -> R) -> Result<R, Error> {
        self.open.with(control, body)
    }

    /// Opens a terminal for a client, where it wants it.
    pub fn open(&self, place: Place) -> Result<Object<dyn Terminal>, Error> {
        let client = place.client();
        let life = imports::PORTALS.life(client.0.into())?;
        self.make_room(client.0, life);
        let control = self.insert(client.0, life).or_else(|error| match error {
            Error::Exhausted => {
                self.end_those_of_the_dead();
                self.insert(client.0, life)
            }
            error => Err(error),
        })?;
        self.open.with(control, |terminal| terminal.control.store(control, Relaxed))?;
        let made = imports::PORTALS.grant::<dyn Terminal>(place, control);
        if made.is_err() {
            self.open.remove(control)?;
        }
        made
    }

    fn insert(&self, client: u32, life: u64) -> Result<u64, Error> {
        self.open.insert(OpenTerminal {
            client,
            life,
            age: self.opened.fetch_add(1, Relaxed),
            control: AtomicU64::new(0),
            echo: AtomicBool::new(true),
            line: [const { AtomicU8::new(0) }; LINE],
            length: AtomicUsize::new(0),
        })
    }

    /// Nobody tells when a client dies, so this looks when room is needed.
    fn end_those_of_the_dead(&self) {
        self.open.for_each(|control, terminal| {
            if imports::PORTALS.has_ended(terminal.client, terminal.life) {
                // Another call may have closed it meanwhile.
                let _ = self.open.remove(control);
            }
        });
    }

    /// Closes the oldest terminal of a client that has as many as it may, and all of its former lives.
    fn make_room(&self, client: u32, life: u64) {
        let (mut count, mut oldest) = (0, (u64::MAX, 0));
        self.open.for_each(|control, terminal| {
            if terminal.client != client {
                return;
            }
            if terminal.life != life {
                let _ = self.open.remove(control);
                return;
            }
            count += 1;
            oldest = oldest.min((terminal.age, control));
        });
        if count >= CLIENT_MAXIMUM {
            // Another call may have closed it meanwhile.
            let _ = self.open.remove(oldest.1);
        }
    }
}

impl OpenTerminal {
    /// Keeps a byte, or shows the line that it ends or fills. In the writers' turn.
    fn keep(&self, byte: u8) -> Result<(), Error> {
        let length = self.length.load(Relaxed);
        self.line[length].store(byte, Relaxed);
        self.length.store(length + 1, Relaxed);
        if byte == b'\n' || length + 1 == LINE { self.show() } else { Ok(()) }
    }

    /// Shows what was kept. In the writers' turn.
    fn show(&self) -> Result<(), Error> {
        let length = self.length.swap(0, Relaxed);
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
        self.flush()?;
        TERMINAL.collect_line(buffer, self.echo.load(Relaxed))
    }

    fn set_echo(&self, on: bool) -> Result<(), Error> {
        self.echo.store(on, Relaxed);
        Ok(())
    }

    fn close(&self) -> Result<(), Error> {
        self.flush()?;
        TERMINALS.open.remove(self.control.load(Relaxed))
    }
}
