//! The nucleus stays small: lines of source and bytes of machine code.
#![forbid(unsafe_code)]

use cairn_tool::lines::{CODE_MAXIMUM, LINES_MAXIMUM, code_size, lines};
use cairn_tool::{cargo, paths};

#[test]
fn the_nucleus_keeps_to_its_lines() {
    let lines = lines(&paths::source().join("nucleus")).unwrap();
    assert!(lines > 100, "{lines} lines: is the nucleus somewhere else?");
    assert!(lines <= LINES_MAXIMUM, "{lines} lines, at most {LINES_MAXIMUM} allowed");
}

#[test]
fn the_nucleus_keeps_to_its_machine_code() {
    let bytes = code_size(&cargo::build_nucleus().unwrap()).unwrap();
    assert!(bytes > 500, "{bytes} bytes: is the nucleus empty?");
    assert!(bytes <= CODE_MAXIMUM, "{bytes} bytes of machine code, at most {CODE_MAXIMUM} allowed");
}
