//! In the middle of a chain: smooths what it is given, and passes it on.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_bench::Stage;
// Relaxed: one thread calls it.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The mean of what came last.
struct Filter(AtomicU64);
static FILTER: Filter = Filter(AtomicU64::new(0));

cairn::component! {
    name: "stage",
    imports: { next: Stage },
    exports: { stage: Stage = FILTER },
}

impl Stage for Filter {
    fn take(&self, reading: u64) -> Result<u64, Error> {
        let mean = (self.0.load(Relaxed) / 4 * 3).saturating_add(reading / 4);
        self.0.store(mean, Relaxed);
        imports::NEXT.take(mean)
    }
}
