//! Takes room of an invocation stack.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::window::ReadWindow;
use cairn_test_hostile_timers_racing::Link;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "hostile-link",
    imports: { next: Link },
    exports: { link: Link = SERVER },
}

impl Link for Server {
    fn wide(
        &self,
        wide: u64,
        ticks: u64,
        _: ReadWindow<'_>,
        _: ReadWindow<'_>,
    ) -> Result<bool, Error> {
        self.narrow(wide, ticks)
    }

    fn narrow(&self, wide: u64, ticks: u64) -> Result<bool, Error> {
        match wide {
            0 => imports::NEXT.narrow(0, ticks),
            wide => imports::NEXT.wide(wide - 1, ticks, &[], &[]),
        }
    }
}
