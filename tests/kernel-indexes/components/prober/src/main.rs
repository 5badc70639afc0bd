//! Calls portals by indexes that only their caller knows, while the compiler has its own words in registers that a call keeps.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::call::Call;
use cairn_test_kernel_indexes_prober::Prober;
use core::hint::black_box;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "prober",
    exports: { prober: Prober = SERVER },
}

impl Prober for Server {
    fn call(&self, index: u64) -> Result<u64, Error> {
        let words: [u64; 12] = core::array::from_fn(|at| black_box(at as u64 + 1));
        let (status, _) = Call::new().invoke(index as u32);
        // Between the two they stay where no call changes them.
        let sum: u64 = words.iter().enumerate().map(|(at, word)| word * (at as u64 ^ index)).sum();
        black_box(sum);
        Ok(status as u64)
    }
}
