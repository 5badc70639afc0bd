//! Uses the console as an object.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, environment, time};
use cairn_interfaces::{Console, Portals, TerminalProxy, Threads};

const LINES: u64 = 20;

cairn::component! {
    name: "clerk",
    imports: { console: Console, threads: Threads, portals: Portals },
    main: main,
}

fn open() -> TerminalProxy {
    imports::CONSOLE.open(imports::PORTALS).expect("open").proxy()
}

fn main() {
    let terminal = open();
    let is_other = !environment::argument().is_empty();
    let name: &[u8] = if is_other { b"other" } else { b"clerk" };
    for number in 0..LINES {
        for end in [b" ", b" ", b"\n"] {
            terminal.write(name).expect("write");
            let _ = imports::THREADS.sleep_until(time::now() + time::ticks(100 + number % 7 * 30));
            terminal.write(end).expect("write");
        }
    }
    terminal.write(name).expect("write");
    terminal.write(b" is done\n").expect("write");
    if is_other {
        return;
    }
    // The other one has to be done before anything is typed.
    let _ = imports::THREADS.sleep_until(time::now() + time::ticks(100_000));
    talk(&terminal);
    limits(terminal);
}

fn talk(terminal: &TerminalProxy) {
    let mut buffer = [0; 32];
    terminal.write(b"name? ").expect("write");
    let length = terminal.read_line(&mut buffer).expect("read");
    let mut secret = [0; 32];
    terminal.set_echo(false).expect("echo");
    terminal.write(b"password? ").expect("write");
    let typed = terminal.read_line(&mut secret).expect("read");
    terminal.set_echo(true).expect("echo");
    terminal.write(&buffer[..length]).expect("write");
    terminal.write(&[b',', b' ', b'0' + typed as u8, b'\n']).expect("write");
}

fn limits(first: TerminalProxy) {
    let second = open();
    let third = open();
    assert_eq!(first.write(b"x"), Err(Error::NotFound), "two at most, the oldest ends");
    second.write(b"the oldest has ended").expect("write");
    second.flush().expect("flush");
    second.write(b"\n").expect("write");
    third.write(b"closed").expect("write");
    third.close().expect("close");
    assert!(third.write(b"x").is_err(), "it was closed");
}
