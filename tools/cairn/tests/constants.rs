//! The constants that assembly reads stand in one list: each is used, and defined nowhere else.
#![forbid(unsafe_code)]

use cairn_tool::paths;
use std::collections::BTreeSet;
use std::fs;

/// Where privileged assembly is.
const FOLDERS: [&str; 2] = ["nucleus/src/arch/riscv64", "portal/src/arch/riscv64/stencils"];

/// The names that lines of assembly define.
fn defined(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| line.split_once(".equ"));
    lines.filter_map(|(_, rest)| Some(rest.split_once(',')?.0.trim())).collect()
}

#[test]
fn constants_of_the_assembly_are_defined_once_and_used() {
    let mut text = String::new();
    cairn_abi::constants::equates(&mut text).unwrap();
    let listed = defined(&text);
    let names: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(listed.len(), names.len(), "a name is twice in abi/src/constants.rs");

    let folders = FOLDERS.map(|folder| fs::read_dir(paths::source().join(folder)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let assembly: String = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let again: Vec<&str> =
        defined(&assembly).into_iter().filter(|name| names.contains(name)).collect();
    assert!(again.is_empty(), "{again:?}: defined in assembly and in abi/src/constants.rs");
    let words: BTreeSet<&str> =
        assembly.split(|one: char| !one.is_ascii_alphanumeric() && one != '_').collect();
    // All errors and parameters are there, read or not.
    let listed_by_name =
        names.iter().filter(|name| !name.starts_with("ERROR_") && !name.starts_with("PARAMETERS_"));
    let unused: Vec<_> = listed_by_name.filter(|name| !words.contains(**name)).collect();
    assert!(unused.is_empty(), "{unused:?}: no assembly reads what abi/src/constants.rs lists");
}
