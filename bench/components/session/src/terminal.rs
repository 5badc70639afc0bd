//! The terminal: what it shows goes on to the console, what is typed comes from this component's own thread, line by line, as from
//! the thread of a driver.

use crate::imports;
use cairn::exclusive::Exclusive;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place};
use cairn_interfaces::{Console, SemaphoreProxy, Terminal};
use core::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a piece of text on its way.
const PIECE: usize = 256;

/// Whoever reads is the shell alone.
pub struct Keyboard {
    /// What was typed and not read yet.
    typed: Exclusive<&'static [u8]>,
    /// A line is typed.
    arrived: AtomicU32,
    /// All that was typed is read, and its answers are shown: the reader waits for more.
    done: AtomicU32,
}

pub static TERMINAL: Keyboard =
    Keyboard { typed: Exclusive::new(&[]), arrived: AtomicU32::new(0), done: AtomicU32::new(0) };

impl Keyboard {
    /// Waits until the shell reads.
    pub fn begin(&self) {
        for place in [&self.arrived, &self.done] {
            let semaphore = imports::PORTALS.semaphore(0).expect("the quota has two semaphores");
            place.store(semaphore.first_portal(), Ordering::Release);
        }
        self.semaphore(&self.done).and_then(|done| done.p()).expect("the shell reads");
    }

    /// Types `text`, and waits after each line until its answer is shown.
    pub fn types(&self, text: &'static [u8]) {
        for line in text.split_inclusive(|byte| *byte == b'\r') {
            self.typed.with(|typed| *typed = line);
            self.signal(&self.arrived).expect("the line is typed");
            self.semaphore(&self.done).and_then(|done| done.p()).expect("the line is answered");
        }
    }

    fn semaphore(&self, place: &AtomicU32) -> Result<SemaphoreProxy, Error> {
        match place.load(Ordering::Acquire) {
            0 => Err(Error::Busy),
            first => Ok(SemaphoreProxy::at(first)),
        }
    }

    fn signal(&self, place: &AtomicU32) -> Result<(), Error> {
        self.semaphore(place)?.v()
    }

    fn take(&self, buffer: &WriteWindow) -> Result<usize, Error> {
        self.typed.with(|typed| {
            let count = buffer.write(0, &typed[..typed.len().min(buffer.len())])?;
            *typed = &typed[count..];
            Ok(count)
        })
    }
}

impl Console for Keyboard {
    fn write(&self, text: ReadWindow) -> Result<(), Error> {
        text.pieces::<PIECE>(|piece| imports::CONSOLE.write(piece))
    }

    fn read(&self, buffer: WriteWindow) -> Result<usize, Error> {
        loop {
            match self.take(&buffer)? {
                0 => {
                    self.signal(&self.done)?;
                    self.semaphore(&self.arrived)?.p()?;
                }
                count => return Ok(count),
            }
        }
    }

    fn try_read(&self, buffer: WriteWindow) -> Result<usize, Error> {
        self.take(&buffer)
    }

    fn read_line(&self, _: WriteWindow) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }

    fn open(&self, _: Place) -> Result<Object<dyn Terminal>, Error> {
        Err(Error::NotSupported)
    }
}
