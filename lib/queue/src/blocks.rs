//! Requests to a disk by a section, as the interface `BlockQueue` has them: how the section is laid out, and both sides.
//!
//! The first page has two rings, of requests and of their answers; behind it lie the data, which the client divides as it likes.

mod client;
mod server;

pub use client::{Calls, Client};
pub use server::section;
pub use server::{Server, Session};

use crate::ring::Place;
use cairn::Error;
use cairn::abi::address::{PAGE_SIZE, WINDOW_MAXIMUM};

/// Most requests without an answer.
pub const CAPACITY: usize = 32;
/// Most requests that one call of `submit` serves: a client that has more at any time does not keep a thread with the server, which would be
/// at fault if that one is called home.
pub const MOST: u64 = 4 * CAPACITY as u64;
/// Where the data begin, in bytes.
pub const DATA: usize = PAGE_SIZE as usize;
/// Most bytes of a request, as of a call of `Blocks`.
pub const LONGEST: usize = WINDOW_MAXIMUM as usize;

/// A request: its number among those without an answer; what to do, with the number of bytes above; the first block; where the data
/// are, in bytes behind [`DATA`].
pub const REQUESTS: Place<4> = Place { first: 0, capacity: CAPACITY as u64 };
/// An answer: the request's number, and 0 or an error's status.
pub const ANSWERS: Place<2> = Place { first: 256, capacity: CAPACITY as u64 };
const _: () = assert!(REQUESTS.words() <= 256 && (256 + ANSWERS.words()) * 8 <= DATA);

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Blocks of the disk come into the section.
    Read,
    /// Blocks of the section go to the disk.
    Write,
    /// All that was answered before lasts.
    Flush,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub kind: Kind,
    /// The first block.
    pub first: u64,
    /// Where the data are, behind [`DATA`].
    pub offset: usize,
    /// How many bytes, at most [`LONGEST`]; 0 of a flush.
    pub bytes: usize,
}

impl Request {
    #[inline(always)]
    fn entry(&self, number: usize) -> [u64; 4] {
        let kind = match self.kind {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Flush => 2,
        };
        [number as u64, kind | (self.bytes as u64) << 32, self.first, self.offset as u64]
    }

    /// What an entry asks for, whose data lie within `size` bytes.
    #[inline(always)]
    fn of([_, kind, first, offset]: [u64; 4], size: usize) -> Result<Request, Error> {
        let bytes = (kind >> 32) as usize;
        let kind = match kind as u32 {
            0 => Kind::Read,
            1 => Kind::Write,
            2 => Kind::Flush,
            _ => return Err(Error::NotSupported),
        };
        if bytes > LONGEST {
            return Err(Error::TooLarge);
        }
        if offset > size as u64 || bytes > size - offset as usize {
            return Err(Error::BadArgument);
        }
        if kind == Kind::Flush {
            return Ok(Request { kind, first: 0, offset: 0, bytes: 0 });
        }
        Ok(Request { kind, first, offset: offset as usize, bytes })
    }
}
