//! The last domain in a chain of calls: returns at once.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::cost::Cost;
use cairn::exclusive::Exclusive;
use cairn::window::WriteWindow;
use cairn_bench::{Link, LinkProxy, Meter, PAGE, Page, settled};

struct Last;
static LAST: Last = Last;
static PAGES: Exclusive<Page> = Exclusive::new(Page::ZERO);

cairn::component! {
    name: "end",
    exports: { link: Link = LAST },
}

impl Link for Last {
    fn pass(&self, _next: u64, _second: u64, _third: u64) -> Result<u64, Error> {
        Ok(0)
    }
    fn leave(&self, _buffer: WriteWindow, _next: u64) -> Result<(), Error> {
        Ok(())
    }
    fn touch(&self, buffer: WriteWindow, _next: u64) -> Result<(), Error> {
        buffer.write(0, &[1]).map(drop)
    }
    fn own_cost(&self, method: u64) -> Result<Cost, Error> {
        let entries = LinkProxy::entries::<CairnExport_link>();
        let entry = entries.get(method as usize).copied().flatten().ok_or(Error::NotFound)?;
        let meter = Meter::new();
        let cost = PAGES.with(|page| {
            let words = [0, page.address(), PAGE, 0, 0, 0, 0, 0];
            settled(|| meter.entry(entry, &words))
        });
        Ok(cost)
    }
}
