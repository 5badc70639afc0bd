//! A domain in a chain of calls: calls the next one.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::cost::Cost;
use cairn::exclusive::Exclusive;
use cairn::window::WriteWindow;
use cairn_bench::{Link, LinkProxy, Meter, PAGE, Page, instead_of_next, method, settled};

struct Middle;
static MIDDLE: Middle = Middle;
static PAGE_TO_PASS: Exclusive<Page> = Exclusive::new(Page::ZERO);
static PAGE_TO_WRITE: Exclusive<Page> = Exclusive::new(Page::ZERO);

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
    fn leave(&self, _buffer: WriteWindow, next: u64) -> Result<(), Error> {
        PAGE_TO_PASS.with(|page| LinkProxy::at(next as u32).leave(page.bytes(), next))
    }
    fn touch(&self, buffer: WriteWindow, next: u64) -> Result<(), Error> {
        let _ = buffer.write(0, &[1]);
        PAGE_TO_PASS.with(|page| LinkProxy::at(next as u32).touch(page.bytes(), next))
    }
    /// A short circuit stands for the next domain, and its cost is taken off.
    fn own_cost(&self, method: u64) -> Result<Cost, Error> {
        let meter = Meter::new();
        let entries = LinkProxy::entries::<CairnExport_link>();
        let entry = entries.get(method as usize).copied().flatten().ok_or(Error::NotFound)?;
        let next = u64::from(instead_of_next(method as u32));
        let cost = PAGE_TO_WRITE.with(|page| match method as u32 {
            method::PASS => settled(|| meter.entry(entry, &[0, next, 0, 0, 0, 0, 0, 0])),
            _ => {
                let words = [0, page.address(), PAGE, next, 0, 0, 0, 0];
                settled(|| meter.entry(entry, &words))
            }
        });
        let instead = settled(|| meter.portal(instead_of_next(method::PASS), &[0; 8]));
        Ok(cost - instead)
    }
}
