//! Moves. It has no state but its objects, which go over.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::exclusive::Exclusive;
use cairn::object::ObjectTable;
use cairn::sync::Semaphore;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place, time};
use cairn_interfaces as interfaces;
use cairn_test_hostile_moves_contract::{Door, Gate};

cairn::component! {
    name: "hostile-moves-gate",
    imports: { portals: interfaces::Portals, threads: interfaces::Threads },
    exports: { gate: Gate = SERVER, successor: interfaces::Successor = SERVER },
    objects: { door: Door = DOORS },
}

/// Those of lives of clients that ended are among them.
const DOORS_MAXIMUM: usize = 128;

struct Server;
static SERVER: Server = Server;
struct Own {
    answer: u64,
    control: u64,
}
static DOORS: ObjectTable<Own, DOORS_MAXIMUM> = ObjectTable::new();
static ROOM: Semaphore = Semaphore::new(0);
static STATE: Exclusive<[u8; DOORS_MAXIMUM * 16]> = Exclusive::new([0; DOORS_MAXIMUM * 16]);

fn pause(ticks: u64) -> Result<(), Error> {
    match ticks {
        0 => Ok(()),
        _ => imports::THREADS.sleep_until(time::now() + ticks),
    }
}

fn sum_of(bytes: &ReadWindow<'_>) -> Result<u64, Error> {
    let (mut sum, mut part) = (0, [0; 64]);
    let mut at = 0;
    while at < bytes.len() {
        let size = part.len().min(bytes.len() - at);
        bytes.read(at, &mut part[..size])?;
        sum += part[..size].iter().map(|byte| u64::from(*byte)).sum::<u64>();
        at += size;
    }
    Ok(sum)
}

impl Gate for Server {
    fn fill(&self, bytes: WriteWindow<'_>, byte: u8, ticks: u64) -> Result<(), Error> {
        let part = [byte; 64];
        let write = || {
            let mut at = 0;
            while at < bytes.len() {
                let size = part.len().min(bytes.len() - at);
                bytes.write(at, &part[..size])?;
                at += size;
            }
            Ok(())
        };
        write()?;
        pause(ticks)?;
        write()
    }

    fn sum(&self, bytes: ReadWindow<'_>, ticks: u64) -> Result<u64, Error> {
        let before = sum_of(&bytes)?;
        pause(ticks)?;
        match sum_of(&bytes)? {
            sum if sum == before => Ok(sum),
            _ => Err(Error::Malformed),
        }
    }

    fn door(&self, place: Place, answer: u64) -> Result<Object<dyn Door>, Error> {
        let control = DOORS.insert_with(|control| Own { answer, control })?;
        imports::PORTALS.grant(place, control).inspect_err(|_| {
            let _ = DOORS.remove(control);
        })
    }

    fn keep(&self) -> Result<(), Error> {
        ROOM.acquire()
    }

    fn open(&self) -> Result<(), Error> {
        ROOM.release()
    }
}

impl Door for Own {
    fn answer(&self) -> Result<u64, Error> {
        Ok(self.answer)
    }

    fn end(&self) -> Result<(), Error> {
        DOORS.remove(self.control)
    }
}

/// Pairs of a control word and an answer.
impl interfaces::Successor for Server {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        // Who is kept stays.
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        STATE.with(|state| {
            if from == 0 {
                state.fill(0);
                let mut places = state.as_chunks_mut::<8>().0.iter_mut();
                DOORS.for_each(|control, own| {
                    for word in [control, own.answer] {
                        if let Some(place) = places.next() {
                            *place = word.to_le_bytes();
                        }
                    }
                });
            }
            let rest = state.get(from as usize..).ok_or(Error::BadArgument)?;
            part.write(0, &rest[..rest.len().min(part.len())])
        })
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        STATE.with(|state| {
            let from = from as usize;
            part.copy(state.get_mut(from..from + part.len()).ok_or(Error::TooLarge)?)?;
            if from + part.len() < size as usize {
                return Ok(());
            }
            let words = state.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            let (controls, answers) = (words.clone().step_by(2), words.skip(1).step_by(2));
            for (control, answer) in controls.zip(answers).filter(|(control, _)| *control != 0) {
                DOORS.restore(control, Own { answer, control })?;
            }
            Ok(())
        })
    }
}
