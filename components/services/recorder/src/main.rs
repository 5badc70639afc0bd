//! An interposer that records the calls that come through it, and answers calls from what was recorded, in the place of whom they were for.
//!
//! As other tools it knows no more of a method than the letters of its portal say, for which it asks with each call.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::exclusive::Exclusive;
use cairn::interpose::{Answer, Interposer, Passing};
use cairn::text::Line;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, environment, time};
use cairn_interfaces::{PortalListing, Portals, Recorder, Recording, RecordingError};
use cairn_interposer::kept::{Kept, TEXT};
use cairn_interposer::portal::{Portal, REGISTERS};
use cairn_recorder::call::{Call, NAME, Name, Shape};
use cairn_recorder::lines::{self, BYTES, LINE};
use cairn_recorder::read::{Mistake, Reader};
use cairn_recorder::store::Store;
use core::fmt::Write;
// Relaxed: a count, which says nothing of other words.
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "recorder",
    imports: { portals: Portals, listing: PortalListing },
    exports: { recorder: Recorder = SERVER },
}

use imports::{LISTING, PORTALS};

/// Calls that are recorded, words of what was in their buffers, and calls that were not found there.
const CALLS: usize = 256;
const WORDS: usize = 16 * 1024;
const MISSED: usize = 16;
/// Longest line of the portal manager.
const DESCRIBED: usize = 128;
/// In the number of a line: above it is the number of its call and 1.
const CALL_SHIFT: u32 = 16;

/// A recording may be given to it: what it does before it is told what to do.
const TAKES: u64 = 0;

static DOES: AtomicU64 = AtomicU64::new(TAKES);
static STORE: Store<CALLS, WORDS> = Store::empty();
// One has it at a time, whoever has set the mark. It stays set if he dies meanwhile: then a recording is given to another recorder.
static IS_READING: AtomicBool = AtomicBool::new(false);
static READER: Exclusive<Reader> = Exclusive::new(Reader::begin());
static KEPT: Kept<MISSED> = Kept::none();
static MISSES: AtomicU64 = AtomicU64::new(0);

/// A call that can be recorded: its name, what it takes, and what of its registers is compared.
struct Known {
    name: Name,
    shape: Shape,
    arguments: [u64; REGISTERS],
}

/// The portal by which a call goes on, as the portal manager describes it.
fn portal<'line>(call: &Passing, line: &'line mut [u8; DESCRIBED]) -> Option<Portal<'line>> {
    let described = LISTING.describe(environment::startup().instance, call.index(), line);
    let (length, _) = described.ok().filter(|(_, index)| *index == call.index())?;
    Portal::read(core::str::from_utf8(line.get(..length)?).ok()?)
}

fn known(call: &Passing, portal: &Portal) -> Option<Known> {
    let Portal { export, method, letters, .. } = portal;
    let name = Name::of(format_args!("{export} {method} {letters}"));
    let shape = Shape::of(portal).filter(|_| !name.is_cut())?;
    let registers = core::array::from_fn(|register| call.argument(register));
    Some(Known { name, shape, arguments: shape.arguments(registers) })
}

/// Records what is in those buffers that the callee fills, or in the others.
fn read(call: &Passing, shape: &Shape, recorded: &mut Call, filled: bool) {
    for (place, register) in shape.buffers(filled) {
        let window = call.memory(register);
        let mut bytes = STORE.reserve(shape.length(recorded, place));
        let mut done = 0;
        while done < bytes.count as usize {
            let mut piece = [0; BYTES];
            let wanted = piece.len().min(bytes.count as usize - done);
            match window.read(done, &mut piece[..wanted]) {
                Ok(count) if count == wanted => STORE.write(bytes, done, &piece[..count]),
                _ => bytes.count = done as u32,
            }
            done += wanted;
        }
        recorded.buffers[place] = bytes;
    }
}

