//! What the command answers to mistakes, before it builds anything.
#![forbid(unsafe_code)]

use std::process::Command;
use std::time::{Duration, Instant};

/// No build is that fast, and nothing else takes so long.
const SOON: Duration = Duration::from_secs(5);

/// What a failing command says.
fn complaint(arguments: &[&str]) -> String {
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_cairn-tool")).args(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    assert!(start.elapsed() < SOON, "{arguments:?} took {:?}", start.elapsed());
    String::from_utf8(output.stderr).unwrap()
}

#[track_caller]
fn complains(arguments: &[&str], expected: &[&str]) {
    let text = complaint(arguments);
    for part in expected {
        assert!(text.contains(part), "{arguments:?}: expected `{part}` in\n{text}");
    }
}

/// Those for bash are read by a bash, which then completes a command and an option.
#[test]
fn a_shell_completes_commands() {
    let completed = |words: &str| {
        let script = format!(
            "eval \"$({} completions bash)\"; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _cairn cairn \"${{COMP_WORDS[COMP_CWORD]}}\" x; echo \"${{COMPREPLY[@]}}\"",
            env!("CARGO_BIN_EXE_cairn-tool")
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(completed("cairn symb"), "symbolise\n");
    assert_eq!(completed("cairn run --time"), "--timeout\n");
    complains(&["completions", "sh"], &["possible values: bash, elvish, fish, powershell, zsh"]);
}

#[test]
fn a_run_without_time() {
    complains(&["run", "--timeout", "0"], &["'0' for '--timeout <SECONDS>'", "0 is not in 1.."]);
}

#[test]
fn a_script_that_is_not_there() {
    complains(
        &["run", "--input", "no/script.txt"],
        &["cannot read the console script no/script.txt", "No such file"],
    );
}

#[test]
fn systems_that_are_not_there() {
    for command in ["run", "build", "check"] {
        complains(&[command, "dmo"], &["cannot read systems/dmo.toml", "did you mean `demo`?"]);
    }
}

#[test]
fn interfaces_that_are_not_there() {
    complains(&["headers", "clock"], &["did you mean `Clock`?"]);
    complains(
        &["headers", "Nonexistent"],
        &["expected one of ", "Valves", "a trait with `#[cairn::interface]` before it"],
    );
    complains(
        &["headers", "Link"],
        &[
            "several crates have an interface `Link`",
            "cairn-bench::Link, ",
            "cairn-test-nest-link::Link",
        ],
    );
}

#[test]
fn a_test_that_is_not_there() {
    // In pieces: the sources are searched.
    let nobody = ["no_", "such_one"].concat();
    complains(
        &["test", &nobody],
        &[&format!("no test has `{nobody}` in its name"), "whole systems, from tests/: ", "demo"],
    );
    complains(&["test", "dmeo"], &["did you mean `demo`?"]);
}

#[test]
fn a_client_of_what_is_not_there() {
    complains(
        &["new", "client", "visitor", "greter"],
        &["systems/demo.toml has no instance `greter`; did you mean `greeter`?", "INSTANCE.EXPORT"],
    );
    complains(&["new", "client", "shell", "greeter"], &["components/apps/shell exists already"]);
    complains(&["new", "client", "abi", "greeter"], &["its package would be `cairn-abi`"]);
}
