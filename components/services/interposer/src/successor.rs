//! What goes over to a successor: what it is told to do, what was kept and counted. It stands where its predecessor stood, as soon as it knows all
//! of that.

use super::{ACTION, ALLOWED, ALLOWED_COUNT, COUNTED, EVERY, KEPT, MATCHED, METHOD, NUMBER, stand};
use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn::successor::{self, Reader, Writer, word, words};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Successor;
use cairn_interposer::kept::TEXT;
use cairn_interposer::methods::{NAME, Numbers};
// Relaxed: no call is inside while the state is written or taken over.
use core::sync::atomic::Ordering::Relaxed;

/// Which meaning the records have.
const VERSION: u64 = 1;
/// Kinds of records. The first is the version.
const BEGIN: u8 = 0;
const TOLD: u8 = 1;
const ALLOWS: u8 = 2;
const CALL: u8 = 3;
const COUNT: u8 = 4;
const END: u8 = 5;

static READER: Exclusive<Reader> = Exclusive::new(Reader::new());

/// What the loader calls.
pub struct State;
pub static STATE: State = State;

impl Successor for State {
    fn call_home(&self, _: bool) -> Result<(), Error> {
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
    let mut text = [0; 64];
    let length = METHOD.load(&mut text);
    let told = [&ACTION, &NUMBER, &EVERY, &MATCHED].map(|one| one.load(Relaxed).to_le_bytes());
    writer.record(TOLD, &[told.as_flattened(), &text[..length]])?;
    for allowed in ALLOWED.iter().take(ALLOWED_COUNT.load(Relaxed) as usize) {
        let length = allowed.load(&mut text);
        writer.record(ALLOWS, &[&text[..length]])?;
    }
    let (mut from, mut text) = (0, [0; TEXT]);
    while let Some(found) = KEPT.find(from, &mut text) {
        let numbers = found.numbers.map(u64::to_le_bytes);
        let number = found.number.to_le_bytes();
        writer.record(CALL, &[&number, numbers.as_flattened(), &text[..found.length]])?;
        from = found.number + 1;
    }
    let (mut from, mut name) = (0, [0; NAME]);
    while let Some((place, length, numbers)) = COUNTED.find(from, &mut name) {
        let Numbers { calls, errors, time, longest } = numbers;
        let numbers = [calls, errors, time, longest].map(u64::to_le_bytes);
        writer.record(COUNT, &[numbers.as_flattened(), &name[..length]])?;
        from = place + 1;
    }
    writer.record(END, &[])
}

fn text(bytes: &[u8], most: usize) -> Result<&str, Error> {
    let text = core::str::from_utf8(bytes).map_err(|_| Error::Malformed)?;
    if text.len() <= most { Ok(text) } else { Err(Error::Malformed) }
}

fn take(kind: u8, content: &[u8]) -> Result<(), Error> {
    match kind {
        BEGIN if word(content)?.0 == VERSION => {}
        TOLD => {
            let (told, method) = words::<4>(content)?;
            for (place, word) in [&ACTION, &NUMBER, &EVERY, &MATCHED].into_iter().zip(told) {
                place.store(word, Relaxed);
            }
            METHOD.store(text(method, 64)?);
        }
        ALLOWS => {
            let count = ALLOWED_COUNT.load(Relaxed);
            let place = ALLOWED.get(count as usize).ok_or(Error::Malformed)?;
            place.store(text(content, 64)?);
            ALLOWED_COUNT.store(count + 1, Relaxed);
        }
        CALL => {
            let ([number, time, took, thread], line) = words(content)?;
            KEPT.restore(number, [time, took, thread], text(line, TEXT)?);
        }
        COUNT => {
            let ([calls, errors, time, longest], name) = words(content)?;
            COUNTED.restore(text(name, NAME)?, Numbers { calls, errors, time, longest });
        }
        END => return stand(),
        _ => return Err(Error::VersionMismatch),
    }
    Ok(())
}