fn record(call: &Passing) -> Answer {
    let mut line = [0; DESCRIBED];
    let known = portal(call, &mut line).and_then(|portal| known(call, &portal));
    let Some(Known { name, shape, arguments }) = known else {
        STORE.lose();
        return call.forward();
    };
    let mut recorded = Call { arguments, ..Call::default() };
    read(call, &shape, &mut recorded, false);
    let answer = call.forward();
    recorded.status = answer.status;
    if answer.status == 0 {
        let words = recorded.words.iter_mut().zip(answer.words).take(shape.reply);
        words.for_each(|(recorded, word)| *recorded = word);
    }
    read(call, &shape, &mut recorded, true);
    STORE.keep(name.text(), &recorded);
    answer
}

/// Whether the buffers that the callee reads have what those of a recorded call had.
fn is_same(call: &Passing, shape: &Shape, recorded: &Call) -> bool {
    shape.buffers(false).all(|(place, register)| {
        let (window, bytes) = (call.memory(register), recorded.buffers[place]);
        (0..bytes.count as usize).step_by(BYTES).all(|offset| {
            let (mut one, mut other) = ([0; BYTES], [0; BYTES]);
            let count = STORE.read(bytes, offset, &mut one);
            window.read(offset, &mut other[..count]) == Ok(count) && one == other
        })
    })
}

/// Answers a call as it was answered before.
fn replay(call: &Passing) -> Answer {
    let mut line = [0; DESCRIBED];
    let Some(portal) = portal(call, &mut line) else { return Answer::error(Error::NotFound) };
    let Some(known) = known(call, &portal) else {
        return miss(call, &portal, None, Error::NotSupported);
    };
    let Known { name, shape, arguments } = &known;
    let found = STORE.take(name.text(), |recorded| {
        recorded.arguments == *arguments && is_same(call, shape, recorded)
    });
    let Some(recorded) = found else { return miss(call, &portal, Some(&known), Error::NotFound) };
    if !shape.is_whole(&recorded) {
        return miss(call, &portal, Some(&known), Error::TooLarge);
    }
    for (place, register) in shape.buffers(true) {
        let (window, bytes) = (call.memory_mut(register), recorded.buffers[place]);
        for offset in (0..bytes.count as usize).step_by(BYTES) {
            let mut piece = [0; BYTES];
            let count = STORE.read(bytes, offset, &mut piece);
            if window.write(offset, &piece[..count]) != Ok(count) {
                return Answer::error(Error::BadPointer);
            }
        }
    }
    Answer { status: recorded.status, words: recorded.words }
}

/// A call has no answer in the recording: keeps it for whoever asks.
fn miss(call: &Passing, portal: &Portal, known: Option<&Known>, error: Error) -> Answer {
    MISSES.fetch_add(1, Relaxed);
    let Portal { client, export, method, .. } = portal;
    let mut text = Line::<TEXT>::new();
    // What does not fit is not told.
    let _ = write!(text, "{client} {export} {method}(");
    let words = known.map(|known| known.shape.words).unwrap_or_default();
    let mut separator = "";
    for (register, _) in words.iter().enumerate().filter(|(_, is_one)| **is_one) {
        let _ = write!(text, "{separator}{}", call.argument(register) as i64);
        separator = ", ";
    }
    let _ = write!(text, ") = error {}", error.name());
    KEPT.keep([time::now(), 0, time::own_thread()], text.text());
    Answer::error(error)
}

impl Interposer for Server {
    fn intercept(call: &Passing) -> Answer {
        let does = DOES.load(Acquire);
        // The answer to a fault is a page of who was asked: nobody else has one.
        if call.is_fault() {
            call.forward()
        } else if does == Recording::Record as u64 {
            record(call)
        } else if does == Recording::Replay as u64 {
            replay(call)
        } else {
            call.forward()
        }
    }
}

