//! Has a component in C attack, and sees after each attack that its victim, which is in C too, answers as before.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::RegionId;
use cairn::abi::address::{IMAGE_OFFSET, image_spread, region};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};

cairn::component! {
    name: "hostile-c-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        victim: cairn_app_interfaces::Echo,
        attacker: cairn_app_interfaces::Echo,
    },
    main: main,
}

use imports::{ATTACKER, VICTIM};

/// What the attacker does, by its number, and whether that ends it. What it leaves by the return stub is an answer of its own.
const ATTACKS: [(&str, bool); 10] = [
    ("indexes of portals that it was not given", false),
    ("buffers that are not its own", false),
    ("windows of all lengths", false),
    ("stack pointers that lead nowhere", false),
    ("a jump into its victim", true),
    ("a jump into the middle of a stub's instruction", true),
    ("a jump to the nucleus", true),
    ("recursion without end", true),
    ("a store to its victim's memory", true),
    ("a store to its own code", true),
];

fn main() {
    let mut failed = 0;
    let mut expect = |name: &str, holds: bool| {
        failed += u64::from(!holds);
        say!("{} {name}", if holds { "ok:" } else { "FAILED" });
    };
    // The victim is the instance with the number 9.
    let foreign = region(RegionId(9)) + IMAGE_OFFSET + image_spread(RegionId(9));
    for (number, (name, dies)) in (0..).zip(ATTACKS) {
        let expected = if dies { Err(Error::Dead) } else { Ok(0) };
        let found = ATTACKER.add(number, foreign);
        expect(name, found == expected && is_whole());
        await_attacker();
    }
    // It comes back from the middle of its functions: with what it likes, and nobody else is the worse for it.
    let _ = ATTACKER.add(10, foreign);
    expect("a return from the middle of its functions", is_whole());
    for round in 0..20 {
        let depth = ATTACKER.add(11, 0);
        if !(depth.is_ok_and(|depth| depth > 6) && is_whole()) {
            expect("calls to and fro, deeper than an invocation stack holds", false);
            say!("round {round}: {depth:?}");
        }
    }
    expect("calls to and fro, deeper than an invocation stack holds", is_whole());
    let (long, mut room) = ([b'x'; 100], [7; 100]);
    let long = core::str::from_utf8(&long).unwrap_or("");
    expect("a store to a window to read", ATTACKER.say(long) == Err(Error::Dead) && is_whole());
    await_attacker();
    expect("a store behind a window", ATTACKER.fill(&mut room) == Err(Error::Dead) && is_whole());
    await_attacker();
    // A buffer of few bytes is copied: behind the copy lies its own stack.
    let _ = ATTACKER.fill(&mut room[..8]);
    expect("a store behind a copy", room[8..].iter().all(|byte| *byte == 7) && is_whole());
    say!("hostile-c: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}

/// Whether the victim does what it did.
fn is_whole() -> bool {
    let mut heard = [0; 16];
    VICTIM.add(40, 2) == Ok(42)
        && VICTIM.say("still here") == Ok(())
        && VICTIM.fill(&mut heard) == Ok(10)
        && heard.starts_with(b"still here")
}

fn await_attacker() {
    judge::wait_until(imports::THREADS, || ATTACKER.add(99, 0) == Ok(0));
}
