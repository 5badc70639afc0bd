//! The host, where there are no devices.

use core::sync::atomic::{Ordering, fence};

pub(crate) fn device_fence() {
    fence(Ordering::SeqCst);
}
