//! What goes over to a successor: how far the queue is. Requests are answered before it comes, and it serves when its device has begun.

use crate::DISK;
use crate::queue::QUEUE;
use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn::successor::{self, Reader, Writer};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Successor;

/// The kind of the one record, which says what it means.
const QUEUE_STANDS: u8 = 1;

static READER: Exclusive<Reader> = Exclusive::new(Reader::new());

/// What the loader calls.
pub struct State;
pub static STATE: State = State;

impl Successor for State {
    /// Who is inside waits for the device only.
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow) -> Result<usize, Error> {
        successor::export(from, part.len(), |at, bytes| part.write(at, bytes), write)
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow) -> Result<(), Error> {
        DISK.requests.has_begun()?;
        READER.with(|reader| reader.import((size, from), part, take)).map(drop)
    }
}

fn write(writer: &mut Writer) -> Result<(), Error> {
    let [last, beginning, requests, answers] = QUEUE.server.stand().map(u64::to_le_bytes);
    writer.record(QUEUE_STANDS, &[&last, &beginning, &requests, &answers])
}

fn take(kind: u8, content: &[u8]) -> Result<(), Error> {
    if kind != QUEUE_STANDS {
        return Err(Error::VersionMismatch);
    }
    QUEUE.server.go_on(successor::words(content)?.0)
}
