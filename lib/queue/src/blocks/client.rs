//! The side that asks.

use super::{ANSWERS, CAPACITY, REQUESTS, Request};
use crate::ring::{Broken, Consumer, Producer, Shared};
use cairn::Error;

/// The calls of `BlockQueue`.
pub trait Calls {
    /// See there.
    fn begin(&self) -> Result<u64, Error>;
    /// See there.
    fn submit(&self, beginning: u64) -> Result<u64, Error>;
}

impl Calls for cairn_driver_interfaces::BlockQueueProxy {
    fn begin(&self) -> Result<u64, Error> {
        cairn_driver_interfaces::BlockQueueProxy::begin(self)
    }

    #[inline(always)]
    fn submit(&self, beginning: u64) -> Result<u64, Error> {
        cairn_driver_interfaces::BlockQueueProxy::submit(self, beginning)
    }
}

/// A queue as its client has it. Each request has a tag, whatever the client likes; with it comes the one answer to it.
#[derive(Debug)]
pub struct Client<C, S> {
    calls: C,
    shared: S,
    begun: Option<Begun<S>>,
    tags: [u64; CAPACITY],
    /// A bit for each number: its request has no answer yet.
    open: u32,
}

#[derive(Debug)]
struct Begun<S> {
    number: u64,
    requests: Producer<S, 4>,
    answers: Consumer<S, 2>,
    is_broken: bool,
}

const _: () = assert!(CAPACITY == u32::BITS as usize);

impl<C: Calls, S: Shared + Clone> Client<C, S> {
    /// A queue in a section, which the first request begins.
    pub fn new(calls: C, shared: S) -> Self {
        Client { calls, shared, begun: None, tags: [0; CAPACITY], open: 0 }
    }

    /// Requests without an answer.
    pub fn open(&self) -> usize {
        self.open.count_ones() as usize
    }

    /// The number of this beginning, for a thread that submits while another one has the queue; `None` before the first request, and after a
    /// loss.
    pub fn beginning(&self) -> Option<u64> {
        self.begun.as_ref().map(|begun| begun.number)
    }

    /// Puts a request in; whether there was room. The server sees it with the next `submit`. The data of a write are not to be changed before its answer.
    #[inline(always)]
    pub fn push(&mut self, tag: u64, request: Request) -> Result<bool, Error> {
        let number = self.open.trailing_ones() as usize;
        if number == CAPACITY {
            return Ok(false);
        }
        if self.begun.is_none() {
            self.begin()?;
        }
        let Some(begun) = &mut self.begun else { return Err(Error::Unknown) };
        match begun.requests.push(request.entry(number)) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(Broken) => {
                begun.is_broken = true;
                return Err(Error::Malformed);
            }
        }
        self.tags[number] = tag;
        self.open |= 1 << number;
        Ok(true)
    }

    #[cold]
    fn begin(&mut self) -> Result<(), Error> {
        let number = self.calls.begin()?;
        let requests = Producer::new(self.shared.clone(), REQUESTS, 0);
        let answers = Consumer::new(self.shared.clone(), ANSWERS, 0);
        self.begun = Some(Begun { number, requests, answers, is_broken: false });
        Ok(())
    }

    /// Has the server serve what was put in, by one call, or by none if a thread is there that looks for more; and takes answers.
    /// An error: the server has ended, or does what it must not. Then each request whose answer did not come is answered [`Error::Dead`],
    /// and may have been done or not; the next one begins anew.
    #[inline(always)]
    pub fn submit(
        &mut self,
        mut answered: impl FnMut(u64, Result<(), Error>),
    ) -> Result<(), Error> {
        let Some(begun) = &mut self.begun else { return Ok(()) };
        let called = match begun.requests.publish() {
            true => match self.calls.submit(begun.number) {
                Ok(_) | Err(Error::Busy) => Ok(()),
                Err(error) => Err(error),
            },
            false => Ok(()),
        };
        let result = self.take(&mut answered).and(called);
        if result.is_err() {
            self.lose(answered);
        }
        result
    }

    /// Takes answers, without a call; for a thread beside one that submits. Errors are as those of `submit`.
    pub fn poll(&mut self, mut answered: impl FnMut(u64, Result<(), Error>)) -> Result<(), Error> {
        let result = self.take(&mut answered);
        if result.is_err() {
            self.lose(answered);
        }
        result
    }

    #[inline(always)]
    fn take(&mut self, answered: &mut impl FnMut(u64, Result<(), Error>)) -> Result<(), Error> {
        let Some(begun) = &mut self.begun else { return Ok(()) };
        while let Some([number, status]) = begun.answers.pop()? {
            let bit = 1u32.checked_shl(u32::try_from(number).unwrap_or(u32::MAX)).unwrap_or(0);
            if self.open & bit == 0 {
                return Err(Error::Malformed);
            }
            self.open &= !bit;
            let result = match status as i64 {
                0 => Ok(()),
                status => Err(Error::from_status(status)),
            };
            answered(self.tags[number as usize], result);
        }
        begun.answers.give_back();
        if begun.is_broken { Err(Error::Malformed) } else { Ok(()) }
    }

    #[cold]
    fn lose(&mut self, mut answered: impl FnMut(u64, Result<(), Error>)) {
        self.begun = None;
        while self.open != 0 {
            let number = self.open.trailing_zeros() as usize;
            self.open &= self.open - 1;
            answered(self.tags[number], Err(Error::Dead));
        }
    }
}
