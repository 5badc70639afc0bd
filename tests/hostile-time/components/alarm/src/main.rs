//! A driver of the real-time clock: has it interrupt a thousand times a second, and sees how late it
//! learns of that; with the argument `storm`, for ever, as soon as it has acknowledged.
//!
//! The clock is Goldfish's (QEMU, `hw/rtc/goldfish_rtc.c`): time and alarm are nanoseconds in two halves;
//! reading the lower half of the time keeps the upper one, writing the lower half of the alarm sets it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::registers::Registers;
use cairn_interfaces::waiting::Interrupt;
use cairn_test_hostile_beat::beats;
use cairn_test_hostile_contract::rounds;

const TIME_LOW: usize = 0x00;
const TIME_HIGH: usize = 0x04;
const ALARM_LOW: usize = 0x08;
const ALARM_HIGH: usize = 0x0c;
const INTERRUPT_ENABLE: usize = 0x10;
const CLEAR_INTERRUPT: usize = 0x1c;
const PERIOD: u64 = 1_000_000;

cairn::component! {
    name: "hostile-alarm",
    main: main,
}

fn now(clock: &Registers) -> u64 {
    let low = clock.read_u32(TIME_LOW);
    u64::from(clock.read_u32(TIME_HIGH)) << 32 | u64::from(low)
}

fn set_alarm(clock: &Registers, due: u64) {
    clock.write_u32(ALARM_HIGH, (due >> 32) as u32);
    clock.write_u32(ALARM_LOW, due as u32);
}

fn main() {
    let clock = environment::required_device("rtc0");
    clock.write_u32(INTERRUPT_ENABLE, 1);
    let interrupt = Interrupt::open(&clock).expect("the clock has an interrupt");
    let mut due = now(&clock);
    if environment::argument() == "storm" {
        loop {
            // It is past, so the next interrupt comes as soon as this one is acknowledged. The emulator's controller does not
            // look again at a line that stayed up.
            clock.write_u32(CLEAR_INTERRUPT, 1);
            set_alarm(&clock, due);
            interrupt.wait().expect("wait for the interrupt");
            rounds::count();
            interrupt.acknowledge().expect("acknowledge");
        }
    }
    let section = environment::section("beats").expect("section");
    loop {
        due += PERIOD;
        set_alarm(&clock, due);
        interrupt.wait().expect("wait for the interrupt");
        let late = now(&clock).saturating_sub(due);
        section.store(beats::ALARMS, section.load(beats::ALARMS) + 1);
        section.store(beats::ALARM_LATEST, section.load(beats::ALARM_LATEST).max(late));
        clock.write_u32(CLEAR_INTERRUPT, 1);
        interrupt.acknowledge().expect("acknowledge");
        due = due.max(now(&clock) - PERIOD / 2);
    }
}
