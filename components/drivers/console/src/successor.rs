//! What goes over to a successor: bytes on their way in both directions, half-typed lines, open terminals.

use crate::port::Port;
use crate::terminals::TERMINALS;
use crate::{DEVICE, TERMINAL};
use cairn::exclusive::Exclusive;
use cairn::successor::{self, Reader, Writer};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, environment};
use cairn_console::ring::Ring;
use cairn_interfaces::Successor;
// Relaxed: the state is read and written while nobody is inside.
use core::sync::atomic::Ordering::Relaxed;

/// Which meaning the records have.
const VERSION: u64 = 2;
/// Kinds of records. The first is the version, with the thread whose line has not ended.
const BEGIN: u8 = 0;
const OUTPUT: u8 = 1;
/// The last bytes come first: the successor may have received others meanwhile, and puts these before them.
const INPUT: u8 = 2;
const HALF_LINE: u8 = 3;
const TERMINAL_OPEN: u8 = 4;
/// The last: the generation of terminals.
const END: u8 = 5;
/// Bytes of a ring in a record.
const PIECE: usize = 128;

static READER: Exclusive<Reader> = Exclusive::new(Reader::new());

/// What the loader calls.
pub struct State;
pub static STATE: State = State;

impl Successor for State {
    fn call_home(&self, called: bool) -> Result<(), Error> {
        TERMINAL.called_home.store(called, Relaxed);
        if called { TERMINAL.wake_readers() } else { TERMINAL.thaw() }
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        if from == 0 {
            TERMINAL.freeze()?;
        }
        successor::export(from, part.len(), |at, bytes| part.write(at, bytes), write)
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        if from == 0 {
            TERMINAL.freeze()?;
        }
        match READER.with(|reader| reader.import((size, from), part, take))? {
            true => TERMINAL.thaw(),
            false => Ok(()),
        }
    }
}

/// The bytes of a ring from its byte `first` on.
fn piece<const N: usize>(ring: &Ring<N>, first: usize, buffer: &mut [u8; PIECE]) -> usize {
    let bytes = (first..ring.len()).map_while(|at| ring.peek(at));
    buffer.iter_mut().zip(bytes).map(|(place, byte)| *place = byte).count()
}

fn write(writer: &mut Writer) -> Result<(), Error> {
    let line_of = TERMINAL.line_of.load(Relaxed);
    writer.record(BEGIN, &[&VERSION.to_le_bytes(), &line_of.to_le_bytes()])?;
    let mut buffer = [0; PIECE];
    for first in (0..TERMINAL.output.len()).step_by(PIECE) {
        let count = piece(&TERMINAL.output, first, &mut buffer);
        writer.record(OUTPUT, &[&buffer[..count]])?;
    }
    for first in (0..TERMINAL.input.len()).step_by(PIECE).rev() {
        let count = piece(&TERMINAL.input, first, &mut buffer);
        writer.record(INPUT, &[&buffer[..count]])?;
    }
    TERMINAL.halves.with(|halves| {
        halves.each(|reader, typed| writer.record(HALF_LINE, &[&reader.to_le_bytes(), typed]))
    })?;
    TERMINALS.write(|terminal, line| writer.record(TERMINAL_OPEN, &[terminal, line]))?;
    writer.record(END, &[&TERMINALS.generation().to_le_bytes()])
}

fn take(kind: u8, content: &[u8]) -> Result<(), Error> {
    match kind {
        BEGIN => {
            let (version, rest) = successor::word(content)?;
            if version != VERSION {
                return Err(Error::VersionMismatch);
            }
            TERMINAL.line_of.store(successor::word(rest)?.0, Relaxed);
        }
        OUTPUT => {
            if !content.iter().all(|byte| TERMINAL.output.push(*byte)) {
                return Err(Error::TooLarge);
            }
        }
        INPUT => content.iter().rev().for_each(|byte| TERMINAL.input.put_back(*byte)),
        HALF_LINE => {
            let (reader, typed) = successor::word(content)?;
            TERMINAL.halves.with(|halves| halves.keep(reader, typed));
        }
        TERMINAL_OPEN => TERMINALS.take(content)?,
        END => TERMINALS.follow(u32::from_le_bytes(successor::split(content)?.0)),
        _ => return Err(Error::VersionMismatch),
    }
    Ok(())
}

/// The port, for those that do not serve its interrupt.
pub fn port() -> Result<Port, Error> {
    Port::of(environment::required_device(DEVICE))
}