impl Server {
    /// The line of a number, or the next one behind it.
    fn find(from: u64) -> Option<(u64, Line<LINE>)> {
        let end = STORE.numbers().end + 1;
        let (mut call, mut line) = (from >> CALL_SHIFT, from & ((1 << CALL_SHIFT) - 1));
        if from == 0 {
            return Some((0, Line::of(format_args!("new"))));
        }
        while (1..end).contains(&call.max(1)) {
            let mut name = [0; NAME];
            let shown = STORE.get(call.wrapping_sub(1), &mut name).and_then(|(name, kept)| {
                let shape = Shape::of_name(name)?;
                let part = lines::part(&STORE, (name, &shape, &kept), line as usize)?;
                Some(Line::of(format_args!("{part}")))
            });
            match shown {
                Some(shown) => return Some((call << CALL_SHIFT | line, shown)),
                None => (call, line) = (call + 1, 0),
            }
        }
        let last = Line::of(format_args!("end {}", STORE.count()));
        (from <= end << CALL_SHIFT).then_some((end << CALL_SHIFT, last))
    }

    fn take(line: &str) -> Result<(), RecordingError> {
        let is_free = || DOES.load(Acquire) == TAKES;
        if !is_free() || IS_READING.swap(true, AcqRel) {
            return Err(Error::Busy.into());
        }
        // It may have begun meanwhile; from now on it does not, until this is done.
        let taken = if is_free() {
            READER.with(|reader| reader.take(line, &STORE)).map_err(|mistake| match mistake {
                Mistake::Unexpected => RecordingError::Unexpected,
                Mistake::Malformed => RecordingError::Malformed,
                Mistake::Length => RecordingError::Length,
                Mistake::Count => RecordingError::Count,
                Mistake::Full => RecordingError::Full,
            })
        } else {
            Err(Error::Busy.into())
        };
        IS_READING.store(false, Release);
        taken
    }

    /// Does something else from now on, if that can follow.
    fn change(what: Recording) -> Result<(), Error> {
        let does = DOES.load(Acquire);
        let is_new = STORE.numbers().end == 0;
        let is_complete = READER.with(|reader| reader.is_complete());
        match what {
            Recording::Record if does == TAKES && is_new => {}
            Recording::Stop if does == Recording::Record as u64 => {}
            Recording::Replay if does == TAKES && !is_complete => return Err(Error::NotReady),
            Recording::Replay if does != Recording::Replay as u64 => {}
            _ => return Err(Error::Busy),
        }
        DOES.store(what as u64, Release);
        Ok(())
    }
}

impl Recorder for Server {
    fn act(&self, what: Recording) -> Result<(), Error> {
        match PORTALS.stand_between::<Server>() {
            // It has done so before.
            Ok(()) | Err(Error::Busy) => {}
            Err(error) => return Err(error),
        }
        if IS_READING.swap(true, AcqRel) {
            return Err(Error::Busy);
        }
        let changed = Server::change(what);
        IS_READING.store(false, Release);
        changed
    }

    fn line(&self, from: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        if DOES.load(Acquire) == Recording::Record as u64 {
            return Err(Error::Busy);
        }
        let (number, line) = Server::find(from).ok_or(Error::NotFound)?;
        line.answer(&text, number)
    }

    fn add(&self, line: ReadWindow<'_>) -> Result<(), RecordingError> {
        let mut buffer = [0; LINE];
        let line = line.text(&mut buffer).map_err(|_| RecordingError::Malformed)?;
        Server::take(line)
    }

    fn counts(&self) -> Result<(u64, u64, u64, u64), Error> {
        Ok((STORE.count(), STORE.lost(), STORE.used(), MISSES.load(Relaxed)))
    }

    fn missed(&self, from: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let mut call = [0; TEXT];
        let found = KEPT.find(from, &mut call).ok_or(Error::NotFound)?;
        let [time, took, thread] = found.numbers;
        let time = time::duration(time).as_nanos();
        let call = core::str::from_utf8(&call[..found.length]).unwrap_or("?");
        let line = Line::<{ TEXT + 64 }>::of(format_args!("{time} {took} {thread} {call}"));
        line.answer(&text, found.number)
    }
}
