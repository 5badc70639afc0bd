//! A domain in a chain of calls: calls the next one.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::WriteWindow;
use cairn_bench::{Link, LinkProxy, Meter, SHORT_CIRCUIT};

struct Middle;
static MIDDLE: Middle = Middle;

cairn::component! {
    name: "link",
    imports: { next_new: Link, #[minimal] next_shared: Link },
    exports: { link: Link = MIDDLE },
}

impl Link for Middle {
    #[inline(always)]
    fn pass(&self, next: u64, second: u64, third: u64) -> Result<u64, Error> {
        LinkProxy::at_minimal(next as u32).pass(next, second, third)
    }
    fn leave(&self, _buffer: WriteWindow, _word: u64) -> Result<(), Error> {
        Ok(())
    }
    fn touch(&self, buffer: WriteWindow, word: u64) -> Result<(), Error> {
        buffer.write(0, &[word as u8]);
        Ok(())
    }
    /// A short circuit stands for the next domain, and its cost is taken off.
    fn own_instructions(&self, _method: u64) -> Result<u64, Error> {
        let meter = Meter::new();
        let [Some(entry), ..] = LinkProxy::entries::<CairnExport_link>() else {
            return Err(Error::NotFound);
        };
        let words = [0, SHORT_CIRCUIT.into(), 0, 0, 0, 0, 0, 0];
        Ok(meter.entry(entry, &words) - meter.portal(SHORT_CIRCUIT, &words))
    }
}
