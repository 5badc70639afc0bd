//! The clock of day of QEMU's machine `virt` (`hw/rtc/goldfish_rtc.c`): nanoseconds since 1970, and an alarm, which is an
//! interrupt. The alarm is that of the first of those who wait.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment::required_device;
use cairn::registers::interfaces::{Readable, Writeable};
use cairn::sync::{Lock, Semaphore};
use cairn_driver_interfaces::WallClock;
use cairn_interfaces::Portals;
use cairn_interfaces::waiting::Interrupt;
use core::convert::Infallible;
// Relaxed: a place's time belongs to who has taken it, by an exchange that orders it.
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering, Ordering::Relaxed};

/// Most who wait at a time.
const PLACES: usize = 4;

/// Nanoseconds until the latest alarm that is set, an hour: the device computes with a sign, and has a time too far from now for
/// one that has passed. An alarm for which nobody waits only sets the next one.
const LATEST: u64 = 3_600_000_000_000;

/// A place is free...
const FREE: u8 = 0;
/// ... or a thread has taken it...
const TAKEN: u8 = 1;
/// ... and waits, or has been called home and leaves...
const WAITING: u8 = 2;
/// ... or its time has come.
const COME: u8 = 3;

struct Place {
    state: AtomicU8,
    time: AtomicU64,
    came: Semaphore,
}

struct Rtc {
    /// Around the registers, of which time and alarm are two each.
    turn: Lock,
    places: [Place; PLACES],
}

static RTC: Rtc = Rtc {
    turn: Lock::new(),
    places: [const {
        Place { state: AtomicU8::new(FREE), time: AtomicU64::new(0), came: Semaphore::new(0) }
    }; PLACES],
};

cairn::component! {
    name: "goldfish-rtc",
    imports: { portals: Portals },
    exports: { clock: WallClock = RTC },
    main: main,
}

cairn::register_block! {
    /// Time and alarm are in two halves. Reading the lower half of the time keeps the upper one; writing the lower half of the
    /// alarm sets it.
    struct Registers {
        0x00 => time_low: Read<u32>,
        0x04 => time_high: Read<u32>,
        0x08 => alarm_low: Write<u32>,
        0x0c => alarm_high: ReadWrite<u32>,
        0x10 => interrupt_enabled: ReadWrite<u32>,
        0x14 => clear_alarm: Write<u32>,
        0x1c => clear_interrupt: Write<u32>,
    }
}

impl Registers {
    fn new() -> Result<Registers, Error> {
        Registers::of(required_device("rtc0"))
    }

    fn now(&self) -> u64 {
        let low = self.time_low().get();
        u64::from(self.time_high().get()) << 32 | u64::from(low)
    }

    fn set_alarm(&self, time: u64) {
        self.alarm_high().set((time >> 32) as u32);
        self.alarm_low().set(time as u32);
    }
}

/// The interrupt thread.
fn main() -> Result<Infallible, Error> {
    let registers = Registers::new()?;
    // What a former life of this driver set must not count.
    registers.clear_alarm().set(1);
    registers.clear_interrupt().set(1);
    registers.interrupt_enabled().set(1);
    let interrupt = Interrupt::open(&required_device("rtc0"))?;
    interrupt.serve(|| {
        RTC.turn.take(|| {
            registers.clear_interrupt().set(1);
            RTC.wake(registers.now());
            RTC.set_alarm(&registers);
            Ok(())
        })
    })
}

impl Place {
    fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Relaxed).is_ok()
    }
}

impl Rtc {
    fn waiting(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.state.load(Ordering::Acquire) == WAITING)
    }

    /// In turn: no place changes whose it is between the look at its time and the change of its state.
    fn wake(&self, now: u64) {
        for place in self.waiting() {
            if place.time.load(Relaxed) <= now && place.change(WAITING, COME) {
                let _ = place.came.release();
            }
        }
    }

    /// In turn. A time that has passed interrupts at once.
    fn set_alarm(&self, registers: &Registers) {
        match self.waiting().map(|place| place.time.load(Relaxed)).min() {
            Some(first) => registers.set_alarm(first.min(registers.now() + LATEST)),
            None => registers.clear_alarm().set(1),
        }
    }

    /// Takes a place for a thread that waits until `time`; `None` if that has passed.
    fn take(&self, registers: &Registers, time: u64) -> Result<Option<&Place>, Error> {
        if time <= registers.now() {
            return Ok(None);
        }
        let place = self.places.iter().find(|place| place.change(FREE, TAKEN));
        let place = place.ok_or(Error::Busy)?;
        place.time.store(time, Relaxed);
        place.state.store(WAITING, Ordering::Release);
        self.set_alarm(registers);
        Ok(Some(place))
    }
}

impl WallClock for Rtc {
    fn now(&self) -> Result<u64, Error> {
        let registers = Registers::new()?;
        self.turn.take(|| Ok(registers.now()))
    }

    fn wait_until(&self, time: u64) -> Result<(), Error> {
        let registers = Registers::new()?;
        let Some(place) = self.turn.take(|| self.take(&registers, time))? else { return Ok(()) };
        let waited = place.came.acquire_until(|| place.state.load(Ordering::Acquire) == COME);
        // Who is called home waits for no turn: its alarm stays, for nobody.
        if waited.is_err() && !place.change(WAITING, TAKEN) {
            place.came.take_late();
        }
        place.state.store(FREE, Ordering::Release);
        waited
    }
}
