//! The interrupt dispatcher: claims an interrupt and passes the device's semaphore to the scheduler.
//! Until the driver's acknowledgement completes it, the controller forwards nothing more of that source,
//! so neither a storm nor a driver that does not get to run holds up another device.
//!
//! The controller is the RISC-V PLIC (PLIC specification 1.0.0, memory map in section 3). Completing at
//! once and masking the source instead would announce each interrupt twice: the line is still raised then, and
//! a gateway that has forwarded it does not take that back when the driver lowers the line.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::exclusive::RunToCompletion;
use cairn::record::Record;
use cairn::registers::Registers;
use cairn::{Error, InstanceId, environment};
use cairn_abi::record::{Instance, Interrupt as Source};
use cairn_interfaces as interfaces;
use cairn_interrupts::{Controller, Sources};

const PRIORITY: usize = 0;
const ENABLE: usize = 0x2000;
const ENABLE_STRIDE: usize = 0x80;
const CONTEXT: usize = 0x20_0000;
const CONTEXT_STRIDE: usize = 0x1000;
const CLAIM: usize = 4;

struct Dispatcher {
    controller: Option<Registers>,
    claim: usize,
    sources: Sources,
}

static STATE: RunToCompletion<Dispatcher> =
    RunToCompletion::new(Dispatcher { controller: None, claim: 0, sources: Sources::new() });

struct Server;
static SERVER: Server = Server;

/// The control word of an interrupt object is its source.
struct Interrupts;
static INTERRUPTS: Interrupts = Interrupts;
struct Interrupt(u64);

impl Interrupts {
    #[inline(always)]
    fn with<R>(&self, control: u64, body: impl FnOnce(&Interrupt) -> R) -> Result<R, Error> {
        Ok(body(&Interrupt(control)))
    }
}

cairn::component! {
    name: "interrupts",
    imports: { signals: interfaces::InterruptSignals },
    exports: {
        upcalls: interfaces::InterruptUpcalls = SERVER,
        control: interfaces::InterruptControl = SERVER,
    },
    objects: { interrupt: interfaces::Interrupt = INTERRUPTS },
}

/// A controller, and where it is told that an interrupt is completed.
struct Plic(Registers, usize);

impl Controller for Plic {
    fn mask(&self, source: u32) {
        self.0.write_u32(PRIORITY + 4 * source as usize, 0);
    }

    fn complete(&self, source: u32) {
        self.0.write_u32(self.1, source);
    }
}

impl Dispatcher {
    /// Before the first interrupt that it sees. All sources have priority 0, which never interrupts: a driver opens
    /// its own by its first acknowledgement. A successor leaves those as they are that its predecessor has enabled.
    #[cold]
    fn begin(&mut self) -> Option<()> {
        let record = Record::find()?;
        let header = record.header;
        let sources: &[Source] = record.table(header.interrupts);
        let controller = environment::device(0)?;
        let own = environment::startup().instance.index().checked_sub(1)?;
        let succeeds = record.table::<Instance>(header.instances).get(own)?.package != 0;
        let context = header.interrupt_context as usize;
        self.claim = CONTEXT + CONTEXT_STRIDE * context + CLAIM;
        controller.write_u32(CONTEXT + CONTEXT_STRIDE * context, 0);
        // A driver that has retired has no interrupt any more.
        for source in sources.iter().filter(|source| source.instance != InstanceId(0)) {
            self.sources.add(source.source, source.semaphore).ok()?;
            let enable = ENABLE + ENABLE_STRIDE * context + source.source as usize / 32 * 4;
            let (enabled, bit) = (controller.read_u32(enable), 1 << (source.source % 32));
            if !succeeds || enabled & bit == 0 {
                controller.write_u32(PRIORITY + 4 * source.source as usize, 0);
                controller.write_u32(enable, enabled | bit);
            }
        }
        self.controller = Some(controller);
        Some(())
    }

    /// The controller, which is found at first.
    #[inline(always)]
    fn controller(&mut self) -> Result<Registers, Error> {
        if self.controller.is_none() {
            self.begin().ok_or(Error::NotSupported)?;
        }
        self.controller.ok_or(Error::NotSupported)
    }

    /// A source's driver is no more.
    fn retire(&mut self, source: u32) -> Result<(), Error> {
        let plic = Plic(self.controller()?, self.claim);
        self.sources.retire(&plic, source);
        Ok(())
    }

    /// Claims an interrupt; the semaphore of its source.
    #[inline(always)]
    fn claim(&self) -> Option<u16> {
        self.sources.semaphore(self.controller?.read_u32(self.claim))
    }

    /// Opens the source, if it is not open yet, and completes the interrupt that was claimed, if there
    /// is one.
    #[inline(always)]
    fn complete(&mut self, source: u32) -> Result<(), Error> {
        let controller = self.controller()?;
        self.sources.semaphore(source).ok_or(Error::BadArgument)?;
        controller.write_u32(PRIORITY + 4 * source as usize, 1);
        controller.write_u32(self.claim, source);
        Ok(())
    }
}

/// The first that is seen here, if no driver came before: only a successor's can be.
#[cold]
#[inline(never)]
fn first_external() -> Result<(), Error> {
    STATE.claim();
    let _ = STATE.with(Dispatcher::controller)?;
    match STATE.with(|state| state.claim()) {
        Some(semaphore) => imports::SIGNALS.signal(semaphore.into()),
        None => Ok(()),
    }
}

impl interfaces::InterruptUpcalls for Server {
    #[inline(always)]
    fn external(&self) -> Result<(), Error> {
        match STATE.try_with(|state| state.claim()) {
            // This call does not come back.
            Some(Some(semaphore)) => imports::SIGNALS.signal(semaphore.into()),
            Some(None) => Ok(()),
            None => first_external(),
        }
    }
}

impl interfaces::InterruptControl for Server {
    fn retire(&self, source: u32) -> Result<(), Error> {
        STATE.claim();
        STATE.with(|state| state.retire(source))
    }
}

impl interfaces::Interrupt for Interrupt {
    #[inline(always)]
    fn acknowledge(&self) -> Result<(), Error> {
        STATE.claim();
        STATE.with(|state| state.complete(u32::try_from(self.0).map_err(|_| Error::BadArgument)?))
    }
}
