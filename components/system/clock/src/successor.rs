//! What goes over to a successor: the timers. Threads that wait for one are called home, and wait again there; those that sleep come back in
//! their time.

use crate::timers::TIMERS;
use crate::waiting;
use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn::successor::{self, Reader, Writer};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Successor;

/// Which meaning the records have.
const VERSION: u64 = 1;
/// Kinds of records. The first is the version.
const BEGIN: u8 = 0;
const TIMER: u8 = 1;
/// The last: the generation of timers.
const END: u8 = 2;

static READER: Exclusive<Reader> = Exclusive::new(Reader::new());

/// What the loader calls.
pub struct State;
pub static STATE: State = State;

impl Successor for State {
    fn call_home(&self, called: bool) -> Result<(), Error> {
        waiting::call_home(called);
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        successor::export(from, part.len(), |at, bytes| part.write(at, bytes), write)
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        READER.with(|reader| reader.import((size, from), part, take)).map(drop)
    }
}

fn write(writer: &mut Writer) -> Result<(), Error> {
    writer.record(BEGIN, &[&VERSION.to_le_bytes()])?;
    TIMERS.write(|timer| {
        let [control, known, period, end] = timer.map(u64::to_le_bytes);
        writer.record(TIMER, &[&control, &known, &period, &end])
    })?;
    writer.record(END, &[&TIMERS.generation().to_le_bytes()])
}

fn take(kind: u8, content: &[u8]) -> Result<(), Error> {
    match kind {
        BEGIN if successor::word(content)?.0 == VERSION => Ok(()),
        TIMER => TIMERS.take(successor::words(content)?.0),
        END => {
            TIMERS.follow(u32::from_le_bytes(successor::split(content)?.0));
            Ok(())
        }
        _ => Err(Error::VersionMismatch),
    }
}
