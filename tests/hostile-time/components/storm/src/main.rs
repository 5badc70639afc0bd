//! A driver of the serial port that makes it interrupt for ever. It writes text without interrupts.
//!
//! A 16550 whose transmitter is empty interrupts as soon as that interrupt is enabled (16550D data
//! sheet, section 8.6).
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::registers::Registers;
use cairn::window::ReadWindow;
use cairn::{Error, environment};
use cairn_interfaces::waiting::Interrupt;
use cairn_interfaces::{Console, WriteOnlyConsole};
use cairn_test_hostile_beat::{Storm, mode};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const DATA: usize = 0;
const INTERRUPT_ENABLE: usize = 1;
const TRANSMITTER_EMPTY: u8 = 2;

struct Server {
    mode: AtomicU64,
    interrupts: AtomicU64,
}
static SERVER: Server = Server { mode: AtomicU64::new(mode::CALM), interrupts: AtomicU64::new(0) };

cairn::component! {
    name: "hostile-storm",
    exports: { console: Console = SERVER, storm: Storm = SERVER },
    objects: {},
    main: main,
}

fn port() -> Registers {
    environment::required_device("serial0")
}

/// To enable the interrupt of an empty transmitter is to cause it.
fn enable(mode: u64) {
    port().write_u8(INTERRUPT_ENABLE, 0);
    if mode != mode::CALM {
        port().write_u8(INTERRUPT_ENABLE, TRANSMITTER_EMPTY);
    }
}

/// The driver's thread.
fn main() {
    let interrupt = Interrupt::open(&port()).expect("the port has an interrupt");
    loop {
        interrupt.wait().expect("wait for the interrupt");
        SERVER.interrupts.fetch_add(1, Relaxed);
        let mode = SERVER.mode.load(Relaxed);
        if mode == mode::STORM {
            enable(mode);
        }
        if mode != mode::SILENCE {
            interrupt.acknowledge().expect("acknowledge");
        }
    }
}

impl Storm for Server {
    fn behave(&self, mode: u64) -> Result<u64, Error> {
        self.mode.store(mode, Relaxed);
        enable(mode);
        Ok(self.interrupts.load(Relaxed))
    }
}

impl WriteOnlyConsole for Server {
    fn write(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        text.pieces::<64>(|piece| {
            piece.iter().for_each(|byte| port().write_u8(DATA, *byte));
            Ok(())
        })
    }
}
