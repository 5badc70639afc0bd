//! Writes where a confined driver may not write, one place in each life: each write is the end of that life.

use super::*;
use cairn::abi::address::{DEVICES, ROLE_DEVICES};

pub fn touch(generation: u64) {
    let registers = device().address;
    let tables = [0, 1].map(|queue| device().queues + queue * QUEUE_PAGES * PAGE_SIZE);
    let memory = startup().dma;
    let places = [
        registers + register::QUEUE_DESCRIPTORS,
        registers + register::QUEUE_AVAILABLE + 4,
        registers + register::QUEUE_USED,
        registers + register::QUEUE_READY,
        registers + register::QUEUE_SELECT,
        registers + register::QUEUE_NOTIFY,
        registers + register::STATUS,
        registers + register::DRIVER_FEATURES,
        registers + register::CONFIGURATION,
        registers + PAGE_SIZE - 8,
        registers - PAGE_SIZE,
        registers + PAGE_SIZE,
        tables[0],
        tables[0] + 8,
        tables[0] + PAGE_SIZE - 8,
        tables[1] + 16,
        // The margin is nobody's.
        memory + startup().dma_size,
        DEVICES,
        DEVICES + PAGE_SIZE + 8,
        ROLE_DEVICES,
        ROLE_DEVICES + register::QUEUE_DESCRIPTORS,
        device().device_address,
        0x1000_1000,
    ];
    progress().store(TOUCHED, progress().load(TOUCHED) + 1);
    let place = places[generation as usize % places.len()];
    // SAFETY: none; that is what is tried.
    unsafe { (place as *mut u32).write_volatile(0x8000_0000) };
    complain(("wrote", generation, place));
}
