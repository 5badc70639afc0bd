//! A report of the supervisor's names the functions in which it happened: those of the component, and of who called it.
#![forbid(unsafe_code)]

use cairn_loader::package::Package;
use cairn_tool::archive;
use cairn_tool::build::build;
use cairn_tool::expect::{Guest, Pattern};
use cairn_tool::machine::{self, Console, Options};
use cairn_tool::symbolise::{self, Symboliser};
use std::time::Duration;

#[test]
fn a_report_names_functions_files_and_lines() {
    let image = build("tests/faults/faults.toml", None).expect("the system builds");
    let options = Options { icount: true, skip_waiting: true, ..Options::default() };
    let command = machine::command(&image, &options, Console::Program).expect("it boots");
    let mut guest = Guest::start(command, Duration::from_secs(120)).expect("it boots");
    // Its last deed is after that. Of what the driver says of it and the report either is first.
    guest.wait_for(&Pattern::text("to forget translations ended")).expect("it is told");
    guest.wait_for(&Pattern::text("perhaps its stack is full")).expect("it is told");
    guest.wait_for(&Pattern::text("it starts again")).expect("it is told");
    let mut shown = Vec::new();
    let symboliser = Symboliser::new(&image.symbols);
    symbolise::copy(symboliser, guest.transcript().as_bytes(), &mut shown).expect("it is read");
    let shown = String::from_utf8(shown).expect("text").replace('\r', "");
    // By the image that the log names the same files are found, and without such a line it says what is missing.
    archive::keep(&image).expect("it is kept");
    let of_any = |log: &str| String::from_utf8(Symboliser::of_any().add(log.as_bytes())).unwrap();
    let transcript = guest.transcript();
    let (_, report) = transcript.split_once("supervisor: image ").expect("it says which");
    let places = |text: &str| text.matches("cairn:     in ").count();
    assert_eq!(places(&of_any(&format!("supervisor: image {report}"))), places(&shown), "{shown}");
    let (_, unnamed) = report.split_once('\n').expect("lines");
    assert!(of_any(unnamed).contains("cairn:     no line `supervisor: image ...` before this"));

    // Built from other source than the log is of: that is said once, and its own log is as without it.
    let warned = |log: &str| String::from_utf8(Symboliser::of(&image).add(log.as_bytes())).unwrap();
    let own = format!("supervisor: image {report}");
    assert_eq!(places(&warned(&own)), places(&shown));
    assert!(!warned(&own).contains("is what was built here"));
    let other = format!("supervisor: image {:016x}\n", !image.identifier);
    assert!(warned(&other).contains("is what was built here"));

    let mut reports = shown.split("supervisor: `trouble`").skip(1);
    let mut report = |what: &str| {
        let report = reports.find(|report| report.contains(what));
        report.unwrap_or_else(|| panic!("no report with `{what}` in\n{shown}")).to_owned()
    };
    let panicked = report("panicked in thread");
    let places = |report: &str| -> Vec<String> {
        let places = report.lines().filter_map(|line| line.strip_prefix("cairn:     in "));
        places.map(str::to_owned).collect()
    };
    let found = places(&panicked);
    let deed = "tests/faults/components/trouble/src/hostile.rs:";
    assert!(found[0].contains("commit, ") && found[0].contains(deed), "{panicked}");
    assert!(
        found.iter().any(|place| place.contains("components/driver/src/main.rs:")),
        "{panicked}"
    );
    assert!(panicked.contains("called by `driver` at 0x"), "{panicked}");
    assert!(!shown.contains("rust_begin_unwind"), "{shown}");

    let read = report("read an address that it may not read");
    assert!(places(&read).iter().take(3).any(|place| place.starts_with("load, ")), "{read}");
    let full = report("perhaps its stack is full");
    let depth = places(&full).iter().filter(|place| place.contains("overflow, ")).count();
    assert!(depth > 2, "of a full stack what is left: {full}");
}

/// Of a package there are the names of its own functions, wherever it is, and of one that the image does not have there are none.
#[test]
fn functions_of_a_package_are_found_by_its_hash() {
    let image = build("demo", None).expect("the system builds");
    let bytes = cairn_tool::pack::make("guest", "demo", None).expect("it is packed");
    let package = Package::read(&bytes).expect("it is one");
    let add = package.head().exports().next().and_then(|echo| echo.methods().next()).unwrap();
    let hash: String = bytes[8..16].iter().map(|byte| format!("{byte:02x}")).collect();
    // An address at which the image has functions of others.
    let symbols = image.symbols.iter().find(|symbols| symbols.owner == "greeter").unwrap();
    let address = symbols.offset + 0x1000 + add.entry;
    let told = |hash: &str| {
        let lines = format!(
            "supervisor:   at {address:#x}, {:#x} of the package {hash}\n\
             supervisor:   called by `x` at {address:#x}, {:#x} of the package {hash}, on behalf of `y`\n",
            add.entry, add.entry
        );
        String::from_utf8(Symboliser::of(&image).add(lines.as_bytes())).unwrap()
    };
    let named = told(&hash);
    assert_eq!(named.matches("cairn:     in ").count() % 2, 0, "{named}");
    assert!(
        named.contains("cairn:     in ") && named.contains("examples/greeter/src/main.rs"),
        "{named}"
    );
    assert!(!told("0123456789abcdef").contains("cairn:"));
}

/// Whoever made a component's file chose the names in it.
#[test]
fn names_of_functions_command_no_terminal() {
    let image = build("tests/hostile-text/hostile-text.toml", None).expect("the system builds");
    let options = Options { icount: true, skip_waiting: true, ..Options::default() };
    let command = machine::command(&image, &options, Console::Program).expect("it boots");
    let mut guest = Guest::start(command, Duration::from_secs(120)).expect("it boots");
    guest.wait_for(&Pattern::text("`faulter` (domain 10)")).expect("it is told");
    guest.wait_for(&Pattern::text("it stays dead")).expect("it is told");
    let shown = Symboliser::new(&image.symbols).add(guest.transcript().as_bytes());
    let shown = String::from_utf8(shown).expect("text");
    assert!(shown.contains("cairn:     in evil\\u{1b}[2J\\u{9b}2J\\u{202e}, tests/"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']));
}

/// Lines that say that they go on, without end, take no more room than a report has.
#[test]
fn lines_that_go_on_end() {
    let mut symboliser = Symboliser::new(&[]);
    symboliser.add(b"supervisor:   stack 0x1000: pc 0x1, ra 0x2,\n");
    let mut line = |number: u64| {
        let line = format!("supervisor:   stack 0x1000: +{number:#x} 0x1,\n");
        assert_eq!(symboliser.add(line.as_bytes()), line.as_bytes());
        symboliser.words_kept()
    };
    assert_eq!((0..1000).map(&mut line).max(), Some(64));
}
