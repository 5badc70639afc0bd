//! Runs the script with which a disk begins, and says what it printed. The script is text up to the first zero, at most 16 KiB.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn::time::{now, ticks};
use cairn_app_interfaces::Script;
use cairn_driver_interfaces::{BLOCK_SIZE, Blocks};
use cairn_interfaces::{Console, Threads};

cairn::component! {
    name: "disk-script",
    imports: { console: Console, threads: Threads, blocks: Blocks, script: Script },
    main: main,
}

/// Most bytes of a script, and of what it prints.
const SCRIPT: usize = 16 << 10;
const OUTPUT: usize = 4096;
/// How long to wait for a driver that has not begun, or begins again.
const PAUSE_MICROSECONDS: u64 = 1000;

static BUFFERS: Exclusive<([u8; SCRIPT], [u8; OUTPUT])> =
    Exclusive::new(([0; SCRIPT], [0; OUTPUT]));

fn main() {
    let result = BUFFERS.with(|(script, output)| run(script, output));
    if let Err(error) = result {
        let _ = imports::CONSOLE.print(format_args!("disk-script: {}\n", error.text()));
    }
}

fn run(script: &mut [u8; SCRIPT], output: &mut [u8; OUTPUT]) -> Result<(), Error> {
    let blocks = loop {
        match read(script) {
            Err(Error::Busy | Error::Dead) => {
                imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS))?;
            }
            result => break result?,
        }
    };
    let text = script[..blocks].split(|byte| *byte == 0).next().unwrap_or_default();
    let text = core::str::from_utf8(text).map_err(|_| Error::Malformed)?;
    if text.is_empty() {
        return imports::CONSOLE.write(b"disk-script: the disk does not begin with a script\n");
    }
    let (length, is_done) = imports::SCRIPT.run(text, output)?;
    if !is_done {
        imports::CONSOLE.write(b"disk-script: the script failed: ")?;
    }
    imports::CONSOLE.write(output.get(..length).ok_or(Error::Malformed)?)?;
    imports::CONSOLE.write(b"\n")
}

/// Reads the beginning of the disk; how many bytes.
fn read(script: &mut [u8; SCRIPT]) -> Result<usize, Error> {
    let (size, _) = imports::BLOCKS.size()?;
    let bytes = SCRIPT.min((size * BLOCK_SIZE) as usize);
    imports::BLOCKS.read(0, &mut script[..bytes])?;
    Ok(bytes)
}
