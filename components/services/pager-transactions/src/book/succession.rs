//! What a successor learns of frames and transactions. Nobody is inside then: what threads were answered is mapped, or never will be.

use super::{Book, CLIENTS, Machine, Use};
use cairn::Error;
use cairn::abi::thread::THREADS_MAXIMUM;
use cairn::successor::Writer;
use cairn_pager::handover::{bytes, words};

/// Kinds of records: a transaction that has begun, and a frame that has something.
const CLAIM: u8 = 1;
const FRAME: u8 = 2;
/// Of a frame with what is committed, in the place of its client.
const NOBODY: u64 = CLIENTS as u64;

impl Book {
    /// Takes from all threads what is stale.
    pub fn settle(&mut self, machine: &mut impl Machine) -> Result<(), Error> {
        (0..THREADS_MAXIMUM).try_for_each(|thread| self.comes(thread, machine))
    }

    /// Writes what there is, when it is settled.
    pub fn write(&self, writer: &mut Writer) -> Result<(), Error> {
        for (client, claim) in self.claims.iter().enumerate() {
            if let Some(claim) = claim {
                let record = [client, claim.first, claim.pages].map(|word| word as u64);
                writer.record(CLAIM, &[bytes(record).as_flattened()])?;
            }
        }
        for (frame, has) in self.frames[..self.count].iter().enumerate() {
            let (client, page) = match *has {
                Use::Free | Use::Stale => continue,
                Use::Committed(page) => (NOBODY, page),
                Use::Written { client, page } => (client as u64, page),
            };
            let record = [frame as u64, client, page as u64];
            writer.record(FRAME, &[bytes(record).as_flattened()])?;
        }
        Ok(())
    }

    /// Takes over such a record: of a transaction before its frames.
    pub fn take_over(&mut self, kind: u8, record: &[u8]) -> Result<(), Error> {
        match kind {
            CLAIM => {
                let [client, first, pages] = words(record)?;
                self.put_claim(client as usize, first, pages)
            }
            FRAME => {
                let [frame, client, page] = words(record)?;
                let at = page as usize;
                let has = match self.claims.get(client as usize) {
                    None if client == NOBODY && page < self.pages as u64 => Use::Committed(at),
                    Some(Some(claim)) if claim.has(at) => {
                        Use::Written { client: client as usize, page: at }
                    }
                    _ => return Err(Error::Malformed),
                };
                let is_twice = self.find(has).is_some();
                let frame = self.frames[..self.count].get_mut(frame as usize);
                let frame = frame.filter(|frame| **frame == Use::Free && !is_twice);
                *frame.ok_or(Error::Malformed)? = has;
                Ok(())
            }
            _ => Err(Error::VersionMismatch),
        }
    }
}
