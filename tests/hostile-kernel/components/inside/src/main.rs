//! Serves words in the kernel domain, and faults there when it is asked to.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_test_kernel_inside::{Inside, mixed};
use core::hint::black_box;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "inside",
    exports: { inside: Inside = SERVER },
}

#[inline(never)]
fn descend(calls: u64) -> u64 {
    let page = black_box([calls; 32]);
    if calls == 0 { page[7] } else { descend(calls - 1) + page[3] }
}

impl Inside for Server {
    fn mix(&self, first: u64, second: u64, third: u64) -> Result<(u64, u64, u64), Error> {
        Ok(mixed(first, second, third))
    }

    fn spin(&self, rounds: u64) -> Result<(), Error> {
        (0..rounds).for_each(|round| _ = black_box(round));
        Ok(())
    }

    fn deep(&self, calls: u64) -> Result<u64, Error> {
        Ok(descend(calls))
    }

    fn fail(&self) -> Result<(), Error> {
        panic!("as asked");
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut sum = 0;
        // It does not say that it failed: the portal does.
        let _ = bytes.pieces::<64>(|piece| {
            sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            Ok(())
        });
        Ok(sum)
    }

    fn turn(&self, bytes: WriteWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; 128];
        let mut offset = 0;
        while offset < bytes.len() {
            // As above.
            let Ok(read) = bytes.as_read().read(offset, &mut buffer) else { break };
            buffer.iter_mut().for_each(|byte| *byte = !*byte);
            let Ok(written) = bytes.write(offset, &buffer[..read]) else { break };
            offset += written;
        }
        Ok(offset as u64)
    }
}
