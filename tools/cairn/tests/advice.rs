//! `./cairn check --placements` says what was measured, weighed by what `./cairn run --count` counted.
#![forbid(unsafe_code)]

use cairn_image::Report;
use cairn_tool::advice::advise;
use cairn_tool::build::{self, Parts};
use cairn_tool::counts::{Counting, Counts};
use cairn_tool::guest_memory::GuestMemory;
use cairn_tool::machine::Options;
use cairn_tool::paths;
use cairn_tool::run::scripted;
use cairn_tool::usage;
use regex::Regex;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn file(name: &str, text: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, text).unwrap();
    file
}

fn report(system: &str) -> Report {
    let parts = Parts::new(system, None).expect("the components build");
    let (nucleus, _) = build::nucleus().unwrap();
    build::lay_out_with(&parts, &nucleus).expect("it can be laid out").report
}

/// Instructions of a call, there and back.
fn way(report: &Report, client: &str, import: &str, method: &str) -> f64 {
    let mut instances = report.instances.iter();
    let portals = &instances.find(|instance| instance.name == client).unwrap().portals;
    let mut portals = portals.iter();
    let portal = portals.find(|portal| portal.import == import && portal.method == method);
    portal.unwrap().instructions as f64
}

/// The benchmarks count what a call takes beyond one that leads nowhere, which is up to two instructions less.
#[test]
fn the_ways_are_what_the_benchmarks_measured() {
    let text = std::fs::read_to_string(paths::source().join("bench/limits.toml")).unwrap();
    let limits: toml::Table = text.parse().unwrap();
    let median = |name: &str| limits[name].as_float().unwrap();
    let (calls, kernel) = (report("bench/systems/calls"), report("bench/systems/kernel"));
    for (measured, way) in [
        (2.0 * median("portal.npciii.2"), way(&calls, "calls", "new2", "pass")),
        (2.0 * median("portal.smciii.2"), way(&calls, "calls", "shared2", "pass")),
        (2.0 * median("portal.kernel.p.iii"), way(&kernel, "outside", "partial", "pass")),
        (2.0 * median("portal.kernel.iii"), way(&kernel, "outside", "minimal", "pass")),
        (2.0 * median("portal.from_kernel.iii"), way(&kernel, "within", "far", "pass")),
        (median("call.kernel.isolated"), way(&kernel, "within", "near", "pass")),
        (median("call.kernel.isolated.window"), way(&kernel, "within", "near", "leave")),
    ] {
        assert!((0.0..=2.0).contains(&(way - measured)), "{way} instructions, measured {measured}");
    }
}

#[test]
fn what_a_run_used_is_read_in_the_memory_that_it_left() {
    let image = build::build("tests/usage/usage.toml", None).expect("the system builds");
    let memory = GuestMemory::of(&image, "--report").expect("QEMU is the board");
    let mut options = Options::default();
    memory.add_to(&mut options);
    let limit = Some(Duration::from_secs(60));
    let script = "call user.echo add 10 100\nps -m\nhalt\n";
    assert_eq!(scripted(&image, &options, limit, None, script).expect("QEMU runs"), 0);
    let table = usage::table(&image, &memory).unwrap();
    // As the shell says it: tests/usage.
    for line in [
        r"(?m)^component +text +data +heap +stack +calls' +stacks +threads' +run-time +portals$",
        r"(?m)^user +\d+K +\d+K +101K/256K +[67]K/24K +1[123]K/32K +1/2 +1[0-2]K/16K +- +[1-9]\d*$",
        r"(?m)^greeter +\d+K +\d+K +0K/64K +1K/16K +0K/16K +0/1 +- +- +[1-9]\d*$",
    ] {
        assert!(Regex::new(line).unwrap().is_match(&table), "{line} in\n{table}");
    }
}

