//! Where the linker puts what every switch executes: `lib/cairn/component.ld` names it by its symbols, which are those of
//! crates that may change.
#![forbid(unsafe_code)]

use cairn_abi::arch::counter::by_cycles;
use cairn_image::Component;
use cairn_tool::cargo::{self, Kind};
use object::{Object, ObjectSymbol};

/// Parts of the symbols, in the order of their places.
const HOT: [&str; 8] = [
    "ThreadsProxy7entries8own_name",
    "v_in_vain",
    "switch_ticking",
    "run_after_noted",
    "ThreadsProxy7entries9yield_now",
    "SemaphoreProxy7entries1p17h",
    "SemaphoreProxy7entries1v17h",
    "InterruptSignalsProxy7entries6signal",
];

#[test]
fn a_scheduler_switches_by_code_of_one_page() {
    let packages = ["cairn-scheduler", "cairn-scheduler-edf"];
    let files = cargo::build_own(Kind::Component, &packages).unwrap();
    for package in packages {
        let file = std::fs::read(&files[package]).unwrap();
        let elf = object::File::parse(&*file).unwrap();
        let text = elf.section_by_name(".text").map(|text| object::ObjectSection::address(&text));
        let symbols: Vec<(&str, u64)> = elf
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())))
            .collect();
        let place = |part: &str| {
            let found = symbols.iter().filter(|(name, _)| name.contains(part));
            found.map(|(_, address)| *address).min()
        };
        let end = place("cairn_hot_end").unwrap();
        assert_eq!(place(HOT[0]), text, "{package}: the first of the text");
        let places = HOT[3..].iter().map(|part| place(part));
        let places: Vec<u64> = places.map(|place| place.expect("it is in the text")).collect();
        assert!(
            places.is_sorted() && places.iter().all(|place| *place < end),
            "{package}: {places:x?}"
        );
        let rare = HOT[1..3].iter().map(|part| place(part));
        assert!(rare.flatten().all(|place| place < places[0]), "{package}");
    }
}

#[test]
fn a_switch_reads_the_run_clock_and_not_the_time() {
    let package = "cairn-scheduler";
    let files = cargo::build_own(Kind::Component, &[package]).unwrap();
    let component = Component::read(std::fs::read(&files[package]).unwrap()).unwrap();
    let place = |part: &str| {
        let mut found = component.symbols.iter().filter(|symbol| symbol.name.ends_with(part));
        let symbol = found.next().expect("it is in the text");
        (symbol.offset, symbol.offset + symbol.size)
    };
    let code = &component.segments[0];
    let mut memory = vec![0; code.size as usize];
    component.fill(code, 0, &mut memory);
    let reads = |memory: &[u8], (from, to): (u64, u64)| {
        let code = &memory[(from - code.offset) as usize..(to - code.offset) as usize];
        let words = code.windows(4).step_by(2).map(|word| word.try_into().unwrap());
        words.filter(|word| by_cycles(u32::from_le_bytes(*word)).is_some()).count()
    };
    let hot = [
        "ThreadsProxy::entries::yield_now",
        "SemaphoreProxy::entries::p",
        "SemaphoreProxy::entries::v",
        "InterruptSignalsProxy::entries::signal",
    ];
    assert_eq!(hot.map(|part| reads(&memory, place(part))), [1; 4]);
    let ticks = reads(&memory, place("start_ticking"));
    component.count_by_cycles(code, &mut memory);
    assert_eq!(hot.map(|part| reads(&memory, place(part))), [0; 4]);
    // What has to do with the timer goes by the time all the same.
    assert_eq!((ticks, reads(&memory, place("start_ticking"))), (1, 1));
}
