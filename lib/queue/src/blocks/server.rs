//! The side that serves. What it knows of a queue from one call to the next is its own; the section has only what the client may spoil.

use super::DATA;
use super::{ANSWERS, MOST, REQUESTS, Request};
use crate::ring::{Consumer, Producer, Shared};
use cairn::Error;
use cairn::{environment, section::Section};
// Relaxed: whoever changes the state from idle has the others, and that change orders them.
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering, Ordering::Relaxed};

/// No thread serves the queue...
const IDLE: u8 = 0;
/// ... one does...
const SERVED: u8 = 1;
/// ... and has to look again, since another one came.
const CALLED: u8 = 2;

/// The section called `name` that a server shares with its client, and the part of it for data. [`Error::NotSupported`] for no name, which
/// says that there is no queue. A panic says what the description lacks.
pub fn section(name: &str) -> Result<(Section, Section), Error> {
    if name.is_empty() {
        return Err(Error::NotSupported);
    }
    let section = environment::section(name);
    let Some(section) = section.filter(|one| one.is_writable() && one.size() > DATA) else {
        panic!(
            "expected `{name} = \"read-write\"` in [instance.{}.sections], and `size = \"8K\"` or more in [section.{name}], for `queue = \"{name}\"`",
            environment::name()
        )
    };
    Ok((section, section.part(DATA, section.size() - DATA)))
}

/// A queue between two calls.
#[derive(Debug)]
pub struct Server {
    state: AtomicU8,
    /// Of the client's last beginning...
    last: AtomicU64,
    /// ... and that number again, if nothing has failed since; else 0.
    beginning: AtomicU64,
    requests: AtomicU64,
    answers: AtomicU64,
}

impl Default for Server {
    fn default() -> Server {
        Server::new()
    }
}

impl Server {
    /// It has not begun.
    pub const fn new() -> Server {
        Server {
            state: AtomicU8::new(IDLE),
            last: AtomicU64::new(0),
            beginning: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            answers: AtomicU64::new(0),
        }
    }

    /// `BlockQueue::begin`. `now` is a number that no life had before, such as the time.
    pub fn begin(&self, shared: &impl Shared, now: u64) -> Result<u64, Error> {
        self.take()?;
        let beginning = now.max(self.last.load(Relaxed).saturating_add(1));
        REQUESTS.clear(shared);
        ANSWERS.clear(shared);
        self.requests.store(0, Relaxed);
        self.answers.store(0, Relaxed);
        self.last.store(beginning, Relaxed);
        self.beginning.store(beginning, Relaxed);
        self.state.store(IDLE, Ordering::Release);
        Ok(beginning)
    }

    fn take(&self) -> Result<(), Error> {
        let taken = self.state.compare_exchange(IDLE, SERVED, Ordering::Acquire, Relaxed);
        taken.map(drop).map_err(|_| Error::Busy)
    }

    /// Where it stands, while no thread is in it, in words for [`Server::go_on`].
    pub fn stand(&self) -> [u64; 4] {
        [&self.last, &self.beginning, &self.requests, &self.answers].map(|word| word.load(Relaxed))
    }

    /// It goes on where another server of the same section stood, which is no more. `Busy`: a thread is in it.
    pub fn go_on(&self, stood: [u64; 4]) -> Result<(), Error> {
        self.take()?;
        for (word, stood) in
            [&self.last, &self.beginning, &self.requests, &self.answers].into_iter().zip(stood)
        {
            word.store(stood, Relaxed);
        }
        self.state.store(IDLE, Ordering::Release);
        Ok(())
    }