#[test]
fn calls_of_a_run_are_counted() {
    let file = file("counted.json", "");
    let counting = Counting::new("demo", None, &file).expect("the system builds");
    let mut options = Options::default();
    let memory = GuestMemory::of(&counting.image, "--count").expect("QEMU is the board");
    memory.add_to(&mut options);
    let limit = Some(Duration::from_secs(60));
    let script = "uptime\nuptime\nuptime\nhalt 3\n";
    let status = scripted(&counting.image, &options, limit, None, script).expect("QEMU runs");
    assert_eq!(status, 3);
    let sum = counting.write(&memory).unwrap();
    let counts = Counts::read(&file).unwrap();
    assert_eq!(counts.system, "demo");
    assert_eq!(counts.calls.iter().map(|counted| counted.calls).sum::<u64>(), sum);
    let of = |client: &str, import: &str, method: &str| {
        let mut calls = counts.calls.iter();
        let found = calls.find(|counted| {
            (&*counted.client, &*counted.import, &*counted.method) == (client, import, method)
        });
        found.unwrap().calls
    };
    assert_eq!(of("shell", "clock", "uptime"), 3);
    assert_eq!(of("shell", "supervisor", "halt"), 1);
    assert_eq!(of("shell", "supervisor", "kill"), 0);
}

#[test]
fn who_saves_most_by_the_calls_of_a_profile_stands_first() {
    let profile = r#"{ "system": "demo", "calls": [
        { "client": "shell", "import": "clock", "method": "uptime", "calls": 1000 },
        { "client": "supervisor", "import": "console", "method": "write", "calls": 100 },
        { "client": "shell", "import": "names", "method": "list", "calls": 10 } ] }"#;
    let text = advise("demo", None, Some(&file("uptime.json", profile))).unwrap().to_string();
    let rows: Vec<&str> = text.lines().skip(4).filter(|line| !line.starts_with(' ')).collect();
    let words = |row: usize| rows[row].split_whitespace().collect::<Vec<_>>();
    let report = report("demo");
    let uptime = way(&report, "shell", "clock", "uptime") as u64;
    assert_eq!(words(0)[..2], ["clock", "1000"], "{text}");
    // In the kernel domain a call is about half as long (the benchmarks `portal.npciii.2` and `portal.kernel.p.iii`).
    let saved: u64 = words(0)[2].parse().unwrap();
    assert!(saved.is_multiple_of(1000) && (450..550).contains(&(saved / uptime)), "{text}");
    // Who calls saves less, and each its own calls.
    assert_eq!(words(1)[..2], ["console", "100"], "{text}");
    assert_eq!(words(2)[..2], ["names", "10"], "{text}");
    assert_eq!(words(3)[1..4], ["0", "0", "0.0"], "{text}");
    // They have more threads than one, which takes a scheduler in the kernel domain.
    for name in ["supervisor", "shell"] {
        let cannot =
            format!("\n  cannot: `{name}` runs in the kernel domain and has one thread there");
        assert!(text.contains(&cannot), "{text}");
    }
    let memory = rows.iter().find(|row| row.starts_with("memory ")).unwrap();
    assert!(memory.ends_with("no, trusted with everything already"), "{text}");
    assert!(!rows[0].contains("trusted"), "{text}");
    assert!(text.contains("  shell.clock to clock.clock  "), "{text}");
    let lines = |name: &str| rows.iter().find(|row| row.starts_with(name)).unwrap().to_string();
    assert!(lines("greeter").split_whitespace().any(|word| word == "38"), "{text}");
}

#[test]
fn who_cannot_be_placed_is_said_with_the_reason() {
    let text = advise("bench/systems/calls", None, None).unwrap().to_string();
    let row = text.lines().position(|line| line.starts_with("link3 ")).unwrap();
    let reason = text.lines().nth(row + 1).unwrap();
    assert!(reason.starts_with("  cannot: "), "{text}");
}

#[test]
fn a_profile_of_something_else_is_refused() {
    let refused = |text: &str, expected: &str| {
        let error = advise("hello", None, Some(&file("refused.json", text))).err().unwrap();
        let error = format!("{error:#}");
        assert!(error.contains("refused.json: ") && error.contains(expected), "{error}");
    };
    refused(r#"{ "system": "demo", "calls": [] }"#, "expected those of `hello`: count it again");
    let call = r#"{ "client": "hello\u001b", "import": "x", "method": "y", "calls": 1 }"#;
    refused(
        &format!(r#"{{ "system": "hello", "calls": [{call}] }}"#),
        r"calls of `hello\u{1b}.x y`, which the system does not connect",
    );
    refused("{\n  \"system\": 1 }", "line 2 column");
    let missing = advise("hello", None, Some(Path::new("/nowhere"))).err().unwrap().to_string();
    assert_eq!(missing, "cannot read the counted calls /nowhere");
}
