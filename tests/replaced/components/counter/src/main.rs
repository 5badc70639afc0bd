//! A counter that can be replaced by another content of it, or by one that misbehaves.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::startup;
use cairn::exclusive::Exclusive;
use cairn::object::ObjectTable;
use cairn::sync::Semaphore;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place, time};
use cairn_interfaces as interfaces;
use cairn_test_replaced_contract::{Cell, Counter, kinds};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "replaced-counter",
    imports: { portals: interfaces::Portals, threads: interfaces::Threads },
    exports: { counter: Counter = SERVER, successor: interfaces::Successor = SERVER },
    objects: { cell: Cell = CELLS },
    arguments: { kind: u64 },
    init: init,
}

const CELLS_MAXIMUM: usize = 8;
/// More than one window.
const STATE_SIZE: usize = 40_000;

struct Server;
static SERVER: Server = Server;
struct Own(AtomicU64);
static CELLS: ObjectTable<Own, CELLS_MAXIMUM> = ObjectTable::new();
// Relaxed: sums, each by one operation.
static CALLED: AtomicBool = AtomicBool::new(false);
static ROOM: Semaphore = Semaphore::new(0);
static SUM: AtomicU64 = AtomicU64::new(0);
static STATE: Exclusive<[u8; STATE_SIZE]> = Exclusive::new([0; STATE_SIZE]);

/// What it does, where it is.
fn kind() -> u64 {
    // In its other place it has the domain of that.
    let is_away = startup().domain.0 != startup().instance.0;
    match arguments::kind() {
        kind if kind < kinds::ELSEWHERE => kind,
        kind if is_away => kind - kinds::ELSEWHERE,
        _ => kinds::GOOD,
    }
}

fn init() {
    match kind() {
        kinds::FAULTS => panic!("on purpose"),
        kinds::SPINS => loop {
            core::hint::spin_loop();
        },
        kinds::SLEEPS => loop {
            let _ = imports::THREADS.sleep_until(time::now() + time::ticks(1_000_000));
        },
        _ => {}
    }
}

impl Cell for Own {
    fn add(&self, amount: u64) -> Result<u64, Error> {
        Ok(self.0.fetch_add(amount, Relaxed) + amount)
    }
}

impl Counter for Server {
    fn add(&self, amount: u64) -> Result<u64, Error> {
        Ok(SUM.fetch_add(amount, Relaxed) + amount)
    }

    fn kind(&self) -> Result<u64, Error> {
        Ok(arguments::kind())
    }

    fn cell(&self, place: Place, first: u64) -> Result<Object<dyn Cell>, Error> {
        let control = CELLS.insert(Own(AtomicU64::new(first)))?;
        imports::PORTALS.grant(place, control)
    }

    fn wait(&self) -> Result<u64, Error> {
        ROOM.acquire()?;
        // Who is called home lets the next one go, too.
        if CALLED.load(Relaxed) {
            ROOM.release()?;
            return Err(Error::Moved);
        }
        Ok(arguments::kind())
    }

    fn wake(&self) -> Result<(), Error> {
        ROOM.release()
    }

    fn stay(&self, ticks: u64) -> Result<(), Error> {
        imports::THREADS.sleep_until(time::now() + ticks)
    }
}

/// A sum, then pairs of a control word and a value; behind them bytes that say where they are.
impl interfaces::Successor for Server {
    fn call_home(&self, called: bool) -> Result<(), Error> {
        CALLED.store(called, Relaxed);
        match called {
            true => ROOM.release(),
            // What nobody took.
            false => ROOM.try_acquire().map(drop),
        }
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        STATE.with(|state| {
            if from == 0 {
                for (at, byte) in state.iter_mut().enumerate() {
                    *byte = at as u8 ^ (at >> 8) as u8;
                }
                state[..8].copy_from_slice(&SUM.load(Relaxed).to_le_bytes());
                state[8..8 + 16 * CELLS_MAXIMUM].fill(0);
                let mut places = state[8..].chunks_mut(16);
                CELLS.for_each(|control, own| {
                    if let Some(place) = places.next() {
                        place[..8].copy_from_slice(&control.to_le_bytes());
                        place[8..].copy_from_slice(&own.0.load(Relaxed).to_le_bytes());
                    }
                });
            }
            let rest = state.get(from as usize..).ok_or(Error::BadArgument)?;
            part.write(0, &rest[..rest.len().min(part.len())])
        })
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        match kind() {
            kinds::REFUSES => return Err(Error::VersionMismatch),
            kinds::DIES => panic!("on purpose"),
            kinds::KEEPS => loop {
                let _ = imports::THREADS.sleep_until(time::now() + time::ticks(1_000_000));
            },
            _ => {}
        }
        STATE.with(|state| {
            let from = from as usize;
            let place = state.get_mut(from..from + part.len()).ok_or(Error::TooLarge)?;
            part.copy(place)?;
            if from + part.len() < size as usize {
                return Ok(());
            }
            let word =
                |at: usize| u64::from_le_bytes(state[at..at + 8].try_into().unwrap_or([0; 8]));
            let first = 8 + 16 * CELLS_MAXIMUM;
            let is_whole = (first..STATE_SIZE).all(|at| state[at] == at as u8 ^ (at >> 8) as u8);
            if size as usize != STATE_SIZE || !is_whole {
                return Err(Error::Malformed);
            }
            SUM.store(word(0), Relaxed);
            for at in (8..first).step_by(16).filter(|at| word(*at) != 0) {
                CELLS.restore(word(at), Own(AtomicU64::new(word(at + 8))))?;
            }
            Ok(())
        })
    }
}
