//! The console: callers on one side, the interrupt thread on the other, rings between them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod port;
mod successor;
mod terminals;

use cairn::exclusive::Exclusive;
use cairn::sync::{Lock, Semaphore};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, Object, Place, environment};
use cairn_console::discipline::{self, Line};
use cairn_console::halves::{Halves, LINE};
use cairn_console::readers::{self, Readers};
use cairn_console::ring::Ring;
use cairn_interfaces::waiting::Interrupt;
use cairn_interfaces::{Console, Portals, Successor, Terminal, Threads};
use core::convert::Infallible;
// Relaxed: `line_of` is touched in the writers' turn, which a lock orders; `called_home` is said before readers are woken, and `readers`
// orders that.
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, Ordering::Relaxed};
use port::{Port, TRANSMIT_FIFO};
use terminals::TERMINALS;

/// What the description calls the port.
const DEVICE: &str = "serial0";
/// Bytes of one write that are never mixed with another's.
const TOGETHER: usize = 256;
/// Bytes received in answer to one interrupt; more wait for the next one, so that input without end
/// does not keep writers from their turn.
const RECEIVED_AT_ONCE: usize = 64;
/// In `line_of`: the last line has ended. No thread is called so.
const ENDED: u64 = 0;
/// It has not, and nobody goes on with it: whose it is does not live, or cannot say its name.
const OTHERS: u64 = u64::MAX;
/// In the number by which a reader's half line is kept: it is a thread's name. Terminals have control words without it.
const IS_THREAD: u64 = 1 << 63;
/// In `handling`: the interrupt thread uses the rings and the port.
const AT_WORK: u32 = 1;
/// It is not to use them any more: what they hold goes to or comes from another content.
const FROZEN: u32 = 2;

struct Screen {
    /// Written by the holder of `turn`, read by the interrupt thread.
    output: Ring<1024>,
    /// Written by the interrupt thread.
    input: Ring<1024>,
    turn: Lock,
    /// The thread whose line has not ended, by its name; or [`ENDED`], or [`OTHERS`]. Changed in the writers' turn alone.
    line_of: AtomicU64,
    /// The one writer waits for room.
    wants_room: AtomicBool,
    room: Semaphore,
    readers: Readers,
    arrived: Semaphore,
    /// Readers that wait go to the successor.
    called_home: AtomicBool,
    /// Half-typed lines of those; in the writers' turn, or while nobody is inside.
    halves: Exclusive<Halves>,
    handling: AtomicU32,
}

static TERMINAL: Screen = Screen {
    output: Ring::new(),
    input: Ring::new(),
    turn: Lock::new(),
    line_of: AtomicU64::new(ENDED),
    wants_room: AtomicBool::new(false),
    room: Semaphore::new(0),
    readers: Readers::new(),
    arrived: Semaphore::new(0),
    called_home: AtomicBool::new(false),
    halves: Exclusive::new(Halves::new()),
    handling: AtomicU32::new(0),
};

cairn::component! {
    name: "console",
    imports: { portals: Portals, threads: Threads },
    exports: { console: Console = TERMINAL, output: Console = OUTPUT, successor: Successor = successor::STATE },
    objects: { terminal: Terminal = TERMINALS },
    main: main,
}

/// The name of the calling thread. Another one that has its index later does not go on with what it began. One as deep in calls as one can be has none.
fn own_name() -> u64 {
    imports::THREADS.own_name().unwrap_or(OTHERS)
}

/// The interrupt thread.
fn main() -> Result<Infallible, Error> {
    let registers = environment::required_device(DEVICE);
    // Made by the first use, which in the kernel domain a caller deep in calls has no room for.
    TERMINAL.turn.take(|| Ok(()))?;
    TERMINAL.room.try_acquire()?;
    TERMINAL.arrived.try_acquire()?;
    let port = Port::begin(registers)?;
    // Callers that came before now left output.
    port.set_transmit_interrupt(true);
    Interrupt::open(&registers)?.serve(|| TERMINAL.handle(&port))
}

