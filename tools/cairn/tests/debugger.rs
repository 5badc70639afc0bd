//! The line that `run --gdb` prints leads to a debugger that knows every component and the nucleus.
#![forbid(unsafe_code)]

use cairn_tool::build::{build, build_placed};
use cairn_tool::core_file;
use cairn_tool::debugger;
use cairn_tool::guest_memory::GuestMemory;
use cairn_tool::machine::Options;
use cairn_tool::placements::Placements;
use cairn_tool::run::{read_script, scripted};
use regex::Regex;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn breakpoints_in_a_component_and_in_the_nucleus_are_hit() {
    hit(Placements::Domain);
}

#[test]
fn breakpoints_in_a_component_in_the_kernel_domain_are_hit() {
    hit(Placements::Kernel);
}

/// The lines for the core files of a run of this script.
fn cores(script: &str) -> Vec<String> {
    let image = build("tests/usage/usage.toml", None).expect("the system builds");
    let memory = GuestMemory::of(&image, "--core").expect("QEMU is the board");
    let mut options = Options::default();
    memory.add_to(&mut options);
    assert_eq!(scripted(&image, &options, Some(LIMIT), None, script).expect("QEMU runs"), 0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("core");
    core_file::write(&image, &memory, &folder).unwrap()
}

#[test]
fn a_debugger_opens_the_core_file_of_who_stayed_dead() {
    let lines = cores("call user.echo say hello\nps\nhalt\n");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line = lines[0].replacen("gdb-multiarch", "gdb-multiarch -nx -batch", 1);
    let shell = Command::new("sh").args(["-c", &format!("{line} -ex bt")]).output().unwrap();
    let told = String::from_utf8_lossy(&shell.stdout);
    let calls = r"(?m)^#\d+ .* in cairn_test_usage_user::give_up.*\n#\d+ .* in say \(\)";
    assert!(
        Regex::new(calls).unwrap().is_match(&told),
        "{told}\n{}",
        String::from_utf8_lossy(&shell.stderr)
    );
    // Who was started again has none, by hand or by a reset: one after the other, since the runs of a process share its file of memory.
    for again in ["restart user\nps\n", "reboot\nkill greeter\nps\n"] {
        let lines = cores(&format!("call user.echo say hello\n{again}halt\n"));
        assert!(lines.is_empty(), "{again}: {lines:?}");
    }
}

#[test]
fn a_board_that_keeps_no_reports_is_refused_before_the_run() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-core");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-tool"));
    command.args(["run", "demo", "--board", "tests/boards/virtual-clock", "--timeout", "5"]);
    let output = command.arg("--core").arg(&folder).stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("expected a board that has some"), "{told}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Stops in the nucleus, and in the greeter where it is placed.
fn hit(placements: Placements) {
    let image = build_placed("demo", None, placements).expect("the system builds");
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.txt", placements.name()));
    std::fs::write(&script, "call greeter fill\nhalt 3\n").unwrap();
    // A port that is free now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut line = debugger::line(&image, port).expect("the script is written") + " -batch";
    for command in [
        "tbreak trap_entry",
        "break fill<cairn_greeter::CairnExport_echo>",
        "continue",
        "continue",
        "info symbol $pc",
        "backtrace",
        "delete",
        "continue",
    ] {
        line += &format!(" -ex '{command}'");
    }
    // It tries to connect until QEMU listens.
    let debugger = Command::new("timeout")
        .args([&LIMIT.as_secs().to_string(), "sh", "-c", &line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("timeout(1) is there");
    let options = Options { gdb: Some(port), ..Options::default() };
    let status = scripted(&image, &options, Some(LIMIT), None, &read_script(&script).unwrap())
        .expect("QEMU runs");
    let output = debugger.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    // In the kernel domain no return portal says who called.
    let caller = match placements {
        Placements::Kernel => "#0  fill<cairn_greeter::CairnExport_echo> ()",
        _ => " at components/apps/shell/src/away.rs:",
    };
    for expected in [
        caller,
        "Temporary breakpoint 1, 0xffffffc0",
        " in trap_entry ()",
        "Breakpoint 2, fill<cairn_greeter::CairnExport_echo> ()",
        "cairn_app_interfaces::echo::EchoProxy::entries::fill",
    ] {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(expected), "`{expected}` is not in\n{text}\n{errors}");
    }
    // It went on to its own end.
    assert_eq!(status, 3);
}
