//! Buffers that are none, and windows after their time.
#![allow(unsafe_code)] // Attacks, which portals must refuse and the hardware must stop.

use crate::HOLD;
use crate::imports::{THREADS, VICTIM};
use crate::memory::PAGES;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, environment};
use cairn_interfaces::spawn;
use cairn_test_hostile_contract::notes;
use cairn_test_hostile_machine as machine;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static KEPT: AtomicU64 = AtomicU64::new(0);
static STACK: Stack<4096> = Stack::new();
/// Below that of everyone who calls the attacker.
const LATER: u8 = 5;
/// The call in which a thread was made that uses the window is over. By priorities the thread begins then, by deadlines perhaps before.
static OVER: AtomicBool = AtomicBool::new(false);

/// Passes a buffer to a method of the victim, without the proxy; answers the status.
pub fn pass(method: u64, pointer: u64, length: u64) -> u64 {
    let index = u64::from(VICTIM.first_portal()) + method;
    machine::call(index, [0, pointer, length, 0x55, 0, 0, 0, 0]).0 as u64
}

pub fn keep(bytes: ReadWindow<'_>, afterwards: bool) -> Result<u64, Error> {
    // SAFETY: two words; the larger one is the address, since a window is at most 16 KiB long.
    let words: [u64; 2] = unsafe { core::mem::transmute(bytes) };
    let (address, length) = (words[0].max(words[1]), words[0].min(words[1]));
    KEPT.store(address + length - 1, Relaxed);
    if afterwards {
        afterwards_do(|| _ = touch())?;
    }
    // While the call lasts it is the server's to use.
    Ok(touch())
}

pub fn keep_writable(bytes: WriteWindow<'_>, afterwards: bool) -> Result<u64, Error> {
    keep(bytes.as_read(), false)?;
    if afterwards {
        afterwards_do(write)?;
    }
    write();
    Ok(0)
}

fn afterwards_do(attack: fn()) -> Result<(), Error> {
    OVER.store(false, Relaxed);
    let begin = |attack: u64| {
        while !OVER.load(Relaxed) {
            let _ = THREADS.sleep_until(now() + ticks(200));
        }
        // SAFETY: the argument below.
        unsafe { core::mem::transmute::<u64, fn()>(attack)() }
    };
    spawn(THREADS, &STACK, begin, attack as usize as u64, LATER).map(|_| ())
}

/// The referee asks for something else: no call with a window lasts.
pub fn call_is_over() {
    OVER.store(true, Relaxed);
}

pub fn touch() -> u64 {
    // SAFETY: none; after the call, an attack.
    unsafe { (KEPT.load(Relaxed) as *const u8).read_volatile() }.into()
}

fn write() {
    // SAFETY: none; after the call, an attack.
    unsafe { (KEPT.load(Relaxed) as *mut u8).write_volatile(0x66) };
}

/// Does not come back: it is killed in the middle.
pub fn keep_for_ever(bytes: WriteWindow<'_>) -> Result<u64, Error> {
    keep_writable(bytes, false)?;
    let section = environment::section("notes").ok_or(Error::NotSupported)?;
    section.store(notes::WINDOW, KEPT.load(Relaxed));
    loop {
        THREADS.sleep_until(u64::MAX)?;
    }
}

/// Is killed while its window is open.
pub fn hold() -> ! {
    PAGES.0.iter().for_each(|word| word.store(0x3333_3333, Relaxed));
    loop {
        pass(HOLD, PAGES.0.as_ptr() as u64, 8192);
    }
}