impl Screen {
    /// What an interrupt is for.
    fn handle(&self, port: &Port) -> Result<(), Error> {
        if self.handling.fetch_or(AT_WORK, Ordering::AcqRel) & FROZEN != 0 {
            self.handling.fetch_and(!AT_WORK, Ordering::AcqRel);
            port.silence();
            return Ok(());
        }
        self.receive(port);
        self.transmit(port);
        if self.handling.fetch_and(!AT_WORK, Ordering::AcqRel) & FROZEN != 0 {
            // Who froze it waits, and no reader is inside.
            self.arrived.release()?;
        }
        Ok(())
    }

    /// From here on nobody changes the rings but the caller; nobody else is inside.
    fn freeze(&self) -> Result<(), Error> {
        if self.handling.fetch_or(FROZEN, Ordering::AcqRel) & AT_WORK != 0 {
            self.arrived.acquire()?;
        }
        successor::port()?.silence();
        Ok(())
    }

    /// It serves again, what the port has kept first.
    fn thaw(&self) -> Result<(), Error> {
        self.handling.fetch_and(!FROZEN, Ordering::AcqRel);
        successor::port()?.set_transmit_interrupt(true);
        Ok(())
    }

    fn wake_readers(&self) -> Result<(), Error> {
        (0..self.readers.take_all()).try_for_each(|_| self.arrived.release())
    }

    /// From the port to readers.
    fn receive(&self, port: &Port) {
        for _ in 0..RECEIVED_AT_ONCE {
            let Some(byte) = port.receive() else { break };
            // The ring is full, since no client reads: the byte is lost.
            let _ = self.input.push(byte);
        }
        if !self.input.is_empty() {
            // A reader counts itself before it looks, so it either sees the bytes or is counted here.
            let _ = self.wake_readers();
        }
    }

    /// From writers to the port.
    fn transmit(&self, port: &Port) {
        if port.is_transmitter_empty() {
            for _ in 0..TRANSMIT_FIFO {
                let Some(byte) = self.output.pop() else { break };
                port.transmit(byte);
            }
        }
        if self.output.is_empty() {
            port.set_transmit_interrupt(false);
            // A writer may have come between the look and the register.
            if !self.output.is_empty() {
                port.set_transmit_interrupt(true);
            }
        }
        if self.output.has_room() && self.wants_room.swap(false, Ordering::AcqRel) {
            let _ = self.room.release();
        }
    }

