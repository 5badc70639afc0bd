//! A product outside of Cairn's tree, made as its user makes it: every command works on it there, without a network.
#![forbid(unsafe_code)]

use cairn_tool::{cargo, paths, setup};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Serves the product's interface `Meter`, and calls its interface `Pump`.
const GAUGE: &str = r#"#include "console.h"
#include "meter.h"
#include "pump.h"
#include <stdio.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT, PUMP = CONSOLE + CONSOLE_METHODS };
METER_SERVER(gauge)

struct cairn_reply gauge_double(uint64_t control, uint64_t number)
{
    (void)control;
    return (struct cairn_reply){ 0, 2 * number };
}

static void gauge(void)
{
    uint64_t value = 0;
    char line[64];
    int64_t status = pump_double(PUMP, 30, &value);
    int length = snprintf(line, sizeof line, "gauge: %d, %u\n", (int)status, (unsigned)value);
    console_write(CONSOLE, line, (size_t)length);
}

CAIRN_COMPONENT(
    .name = "gauge", .main = gauge,
    .import_count = 2,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE }, { "pump", PUMP, PUMP_INTERFACE } },
    .export_count = 1,
    .exports = { { "meter", 0, METER_INTERFACE, METER_ENTRIES(gauge) } });
"#;

/// The product with the component in C and with sixty instances of another.
const FLEET: &str = r#"[system]
name = "fleet"
extends = "heater"
threads = 96

[instance.pump.exports.pump]
open = ["shell", "watcher", "gauge"]

[instance.gauge]
component = "gauge"
memory = "128K"
[instance.gauge.imports]
console = "console.console"
pump = "pump.pump"
[instance.gauge.exports.meter]
open = ["shell"]

[instance.station]
component = "pump"
count = 60
memory = "64K"
threads = 0
[instance.station.exports.pump]
open = ["shell"]

[instance.panel]
component = "panel"
memory = "64K"
threads = 0

[instance.twins]
component = "twins"
memory = "128K"
threads = 2
[instance.twins.imports]
console = "panel.console"
threads = "panel.threads"
terminal = "console.console"
machine = "scheduler.threads"
"#;

/// Interfaces that are called as two of Cairn's.
const NAMESAKES: &str = r#"
#[cairn::interface]
pub trait Console {
    fn rows(&self) -> Result<u64, cairn::Error>;
}

#[cairn::interface]
pub trait Threads {
    fn count(&self) -> Result<u64, cairn::Error>;
}
"#;

/// Serves them.
const PANEL: &str = r#"#![no_std]
#![cfg_attr(not(test), no_main)]
#![forbid(unsafe_code)]
use cairn::Error;
use heater_interfaces::{Console, Threads};

struct Panel;
static PANEL: Panel = Panel;

impl Console for Panel {
    fn rows(&self) -> Result<u64, Error> {
        Ok(24)
    }
}

impl Threads for Panel {
    fn count(&self) -> Result<u64, Error> {
        Ok(7)
    }
}

cairn::component! {
    name: "panel",
    exports: { console: Console = PANEL, threads: Threads = PANEL },
}
"#;

/// Calls them, before Cairn's own, prints, and starts a thread.
const TWINS: &str = r#"#![no_std]
#![no_main]
#![forbid(unsafe_code)]
use cairn::thread::{Stack, spawn};
use heater_interfaces::{Console, Threads};

cairn::component! {
    name: "twins",
    imports: {
        console: Console,
        threads: Threads,
        terminal: cairn_interfaces::Console,
        machine: cairn_interfaces::Threads,
    },
    main: main,
}

static STACK: Stack<4096> = Stack::new();

fn main() {
    cairn::println!("twins: {:?}, {:?}", imports::CONSOLE.rows(), imports::THREADS.count());
    let thread = spawn(&STACK, 0, || 42).and_then(|thread| thread.join());
    cairn::println!("twins: a thread answers {thread:?}");
}
"#;

const FLEET_TEST: &str = r#"system = "fleet"
exit = 0
steps = [
    { expect_all = ['gauge: 0, 60', 'twins: Ok\(24\), Ok\(7\)', 'twins: a thread answers Ok\(42\)'] },
    { send = "call gauge double 4" },
    { expect_match = '^8\b' },
    { send = "call station-60 double 7" },
    { expect_match = '^14\b' },
    { send = "halt" },
]
"#;

struct Product(PathBuf);

