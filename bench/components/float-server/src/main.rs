//! Uses the floating-point unit when it is called, or does not.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::cost::Cost;
use cairn::measure::Stamp;
use cairn_bench::{Meter, Unit, UnitProxy, settled};
use core::hint::black_box;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "float-server",
    exports: { unit: Unit = SERVER },
}

impl Unit for Server {
    fn pass(&self, _first: u64, _second: u64, _third: u64) -> Result<u64, Error> {
        Ok(0)
    }

    fn first_use(&self) -> Result<Cost, Error> {
        let bits = black_box(0x3ff8_0000_0000_0000);
        let begin = Stamp::begin();
        let number = black_box(f64::from_bits(black_box(bits)) * 1.5);
        let first = Stamp::end();
        // The same again, which is not the first.
        let begin_again = Stamp::begin();
        let again = black_box(f64::from_bits(black_box(bits)) * 1.5);
        let end = Stamp::end();
        if number.to_bits() != again.to_bits() {
            return Err(Error::BadArgument);
        }
        Ok((first - begin) - (end - begin_again))
    }

    fn own_cost(&self) -> Result<Cost, Error> {
        let entries = UnitProxy::entries::<CairnExport_unit>();
        let Some(Some(entry)) = entries.first().copied() else { return Err(Error::NotFound) };
        let meter = Meter::new();
        Ok(settled(|| meter.entry(entry, &[0; 8])))
    }
}
