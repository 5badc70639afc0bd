//! Is called in the kernel domain and returns at once.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::cost::Cost;
use cairn::window::ReadWindow;
use cairn_bench::{Inside, InsideProxy, Meter, settled};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "inside",
    exports: { inside: Inside = SERVER },
}

impl Inside for Server {
    fn pass(&self, _first: u64, _second: u64, _third: u64) -> Result<u64, Error> {
        Ok(0)
    }

    fn leave(&self, _bytes: ReadWindow<'_>) -> Result<u64, Error> {
        Ok(0)
    }

    fn own_cost(&self, method: u64) -> Result<Cost, Error> {
        let entries = InsideProxy::entries::<CairnExport_inside>();
        let Some(Some(entry)) = entries.get(method as usize).copied() else {
            return Err(Error::NotFound);
        };
        let meter = Meter::new();
        Ok(settled(|| meter.entry(entry, &[0; 8])))
    }
}
