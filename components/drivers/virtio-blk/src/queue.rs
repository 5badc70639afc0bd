//! Requests by a section that a client shares. Whoever submits does all the work, with its own priority: it copies between the section and
//! the memory for DMA, which nobody but this driver and its device reaches, so that no client changes what the device was given.

use crate::{DATA, DISK, Disk, Kind, answer, arguments, places, prepare};
use cairn::Error;
use cairn::dma::Buffer;
use cairn::section::Section;
use cairn_interfaces::{BlockQueue, blocks_checked};
use cairn_queue::blocks::{self, Request, Server, Session};

/// Most requests of the queue that the device has at a time; at most half of all, since callers of `Blocks` want some.
const DEPTH: usize = 8;
const _: () = assert!(blocks::LONGEST <= DATA);

pub struct Queue {
    server: Server,
}

pub static QUEUE: Queue = Queue { server: Server::new() };

fn section() -> Result<(Section, Section), Error> {
    blocks::section(arguments::queue()).ok_or(Error::NotSupported)
}

/// Requests that the device has, in the order in which it got them.
struct Pending {
    places: [(u64, usize, Request); DEPTH],
    first: usize,
    count: usize,
}

impl Pending {
    fn new() -> Pending {
        let none = Request { kind: blocks::Kind::Flush, first: 0, offset: 0, bytes: 0 };
        Pending { places: [(0, 0, none); DEPTH], first: 0, count: 0 }
    }

    fn push(&mut self, one: (u64, usize, Request)) {
        self.places[(self.first + self.count) % DEPTH] = one;
        self.count += 1;
    }

    fn pop(&mut self) -> Option<(u64, usize, Request)> {
        let one = self.places[self.first];
        self.count = self.count.checked_sub(1)?;
        self.first = (self.first + 1) % DEPTH;
        Some(one)
    }
}

impl BlockQueue for Queue {
    fn begin(&self) -> Result<u64, Error> {
        let (section, _) = section()?;
        self.server.begin(&section, cairn::time::now())
    }

    fn submit(&self, beginning: u64) -> Result<u64, Error> {
        let (section, data) = section()?;
        let size = DISK.blocks()?;
        let mut session = self.server.enter(section, data.size(), beginning)?;
        let mut pending = Pending::new();
        let served = DISK.serve(&mut session, &mut pending, &data, size);
        // Nobody waits for what the device has still.
        while let Some((_, place, _)) = pending.pop() {
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
            while pending.count < depth {
                let next = match held.take() {
                    Some(next) => Some(next),
                    None => session.next(pending.count)?,
                };
                let Some((number, request)) = next else { break };
                let started =
                    request.and_then(|one| self.start(&one, pending.count == 0, data, size));
                match (started, request) {
                    (Ok(Some(place)), Ok(request)) => pending.push((number, place, request)),
                    // Others have the places; there is one when the first of these is answered.
                    (Ok(None), _) if pending.count > 0 => {
                        held = Some((number, request));
                        break;
                    }
                    // The next one would wait again.
                    (Err(Error::Cancelled), _) => return Err(Error::Cancelled),
                    (started, _) => session.answer(number, started.map(drop))?,
                }
            }
            if let Some((number, place, request)) = pending.pop() {
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
