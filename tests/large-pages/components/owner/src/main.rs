//! Passes windows from all over its heap, which is in large pages, ends by a fault, and does the same in its next life.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::format;
use alloc::vec;
use cairn::environment;
use cairn_interfaces as interfaces;

cairn::component! {
    name: "owner",
    imports: {
        console: interfaces::Console,
        echo: cairn_app_interfaces::Echo,
        supervisor: interfaces::Supervisor,
    },
    main: main,
}

const PAGE: usize = 4096;
/// Most of the heap.
const BYTES: usize = 7 << 19;
const WINDOW: usize = 4 * PAGE;
const TEXT: &[u8] = b"from the server";

fn main() {
    // It outlives the instance.
    let lives = environment::section("lives").expect("the description maps the section");
    let last = lives.size() - 8;
    let life = lives.load(last);
    lives.store(last, life + 1);

    let mut memory = vec![0xaa_u8; BYTES];
    // The section's first page and its last one are in one large page.
    let mut wrong = usize::from(life != lives.load(0));
    lives.store(0, life + 1);
    let first = memory.as_ptr().align_offset(PAGE);
    imports::ECHO.say(core::str::from_utf8(TEXT).expect("ASCII")).expect("the server listens");
    // Windows that lie in large pages, at their ends and across them.
    for from in (first..BYTES - WINDOW).step_by(3 * PAGE) {
        let filled = imports::ECHO.fill(&mut memory[from..from + WINDOW]);
        let good = filled == Ok(TEXT.len()) && memory[from..].starts_with(TEXT);
        wrong += usize::from(!good || memory[from + WINDOW - 1] != 0xaa);
        // Few bytes are copied.
        let copied = imports::ECHO.fill(&mut memory[from + PAGE..from + PAGE + TEXT.len()]);
        wrong += usize::from(copied != Ok(TEXT.len()) || !memory[from + PAGE..].starts_with(TEXT));
    }
    let line = format!("life {life}, wrong: {wrong}\n");
    imports::CONSOLE.write(line.as_bytes()).expect("the console takes it");
    if life == 0 {
        panic!("the first life ends");
    }
    let _ = imports::SUPERVISOR.halt(wrong as u64);
}
