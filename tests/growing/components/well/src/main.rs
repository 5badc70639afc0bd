//! Goes as deep as its callers want, on the stacks on which they call.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_test_growing_contract::Deep;
use core::hint::black_box;

struct Well;
static WELL: Well = Well;

cairn::component! {
    name: "growing-well",
    exports: { deep: Deep = WELL },
}

fn deeper(levels: u64) -> u64 {
    let kept = black_box([levels; 64]);
    if levels == 0 {
        return 0;
    }
    deeper(levels - 1) + black_box(kept)[63] / levels
}

impl Deep for Well {
    fn dive(&self, levels: u64) -> Result<u64, Error> {
        Ok(deeper(levels))
    }
}
