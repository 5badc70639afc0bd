//! Sends anything to the devices of a bus: lists that are none or do not fit their bytes, all commands of the display with all arguments, reset
//! in the middle, pins that are none.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_driver_interfaces::{I2cError, Operation};
use cairn_interfaces as interfaces;
use cairn_random::Random;

cairn::component! {
    name: "client",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        i2c: cairn_driver_interfaces::I2c,
        spi: cairn_driver_interfaces::Spi,
        pins: cairn_driver_interfaces::Pins,
    },
    main: main,
}

const TRANSACTIONS: u64 = 8_000;
const MOST: usize = 16 << 10;
/// The pin for data, the display's reset, the wire, and one that there is not.
const PINS: [u64; 5] = [0, 1, 8, 9, 16];
const SENSOR: u16 = 0x48;

/// A list for so many bytes, or nearly; its length.
fn fill(list: &mut [u8], mut bytes: usize, random: &mut Random) -> usize {
    let count = random.index(8);
    for at in 0..count {
        let amount = if at + 1 == count { bytes } else { random.index(bytes + 1) };
        let kind = random.index(4);
        bytes -= if kind == 3 { 0 } else { amount };
        let place = &mut list[at * Operation::SIZE..][..Operation::SIZE];
        place[0] = kind as u8;
        place[1..].copy_from_slice(&(amount as u32).to_le_bytes());
    }
    if random.below(8) == 0 {
        list[random.index(40)] = random.next() as u8;
    }
    count * Operation::SIZE + usize::from(random.below(16) == 0)
}

fn transaction(data: &mut [u8], random: &mut Random) -> Result<(), Error> {
    let length = if random.below(20) == 0 { random.index(MOST + 1) } else { random.index(12) };
    let mut list = [0; 48];
    let size = fill(&mut list, length, random);
    let (list, data) = (&list[..size], &mut data[..length]);
    // The commands of the display are among these.
    let all = if random.below(2) == 0 { 0x40 } else { 0x100 };
    data.iter_mut().take(32).for_each(|byte| *byte = random.below(all) as u8);
    let pin = PINS[random.index(PINS.len())];
    match random.below(4) {
        0 => match imports::I2C.transact(SENSOR + random.below(2) as u16, list, data) {
            Err(I2cError::Portal(error)) => Err(error),
            Err(_) => Err(Error::NotFound),
            Ok(()) => Ok(()),
        },
        1 => imports::PINS.drive(pin, random.below(2) == 0),
        2 => imports::PINS.release(pin).and(imports::PINS.level(pin).map(drop)),
        _ => imports::SPI.transact(list, data),
    }
}

fn main() {
    let halts = environment::argument() == "halts";
    let mut data = [0; MOST];
    let mut random = Random::of_seed(u64::from(halts));
    let [mut done, mut refused, mut failed] = [0; 3];
    for _ in 0..TRANSACTIONS {
        match transaction(&mut data, &mut random) {
            Ok(()) => done += 1,
            Err(Error::Malformed | Error::NotFound | Error::NotSupported) => refused += 1,
            Err(error) => {
                failed += 1;
                let _ = imports::CONSOLE.print(format_args!("FAILED: {}\n", error.text()));
            }
        }
        if !halts {
            let _ = imports::THREADS.sleep_until(now() + ticks(random.below(50)));
        }
    }
    if !halts {
        return;
    }
    let word = if failed == 0 && done > 0 && refused > 0 { "ok:" } else { "FAILED:" };
    let _ = imports::CONSOLE.print(format_args!(
        "{word} {TRANSACTIONS} transactions, some done and some refused: {done}, {refused}, {failed}\n"
    ));
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}
