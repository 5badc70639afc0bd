//! A thread that waits with addresses of portal code in its registers, which its frames save, keeps
//! nobody's closed portals.

use crate::report::Failed;
use crate::{drop_block, imports, service};
use cairn::thread::Stack;
use cairn::time::{self, ticks};
use cairn_abi::address::PORTAL_CODE;
use cairn_interfaces::spawn;
use core::hint::black_box;

static STACK: Stack<4096> = Stack::new();

/// Waits with addresses in the registers that calls preserve, `stride` apart: whatever fills so much of
/// the area lies over one of them.
fn hold(stride: u64) {
    let address = |number: u64| black_box(PORTAL_CODE + number * stride);
    let (a, b, c, d, e) = (address(1), address(2), address(3), address(4), address(5));
    let (f, g, h, i, j) = (address(6), address(7), address(8), address(9), address(10));
    let _ = imports::THREADS.sleep_until(time::counter() + ticks(50_000));
    black_box((a, b, c, d, e, f, g, h, i, j));
}

pub fn registers() -> Result<(), Failed> {
    let before = succeed!(imports::LISTING.usage());
    let area = before.0 + before.1;
    let holder = succeed!(spawn(imports::THREADS, &STACK, hold, area / 11, 10));
    succeed!(imports::THREADS.sleep_until(time::counter() + ticks(100)));
    let mut opened = [0; 64];
    let mut count = 0;
    while let Ok(service) = service() {
        opened[count % opened.len()] = service.first_portal();
        count += 1;
    }
    expect!((5..opened.len()).contains(&count), true);
    for first in &opened[..count] {
        succeed!(drop_block(*first));
    }
    expect!(imports::LISTING.usage(), Ok(before));
    succeed!(holder.join());
    Ok(())
}
