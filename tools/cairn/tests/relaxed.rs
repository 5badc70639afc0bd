//! An access to a shared word that orders nothing says why that is enough: with several harts, most of what holds by the
//! order of one hart's instructions does not.
#![forbid(unsafe_code)]

use cairn_tool::paths;
use std::fs;
use std::path::{Path, PathBuf};

/// Sources below `folder` but those of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        let of_tests = ["tests", "tests.rs", "testing.rs", "target"].contains(&&*name)
            || name.ends_with("_tests.rs");
        if of_tests {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// Whether a comment gives the reason.
fn has_reason(text: &str) -> bool {
    let comments = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
    comments
        .map(|comment| comment.trim_start_matches(['/', '!', ' ']))
        .any(|comment| comment.strip_prefix("Relaxed: ").is_some_and(|reason| reason.len() > 20))
}

#[test]
fn what_orders_nothing_says_why() {
    let root = paths::source();
    let mut files = Vec::new();
    ["components", "lib"].iter().for_each(|folder| sources(&root.join(folder), &mut files));
    let mut relaxed = 0;
    let mut silent = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let is_relaxed = text
            .lines()
            .filter_map(|line| line.split("//").next())
            .any(|code| code.contains("Relaxed"));
        if !is_relaxed {
            continue;
        }
        relaxed += 1;
        // One reason in the crate's root may hold for all of its modules.
        let folder = file.ancestors().find(|folder| folder.ends_with("src")).unwrap();
        let root_of_crate = fs::read_to_string(folder.join("lib.rs")).unwrap_or_default();
        if !has_reason(&text) && !has_reason(&root_of_crate) {
            silent.push(file.strip_prefix(&root).unwrap().display().to_string());
        }
    }
    assert!(relaxed > 20, "{relaxed} files: are the sources somewhere else?");
    assert!(
        silent.is_empty(),
        "no comment `// Relaxed: REASON` in {silent:?}, nor in their lib.rs"
    );
}