impl Product {
    /// What a command prints in the product, if it ends as it should.
    fn answers(&self, mut command: Command, as_it_should: bool) -> String {
        // What is built of Cairn is kept for the next time, and what is built of the product for Cairn's next test.
        let target = paths::source_target();
        command
            .env("CARGO_TARGET_DIR", target.join("product"))
            .env("CAIRN_TARGET", &target)
            .env("CARGO_NET_OFFLINE", "true")
            // Half as much on the disk.
            .envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")])
            .current_dir(&self.0);
        let output = command.output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), as_it_should, "{command:?}:\n{text}");
        text.into_owned()
    }

    fn run(&self, arguments: &str) -> String {
        self.answers(tool(arguments), true)
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.0.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

fn tool(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-tool"));
    command.args(arguments.split(' '));
    command
}

#[track_caller]
fn has(text: &str, expected: &str) {
    assert!(text.contains(expected), "expected `{expected}` in\n{text}");
}

#[test]
fn a_product_does_what_cairn_does() {
    setup::need(setup::C_COMPILER).unwrap();
    let outside = std::env::temp_dir().join(format!("cairn-product-{}", std::process::id()));
    fs::create_dir_all(&outside).unwrap();
    let made = tool("new product heater").current_dir(&outside).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let product = Product(outside.join("heater"));

    let mut launcher = Command::new(product.0.join("cairn"));
    launcher.arg("--version").current_dir(product.0.join("systems"));
    let source = paths::source().canonicalize().unwrap();
    launcher.env("CARGO_TARGET_DIR", paths::source_target()).env("CARGO_NET_OFFLINE", "true");
    let version = String::from_utf8(launcher.output().unwrap().stdout).unwrap();
    has(&version, &format!("tree: {}", source.display()));

    product.run("new component pump");
    has(&product.run("new interface meter"), "use heater_interfaces::Meter;");
    product.run("new client watcher pump");
    product.write(
        "components/gauge/component.toml",
        "interfaces = ['cairn-interfaces::Console', 'Meter', 'Pump']\n",
    );
    product.write("components/gauge/src/gauge.c", GAUGE);
    product.run("new driver dice --device virtio");
    product.run("new driver ticker --device rtc0");
    let read = |file: &str| fs::read_to_string(product.0.join(file)).unwrap();
    product.write("interfaces/src/lib.rs", &(read("interfaces/src/lib.rs") + NAMESAKES));
    let members = "members = [\"components/panel\", \"components/twins\", ";
    product.write("Cargo.toml", &read("Cargo.toml").replace("members = [", members));
    let manifest = read("components/pump/Cargo.toml");
    // Threads are there on the machine alone.
    let untested = "[[bin]]\nname = \"twins\"\npath = \"src/main.rs\"\ntest = false\n";
    for (name, program, rest) in [("panel", PANEL, ""), ("twins", TWINS, untested)] {
        let own = manifest.replace("\"pump\"", &format!("\"{name}\"")) + rest;
        product.write(&format!("components/{name}/Cargo.toml"), &own);
        product.write(&format!("components/{name}/src/main.rs"), program);
    }
    product.write("systems/fleet.toml", FLEET);
    product.write("tests/fleet/test.toml", FLEET_TEST);
    product.write("script.txt", "call heater double 21\n");

    let told = product.run("test");
    for name in ["heater", "pump", "watcher", "fleet"] {
        has(&told, &format!("ok   {name} "));
    }
    has(&product.run("run --input script.txt --timeout 100"), "42 (0x2a)");
    has(&product.run("build"), "\nimage: ");
    has(&product.run("check fleet"), "fleet: no errors");
    has(&product.run("headers Meter"), "meter_double(");
    product.run("graph -o heater.svg");
    has(&fs::read_to_string(product.0.join("heater.svg")).unwrap(), "watcher");

    // As an editor does.
    let cargo = || Command::new(cargo::cargo("check", &product.0).get_program());
    let mut editor = cargo();
    editor.args(["check", "--workspace", "--quiet", "--target", cargo::TARGET]);
    cargo::with_library(&mut editor);
    assert_eq!(product.answers(editor, true), "");

    // Its tests on the host, as in any workspace.
    let mut tests = cargo();
    tests.arg("test");
    let told = product.answers(tests, true);
    for test in [
        "doubles_what_fits",
        "says_what_the_server_answers",
        "an_answer_has_the_length_of_a_number",
        "interrupts_are_counted",
    ] {
        has(&told, &format!("test tests::{test} ... ok"));
    }

    // A mistake is told by the product's files.
    product.write("systems/fleet.toml", &FLEET.replace(", \"gauge\"]", "]"));
    let told = product.answers(tool("check fleet"), false);
    has(&told, "`gauge` may not open `pump.pump`");
    has(&told, "systems/fleet.toml:");
    fs::remove_dir_all(outside).unwrap();
}

/// Whoever comes into Cairn's tree through a symbolic link works on Cairn itself, not on a product beside it.
#[test]
fn a_link_to_cairn_is_cairn() {
    let source = paths::source();
    let link = std::env::temp_dir().join(format!("cairn-link-{}", std::process::id()));
    std::os::unix::fs::symlink(&source, &link).unwrap();
    let environment = [("CAIRN_ROOT", link.clone()), ("CAIRN_TARGET", paths::source_target())];
    let in_link = |mut command: Command| {
        command.current_dir(&link).envs(environment.clone()).env_remove("CARGO_TARGET_DIR");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Its own library is the trusted one.
    has(&in_link(tool("check demo --placement kernel")), "demo: no errors");
    let mut script = Command::new("./cairn");
    script.arg("--version").env("CARGO_NET_OFFLINE", "true");
    has(&in_link(script), &format!("tree: {}\n", source.display()));
    fs::remove_file(link).unwrap();
}

#[test]
fn a_product_of_another_cairn_says_what_to_run() {
    let outside = std::env::temp_dir().join(format!("cairn-other-{}", std::process::id()));
    let product = Product(outside.join("heater"));
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    product.write("../other/lib/cairn/Cargo.toml", &(manifest("cairn", "") + "[workspace]\n"));
    product.write("../other/lib/cairn/src/lib.rs", "");
    product.write("Cargo.toml", "[workspace]\nmembers = [\"one\"]\n[workspace.metadata.cairn]\n");
    product.write("one/src/lib.rs", "");
    product.write("one/Cargo.toml", &manifest("one", ""));
    let told = product.answers(tool("check"), false);
    has(&told, "nothing in the workspace depends on the package `cairn`; expected under");

    let dependency = "[dependencies]\ncairn = { path = \"../../other/lib/cairn\" }\n";
    product.write("one/Cargo.toml", &manifest("one", dependency));
    let told = product.answers(tool("check"), false);
    has(&told, &format!("this is the command of {}, but ", paths::source().display()));
    let other = outside.canonicalize().unwrap().join("other");
    has(
        &told,
        &format!("depends on the Cairn in {}; run {}/cairn", other.display(), other.display()),
    );
    fs::remove_dir_all(outside).unwrap();
}
