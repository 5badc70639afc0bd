//! Asks who has the gateway's address (ARP), more often than the card has buffers, and looks at the answers; then once more after its driver's ends.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_driver_interfaces::Frames;
use cairn_interfaces::{Clock, Console, Supervisor};

cairn::component! {
    name: "asker",
    imports: { console: Console, clock: Clock, supervisor: Supervisor, frames: Frames },
    main: main,
}

/// The gateway of QEMU's network, who asks, and the protocol.
const GATEWAY: [u8; 4] = [10, 0, 2, 2];
const SELF: [u8; 4] = [10, 0, 2, 15];
const ARP: [u8; 2] = [8, 6];
/// A question, as short as a frame can be.
const SHORTEST: usize = 60;
const LONGEST: usize = 1514;
/// Questions of a life of the driver.
const QUESTIONS: usize = 50;

fn main() -> Result<(), Error> {
    ask("at first")?;
    imports::SUPERVISOR.restart("card")?;
    ask("after it was ended")?;
    imports::SUPERVISOR.crash("card")?;
    ask("after its fault")?;
    refused()?;
    ask("after the device had stopped")?;
    imports::SUPERVISOR.halt(0)
}

/// The driver may be about to start again.
fn retried<R>(call: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
    loop {
        match call() {
            Err(Error::Busy | Error::Dead) => imports::CLOCK.sleep(100_000)?,
            result => return result,
        }
    }
}

fn ask(when: &str) -> Result<(), Error> {
    let address = retried(|| imports::FRAMES.address())?.to_le_bytes();
    let mut question = [0; SHORTEST];
    question[..6].fill(0xff);
    question[6..12].copy_from_slice(&address[..6]);
    question[12..14].copy_from_slice(&ARP);
    // Ethernet, version 4 of the internet protocol, their lengths, a question.
    question[14..22].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, 1]);
    question[22..28].copy_from_slice(&address[..6]);
    question[28..32].copy_from_slice(&SELF);
    question[38..42].copy_from_slice(&GATEWAY);
    let mut answer = [0; LONGEST];
    let mut answers = 0;
    for _ in 0..QUESTIONS {
        imports::FRAMES.send(&question)?;
        let is_answer = |frame: &[u8]| {
            frame[..6] == address[..6]
                && frame[12..14] == ARP
                && frame[28..32] == GATEWAY
                && frame[38..42] == SELF
        };
        // The network may say something else in between.
        loop {
            let length = imports::FRAMES.receive(&mut answer)?;
            if length >= SHORTEST && is_answer(&answer[..length]) {
                break;
            }
        }
        answers += 1;
    }
    let text = format_args!("ok: {answers} answers {when}\n");
    imports::CONSOLE.print(text)
}

/// The driver sends what has no bytes, too, and the device refuses any further work then.
fn refused() -> Result<(), Error> {
    let is_refused = imports::FRAMES.send(&[0; 4096]) == Err(Error::TooLarge);
    imports::CONSOLE.print(format_args!("ok: too long is refused: {is_refused}\n"))?;
    let result = imports::FRAMES.send(&[]);
    imports::CONSOLE.print(format_args!("ok: at nothing the device stops: {result:?}\n"))
}
