//! Drives devices by typed registers: QEMU's configuration for firmware (`docs/specs/fw_cfg` of QEMU), and Goldfish's clock
//! (`hw/rtc/goldfish_rtc.c`), by one of its interrupts.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment::{device_named, required_device, startup};
use cairn::registers::interfaces::{ReadWriteable, Readable, Writeable};
use cairn::registers::register_bitfields;
use cairn_interfaces::waiting::Interrupt;
use cairn_interfaces::{Console, SemaphoreProxy, Supervisor};
use core::fmt::Arguments;

cairn::component! {
    name: "registers-driver",
    imports: { console: Console, supervisor: Supervisor },
    main: main,
}

cairn::register_block! {
    /// The item that is selected is read byte after byte, or several at once. The selector's bytes are swapped.
    struct Configuration {
        0 => byte: Read<u8>,
        0 => word: Read<u64>,
        8 => selector: Write<u16>,
    }
}

register_bitfields! { u32,
    ENABLE [ALARM OFFSET(0) NUMBITS(1) []],
    /// A number of two fields, to change one and leave the other.
    HALF [
        LOW OFFSET(0) NUMBITS(16) [],
        HIGH OFFSET(16) NUMBITS(16) [],
    ],
}

cairn::register_block! {
    /// Time and alarm are nanoseconds in two halves. Reading the lower half of the time keeps the upper one; writing the lower
    /// half of the alarm sets it.
    struct Clock {
        0x00 => time_low: Read<u32>,
        0x04 => time_high: Read<u32>,
        0x08 => alarm_low: Write<u32>,
        0x0c => alarm_high: ReadWrite<u32, HALF::Register>,
        0x10 => enable: ReadWrite<u32, ENABLE::Register>,
        0x14 => clear_alarm: Write<u32>,
        0x1c => clear_interrupt: Write<u32>,
    }
}

cairn::register_block! {
    /// One register more than the configuration has.
    struct TooLarge {
        0x18 => behind: Read<u32>,
    }
}

/// Alarms that the test waits for, and the nanoseconds until each.
const ALARMS: u32 = 20;
const SOON: u64 = 1_000_000;

fn say(text: Arguments) {
    let _ = imports::CONSOLE.print(format_args!("{text}\n"));
}

fn main() -> Result<(), Error> {
    if startup().generation > 0 {
        return imports::SUPERVISOR.halt(0);
    }
    let configuration = required_device("configuration");
    widths(Configuration::of(configuration)?)?;
    assert_eq!(TooLarge::of(configuration).err(), Some(Error::TooLarge));
    say(format_args!("ok: a block that the device is too small for is refused"));

    assert!(device_named("absent").is_none() && device_named("rtc0").is_none());
    assert_eq!(configuration.name(), "configuration");
    say(format_args!("ok: devices by the names that the description gives them"));

    alarms()?;
    // What has no interrupt says so, with which this life ends.
    Interrupt::open(&configuration)?.wait()
}

fn widths(configuration: Configuration) -> Result<(), Error> {
    let select = |item: u16| configuration.selector().set(item.swap_bytes());
    select(0);
    let mut signature = [0; 4];
    signature.fill_with(|| configuration.byte().get());
    assert_eq!(&signature, b"QEMU");
    select(0);
    assert_eq!(configuration.word().get().to_le_bytes()[..4], signature, "eight bytes at once");
    let clock = Clock::of(required_device("clock"))?;
    clock.alarm_high().set(0x1234_5678);
    clock.alarm_high().modify(HALF::LOW.val(0x9abc));
    assert_eq!(clock.alarm_high().get(), 0x1234_9abc);
    assert_eq!(clock.alarm_high().read(HALF::HIGH), 0x1234);
    say(format_args!("ok: registers of 8, 16, 32 and 64 bits"));
    Ok(())
}

impl Clock {
    fn now(&self) -> u64 {
        let low = self.time_low().get();
        u64::from(self.time_high().get()) << 32 | u64::from(low)
    }

    fn set_alarm(&self, due: u64) {
        self.alarm_high().set((due >> 32) as u32);
        self.alarm_low().set(due as u32);
    }
}

fn alarms() -> Result<(), Error> {
    let device = required_device("clock");
    let clock = Clock::of(device)?;
    clock.enable().write(ENABLE::ALARM::SET);
    assert_eq!(Interrupt::open_one(&device, device.interrupts()).err(), Some(Error::NotFound));
    let (first, second) = (Interrupt::open(&device)?, Interrupt::open_one(&device, 1)?);
    for _ in 0..ALARMS {
        clock.set_alarm(clock.now() + SOON);
        second.wait()?;
        clock.clear_interrupt().set(1);
        second.acknowledge()?;
    }
    let has_come = |signal: SemaphoreProxy| signal.try_p();
    assert_eq!(has_come(first.signal()), Err(Error::WouldBlock));
    assert_eq!(has_come(second.signal()), Err(Error::WouldBlock), "each came once");
    say(format_args!(
        "ok: the second of {} interrupts came {ALARMS} times, the first never",
        device.interrupts()
    ));
    Ok(())
}
