//! Many at a time, and many times.

use crate::harness::Judge;
use crate::imports::LOADER;
use crate::{Opened, arguments};
use cairn::text::Line;

fn name(number: u64) -> Line<16> {
    Line::of(format_args!("crowd{number}"))
}

pub fn all(judge: &mut Judge) {
    judge.start();
    let crowd = arguments::crowd();
    let loaded = (0..crowd).take_while(|number| LOADER.load("crowd", name(*number).text()).is_ok());
    judge.expect("loaded", loaded.count() as u64, crowd);
    judge.expect("one too many", LOADER.load("crowd", "more").is_err(), true);
    for number in (0..crowd).step_by(17) {
        let sum = Opened::of(name(number).text()).and_then(|guest| guest.proxy().sum(&[3; 3000]));
        judge.expect("it is called", sum, Ok(9000));
    }
    // The last first, then every second, then the others: numbers come back in another order.
    let order =
        (0..crowd / 2).rev().map(|half| half * 2).chain((0..crowd / 2).map(|half| half * 2 + 1));
    let gone = order.filter(|number| LOADER.unload(name(*number).text()).is_ok());
    judge.expect("unloaded", gone.count() as u64, crowd / 2 * 2);
    judge.end("two hundred at a time");
    judge.start();
    for round in 0..arguments::rounds() {
        let package = if round % 4 == 3 { "guest" } else { "crowd" };
        let loaded = LOADER.load(package, "again").is_ok();
        let called = Opened::of("again").and_then(|guest| guest.proxy().count());
        let gone = LOADER.unload("again").is_ok();
        if (loaded, called, gone) != (true, Ok(101), true) {
            judge.expect("a round", (round, loaded, called, gone), (round, true, Ok(101), true));
        }
    }
    judge.end("again and again");
}