    /// Adds a byte to the output, in this thread's turn; waits for room.
    fn put(&self, port: &Port, byte: u8) -> Result<(), Error> {
        while !self.output.push(byte) {
            self.wants_room.store(true, Ordering::Release);
            port.set_transmit_interrupt(true);
            if let Err(error) = self.room.acquire() {
                // Called home: the next writer is not to be woken by what came for this one.
                if !self.wants_room.swap(false, Ordering::AcqRel) {
                    self.room.take_late();
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Adds bytes to the output, in this thread's turn. No thread's text begins in the middle of another's line.
    fn put_all(&self, bytes: impl Iterator<Item = u8>) -> Result<(), Error> {
        let port = Port::of(environment::required_device(DEVICE))?;
        let line_of = self.line_of.load(Relaxed);
        // Who writes whole lines asks nobody for its name.
        let goes_on = match line_of {
            ENDED => true,
            OTHERS => false,
            name => name == own_name(),
        };
        let end = (!goes_on).then_some(b'\n');
        let result = end.into_iter().chain(bytes).try_for_each(|byte| {
            self.line_of.store(if byte == b'\n' { ENDED } else { OTHERS }, Relaxed);
            discipline::output(byte).try_for_each(|byte| self.put(&port, byte))
        });
        if self.line_of.load(Relaxed) == OTHERS {
            self.line_of.store(own_name(), Relaxed);
        }
        port.set_transmit_interrupt(true);
        result
    }

    fn show(&self, bytes: &[u8]) -> Result<(), Error> {
        self.turn.take(|| self.put_all(bytes.iter().copied()))
    }

    /// A line, which is shown while it is typed if `echo`. It goes on with what was typed before the reader was called home. `terminal` is where it is
    /// read; zero if it has not been opened.
    fn collect_line(&self, buffer: WriteWindow, echo: bool, terminal: u64) -> Result<usize, Error> {
        // An opened terminal is a client's own.
        let reader = if terminal == 0 { own_name() | IS_THREAD } else { terminal };
        let mut line = Line::<LINE>::new();
        self.turn.take(|| {
            self.halves.with(|halves| halves.take(reader, |byte| _ = line.take(byte, |_| {})));
            Ok(())
        })?;
        loop {
            let mut byte = [0];
            let waited = self.wait_for(&mut byte);
            if waited == Err(Error::Moved) && !line.bytes().is_empty() {
                self.turn.take(|| {
                    self.halves.with(|halves| halves.keep(reader, line.bytes()));
                    Ok(())
                })?;
            }
            waited?;
            let mut shown = Ok(());
            let ended = line.take(byte[0], |bytes| {
                // The end of the line is always seen.
                if echo || bytes == b"\n" {
                    shown = shown.and(self.show(bytes));
                }
            });
            shown?;
            if ended {
                return buffer.write(0, line.bytes());
            }
        }
    }

    /// Takes input into `buffer`, at least a byte.
    fn wait_for(&self, buffer: &mut [u8]) -> Result<usize, Error> {
        loop {
            let place = self.readers.count();
            let count = self.input.pop_into(buffer);
            if count > 0 {
                self.withdraw(place);
                return Ok(count);
            }
            if self.called_home.load(Relaxed) {
                self.withdraw(place);
                return Err(Error::Moved);
            }
            self.arrived.acquire().inspect_err(|_| self.withdraw(place))?;
        }
    }

    /// A reader does not wait, and takes the wake-up that may have come for it.
    fn withdraw(&self, place: readers::Place) {
        if !self.readers.withdraw(place) {
            self.arrived.take_late();
        }
    }
}

impl Console for Screen {
    fn write(&self, text: ReadWindow) -> Result<(), Error> {
        text.pieces::<TOGETHER>(|piece| self.show(piece))
    }

    fn read(&self, buffer: WriteWindow) -> Result<usize, Error> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let mut bytes = [0; 64];
        let room = bytes.len().min(buffer.len());
        let count = self.wait_for(&mut bytes[..room])?;
        buffer.write(0, &bytes[..count])
    }

    fn try_read(&self, buffer: WriteWindow) -> Result<usize, Error> {
        let mut bytes = [0; 64];
        let room = bytes.len().min(buffer.len());
        let count = self.input.pop_into(&mut bytes[..room]);
        buffer.write(0, &bytes[..count])
    }

    fn read_line(&self, buffer: WriteWindow) -> Result<usize, Error> {
        self.collect_line(buffer, true, 0)
    }

    fn open(&self, place: Place) -> Result<Object<dyn Terminal>, Error> {
        self.open_for(place, true)
    }
}

/// For those that may write, but not take what is typed for others.
struct Output;
static OUTPUT: Output = Output;

impl Console for Output {
    fn write(&self, text: ReadWindow) -> Result<(), Error> {
        TERMINAL.write(text)
    }

    fn read(&self, _: WriteWindow) -> Result<usize, Error> {
        Err(Error::NotAllowed)
    }

    fn try_read(&self, _: WriteWindow) -> Result<usize, Error> {
        Err(Error::NotAllowed)
    }

    fn read_line(&self, _: WriteWindow) -> Result<usize, Error> {
        Err(Error::NotAllowed)
    }

    fn open(&self, place: Place) -> Result<Object<dyn Terminal>, Error> {
        TERMINAL.open_for(place, false)
    }
}

impl Screen {
    fn open_for(&self, place: Place, reads: bool) -> Result<Object<dyn Terminal>, Error> {
        // There is one stack for calls of the portal manager: a thread that waits for it behind a client that does not
        // run has to lend it the priority, which locks do.
        self.turn.take(|| TERMINALS.open(place, reads))
    }
}
