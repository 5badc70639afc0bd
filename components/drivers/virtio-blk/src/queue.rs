//! Requests by a section that a client shares. Whoever submits does all the work, with its own priority: it copies between the section and
//! the memory for DMA, which nobody but this driver and its device reaches, so that no client changes what the device was given.

use crate::{DATA, DISK, Disk, Kind, answer, arguments, places, prepare};
use cairn::Error;
use cairn::dma::Buffer;
use cairn::section::Section;
use cairn_driver_interfaces::{BlockQueue, blocks_checked};
use cairn_queue::blocks::{self, Request, Server, Session};
use heapless::Deque;

/// Most requests of the queue that the device has at a time; at most half of all, since callers of `Blocks` want some.
const DEPTH: usize = 8;
const _: () = assert!(blocks::LONGEST <= DATA);

pub struct Queue {
    pub server: Server,
}

pub static QUEUE: Queue = Queue { server: Server::new() };

/// Requests that the device has, in the order in which it got them: the client's number, and the place.
type Pending = Deque<(u64, usize, Request), DEPTH>;

impl BlockQueue for Queue {
    fn begin(&self) -> Result<u64, Error> {
        let (section, _) = blocks::section(arguments::queue())?;
        self.server.begin(&section, cairn::time::now())
    }

    fn submit(&self, beginning: u64) -> Result<u64, Error> {
        let (section, data) = blocks::section(arguments::queue())?;
        let size = DISK.blocks()?;
        let mut session = self.server.enter(section, data.size(), beginning)?;
        let mut pending = Pending::new();
        let served = DISK.serve(&mut session, &mut pending, &data, size);
        // Nobody waits for what the device has still.
        while let Some((_, place, _)) = pending.pop_front() {
            DISK.requests.leave(place);
        }
        served
    }
}

impl From<blocks::Kind> for Kind {
    fn from(kind: blocks::Kind) -> Kind {
        match kind {
            blocks::Kind::Read => Kind::Read,
            blocks::Kind::Write => Kind::Write,
            blocks::Kind::Flush => Kind::Flush,
        }
    }
}

impl Disk {
    fn serve(
        &self,
        session: &mut Session<Section>,
        pending: &mut Pending,
        data: &Section,
        size: u64,
    ) -> Result<u64, Error> {
        let depth = (places() / 2).clamp(1, DEPTH);
        let mut held = None;
        loop {
            while pending.len() < depth {
                let next = match held.take() {
                    Some(next) => Some(next),
                    None => session.next(pending.len())?,
                };
                let Some((number, request)) = next else { break };
                let started =
                    request.and_then(|one| self.start(&one, pending.is_empty(), data, size));
                match (started, request) {
                    (Ok(Some(place)), Ok(request)) => {
                        // `depth` leaves room.
                        let _ = pending.push_back((number, place, request));
                    }
                    // Others have the places; there is one when the first of these is answered.
                    (Ok(None), _) if !pending.is_empty() => {
                        held = Some((number, request));
                        break;
                    }
                    // The next one would wait again.
                    (Err(Error::Cancelled), _) => return Err(Error::Cancelled),
                    (started, _) => session.answer(number, started.map(drop))?,
                }
            }
            if let Some((number, place, request)) = pending.pop_front() {
                let copy = |buffer: &Buffer| {
                    if request.kind == blocks::Kind::Read {
                        data.copy_from(request.offset, buffer, 0, request.bytes);
                    }
                    Ok(())
                };
                let finished = self.requests.finish(place, |place, length| {
                    answer(request.kind.into(), place, request.bytes, length, copy)
                })?;
                session.answer(number, finished)?;
            } else if session.is_done()? {
                return Ok(session.served());
            }
        }
    }

    /// Its place; `None`: there is none yet, or nothing to do.
    fn start(
        &self,
        request: &Request,
        waits: bool,
        data: &Section,
        size: u64,
    ) -> Result<Option<usize>, Error> {
        let Request { kind, first, offset, bytes } = *request;
        let kind = kind.into();
        if kind != Kind::Flush {
            blocks_checked(size, first, bytes)?;
        } else if !self.can_flush() {
            return Ok(None);
        }
        let copy = |buffer: &Buffer| {
            if kind == Kind::Write {
                buffer.copy_from(0, data, offset, bytes);
            }
            Ok(())
        };
        self.requests.start(waits, |place, chain| prepare(kind, first, bytes, copy, place, chain))
    }
}
