//! Runs drivers of the embedded ecosystem in a component, and compares what they do with what the devices have.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod display;

use cairn::Error;
use cairn_embedded::{ConsoleStream, Delay, I2cBus, Input, Output, TerminalStream};
use cairn_interfaces as interfaces;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{InputPin, OutputPin, StatefulOutputPin};
use embedded_hal::i2c::{self, ErrorKind, I2c, NoAcknowledgeSource};
use embedded_io::{Read, ReadReady, Write};

cairn::component! {
    name: "embedded-user",
    imports: {
        console: interfaces::Console,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
        clock: interfaces::Clock,
        i2c: cairn_driver_interfaces::I2c,
        spi: cairn_driver_interfaces::Spi,
        pins: cairn_driver_interfaces::Pins,
        surroundings: cairn_simulated_bus::Surroundings,
    },
    main: main,
}

/// By the stream, as everything here.
macro_rules! say {
    ($($text:tt)*) => {
        let text = cairn::text::Line::<96>::of(format_args!("{}\n", format_args!($($text)*)));
        ConsoleStream::new(crate::imports::CONSOLE).write_all(text.bytes()).expect("write");
    };
}
use say;

fn main() -> Result<(), Error> {
    delay();
    pins()?;
    sensor()?;
    errors();
    display::draw()?;
    streams()?;
    imports::SUPERVISOR.halt(0)
}

fn delay() {
    let before = imports::CLOCK.uptime().expect("uptime");
    Delay(imports::CLOCK).delay_us(2_500);
    Delay(imports::CLOCK).delay_ns(2_500_000);
    let after = imports::CLOCK.uptime().expect("uptime");
    assert!(after - before >= 5_000_000, "{} ns", after - before);
    say!("ok: a delay of 5 ms took at least as long");
}

fn pins() -> Result<(), Error> {
    let mut output = Output::of(imports::PINS, 8, true)?;
    let mut input = Input::of(imports::PINS, 9)?;
    assert_eq!(input.is_high(), Ok(true));
    output.set_low().expect("low");
    assert_eq!((input.is_high(), input.is_low()), (Ok(false), Ok(true)));
    output.toggle().expect("high");
    assert_eq!((input.is_high(), output.is_set_high()), (Ok(true), Ok(true)));
    assert_eq!(Input::of(imports::PINS, 16).err(), Some(Error::NotFound));
    say!("ok: pins: a wire follows its other end");
    Ok(())
}

/// Thousandths of a degree, as an integer: the text of floating-point numbers is large.
fn thousandths(degrees: f32) -> i32 {
    (degrees * 1000.0) as i32
}

fn sensor() -> Result<(), Error> {
    let mut sensor = lm75::Lm75::new(I2cBus::<16>(imports::I2C), lm75::Address::default());
    imports::SURROUNDINGS.set_temperature(23 * 8 + 1)?;
    // This kind has half degrees; its successor, which the same device is, eighths.
    assert_eq!(thousandths(sensor.read_temperature().expect("read")), 23_000);
    sensor.set_os_temperature(-12.5).expect("write");
    let mut sensor = lm75::Lm75::new_pct2075(sensor.destroy(), lm75::Address::default());
    let warm = thousandths(sensor.read_temperature().expect("read"));
    imports::SURROUNDINGS.set_temperature(-324)?;
    let cold = thousandths(sensor.read_temperature().expect("read"));
    assert_eq!((warm, cold), (23_125, -40_500));
    let mut limit = [0; 2];
    sensor.destroy().write_read(0x48_u8, &[3], &mut limit).expect("read the limit");
    assert_eq!(i16::from_be_bytes(limit) >> 5, -100, "eighths of a degree");
    say!(
        "ok: lm75 reads {}.{:03} degrees, -{}.{:03} degrees, and sets a limit",
        warm / 1000,
        warm % 1000,
        -cold / 1000,
        -cold % 1000
    );
    Ok(())
}

fn errors() {
    let mut bus = I2cBus::<16>(imports::I2C);
    let kind =
        |result: Result<(), cairn_embedded::I2cFault>| i2c::Error::kind(&result.unwrap_err());
    let none = |source| ErrorKind::NoAcknowledge(source);
    assert_eq!(kind(bus.write(0x49_u8, &[0])), none(NoAcknowledgeSource::Address));
    assert_eq!(kind(bus.write(0x48_u16, &[0])), none(NoAcknowledgeSource::Address), "ten bits");
    assert_eq!(kind(bus.write(0x48_u8, &[9])), none(NoAcknowledgeSource::Data));
    assert_eq!(kind(bus.write(0x48_u8, &[0; 17])), ErrorKind::Other);
    let bad = imports::I2C.transact(0x48, &[1, 2, 0, 0, 0], &mut [0; 3]);
    assert_eq!(
        bad,
        Err(cairn_driver_interfaces::I2cError::Portal(Error::Malformed)),
        "2 bytes and 3"
    );
    say!("ok: no device, no acknowledgement, and too many bytes are errors of their kinds");
}

fn streams() -> Result<(), Error> {
    let mut stream = ConsoleStream::new(imports::CONSOLE);
    assert_eq!(stream.read_ready(), Ok(false));
    writeln!(stream, "type something: ").expect("write");
    while !stream.read_ready().expect("ready") {}
    let mut read = [0; 4];
    stream.read_exact(&mut read).expect("read");
    say!("ok: read {} {} {} {} from the console", read[0], read[1], read[2], read[3]);
    let terminal = imports::CONSOLE.open(imports::PORTALS)?;
    let mut stream = TerminalStream(terminal.proxy());
    write!(stream, "ok: a terminal shows what is written ").expect("write");
    write!(stream, "when it is flushed").expect("write");
    stream.flush().expect("flush");
    say!("");
    Ok(())
}