    /// Begins `BlockQueue::submit`, for a section with `size` bytes of data.
    #[inline(always)]
    pub fn enter<S: Shared + Clone>(
        &self,
        shared: S,
        size: usize,
        beginning: u64,
    ) -> Result<Session<'_, S>, Error> {
        while self.take().is_err() {
            // Also where it is called already: what this caller published is ordered by an exchange of its own.
            let is_called = [SERVED, CALLED].into_iter().any(|seen| {
                self.state.compare_exchange(seen, CALLED, Ordering::Release, Relaxed).is_ok()
            });
            if is_called {
                return Err(Error::Busy);
            }
        }
        let known = self.beginning.load(Relaxed);
        if known == 0 || known != beginning {
            self.state.store(IDLE, Ordering::Release);
            return Err(Error::NotFound);
        }
        let requests = Consumer::new(shared.clone(), REQUESTS, self.requests.load(Relaxed));
        let answers = Producer::new(shared, ANSWERS, self.answers.load(Relaxed));
        let mut session = Session {
            server: self,
            size,
            requests,
            answers,
            answered: 0,
            turns: 0,
            has_left: false,
        };
        session.requests.wake();
        Ok(session)
    }
}

/// A request's number, and what it asks for.
pub type Next = (u64, Result<Request, Error>);

/// A thread that serves a queue. Where this is dropped before `is_done`, something failed: the client has to begin again.
pub struct Session<'server, S: Shared + Clone> {
    server: &'server Server,
    size: usize,
    requests: Consumer<S, 4>,
    answers: Producer<S, 2>,
    answered: u64,
    /// Requests that were taken, and looks for those of others that called: there are [`MOST`], whatever its client does meanwhile.
    turns: u64,
    has_left: bool,
}

impl<S: Shared + Clone> Session<'_, S> {
    /// The next request, if there is one, and room for its answer beside those of `pending` others.
    #[inline(always)]
    pub fn next(&mut self, pending: usize) -> Result<Option<Next>, Error> {
        if self.turns >= MOST || self.answers.space()? <= pending as u64 {
            return Ok(None);
        }
        let Some(entry) = self.requests.pop()? else { return Ok(None) };
        self.requests.give_back();
        self.turns += 1;
        Ok(Some((entry[0], Request::of(entry, self.size))))
    }

    /// Answers the request with this number. What it read is in the section.
    #[inline(always)]
    pub fn answer(&mut self, number: u64, result: Result<(), Error>) -> Result<(), Error> {
        let status = result.err().map_or(0, Error::status);
        match self.answers.push([number, status as u64])? {
            true => {
                self.answers.show();
                self.answered += 1;
            }
            // `next` saw room.
            false => return Err(Error::Malformed),
        }
        Ok(())
    }

    /// Whether the thread may go, to be asked when nothing is pending. If not, there is more.
    #[inline(always)]
    pub fn is_done(&mut self) -> Result<bool, Error> {
        let has_had_its_turns = self.turns >= MOST;
        if has_had_its_turns {
            // The caller knows that there may be more.
            self.requests.leave();
        } else if self.answers.space()? == 0 {
            // Its client takes no answers, also not until it can see that it has to call.
            self.requests.leave();
            if self.answers.space()? > 0 {
                self.requests.wake();
                self.turns += 1;
                return Ok(false);
            }
        } else if !self.requests.sleep()? {
            return Ok(false);
        }
        self.server.requests.store(self.requests.next(), Relaxed);
        self.server.answers.store(self.answers.next(), Relaxed);
        if has_had_its_turns {
            self.server.state.store(IDLE, Ordering::Release);
            self.has_left = true;
            return Ok(true);
        }
        let left = self.server.state.compare_exchange(SERVED, IDLE, Ordering::Release, Relaxed);
        self.has_left = left.is_ok();
        if !self.has_left {
            // Whoever called has published before.
            self.server.state.swap(SERVED, Ordering::AcqRel);
            self.requests.wake();
            self.turns += 1;
        }
        Ok(self.has_left)
    }

    /// What `BlockQueue::submit` answers when this is done.
    #[inline(always)]
    pub fn served(&self) -> u64 {
        if self.turns >= MOST { MOST } else { self.answered }
    }
}

impl<S: Shared + Clone> Drop for Session<'_, S> {
    fn drop(&mut self) {
        if !self.has_left {
            self.server.beginning.store(0, Relaxed);
            self.requests.leave();
            self.server.state.store(IDLE, Ordering::Release);
        }
    }
}
