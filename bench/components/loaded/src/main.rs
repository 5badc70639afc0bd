//! Is loaded, as a package of 64 KiB, and notes its first instruction.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::measure::{Mark, Stamp, unused_mark};
use cairn_bench::Loaded;
use core::hint::black_box;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What fills the package: constants, data that begin with something, and words that hold addresses.
static CONSTANTS: [u8; 36 << 10] = [7; 36 << 10];
static DATA: [AtomicU8; 8 << 10] = [const { AtomicU8::new(9) }; 8 << 10];
static ADDRESSES: [&AtomicU8; 256] = [&DATA[5]; 256];

struct Server;
static SERVER: Server = Server;
static BEGUN: Mark = unused_mark();

cairn::component! {
    name: "loaded",
    exports: { loaded: Loaded = SERVER },
    main: main,
}

fn main() {
    Stamp::end().store(&BEGUN);
}

impl Loaded for Server {
    fn begun(&self) -> Result<(u64, u64), Error> {
        let place = black_box(100);
        let sum = CONSTANTS[place] + DATA[place].load(Relaxed) + ADDRESSES[place].load(Relaxed);
        assert!(sum == 25, "the content is another");
        let stamp = Stamp::load(&BEGUN);
        Ok((stamp.cycles, stamp.instructions))
    }
}
