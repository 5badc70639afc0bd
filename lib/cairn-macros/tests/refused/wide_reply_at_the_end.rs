#![forbid(unsafe_code)]
use cairn::exclusive::{Operation, RunToCompletion};
use cairn::{Error, interface};
use core::convert::Infallible;

#[interface]
pub trait Sample {
    fn pair(&self) -> Result<(u64, u64), Error>;
    fn other_pair(&self) -> Result<(u64, u64), Error>;
}

struct Server;
struct End;
static STATE: RunToCompletion<u64> = RunToCompletion::new(0);

impl Operation<u64> for End {
    fn run(self, _value: &mut u64) -> Infallible {
        loop {}
    }
}

impl Sample for Server {
    fn pair(&self) -> Result<(u64, u64), Error> {
        STATE.run(End)
    }

    fn other_pair(&self) -> Result<(u64, u64), Error> {
        STATE.end_with(|value| End.run(value))
    }
}

fn main() {
    let _ = (Server.pair(), Server.other_pair());
}
