//! Writes many lines of one letter, the first byte of its argument, as fast as the console takes
//! them, and, but for the lowest, sleeps between them, to get into the middle of another's if it can.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{environment, time};
use cairn_interfaces::{Console, Threads};

/// Bytes of a line: as much as the console keeps together.
const LINE: usize = 256;
const LINES: u64 = 60;

cairn::component! {
    name: "writer",
    imports: { console: Console, threads: Threads },
    main: main,
}

fn main() {
    let letter = environment::argument().as_bytes()[0];
    let mut line = [letter; LINE];
    line[LINE - 1] = b'\n';
    for number in 0..LINES {
        imports::CONSOLE.write(&line).expect("write");
        // The lowest writer never sleeps; the others wake up at other places each time of its writes.
        if letter != b'a' {
            let _ = imports::THREADS.sleep_until(time::now() + time::ticks(20 + number % 17 * 11));
        }
    }
    let done = [b'<', letter, b'>', b'\n'];
    imports::CONSOLE.write(&done).expect("write");
    // What is typed comes back, whoever reads first.
    let mut typed = [0; 64];
    let length = imports::CONSOLE.read_line(&mut typed).expect("read a line");
    imports::CONSOLE.write(b"[").expect("write");
    imports::CONSOLE.write(&typed[..length]).expect("write");
    imports::CONSOLE.write(b"]\n").expect("write");
}
