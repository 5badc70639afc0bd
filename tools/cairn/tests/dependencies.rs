//! Every crate that the workspace depends on has its reason in docs/dependencies.md.
#![forbid(unsafe_code)]

use cairn_tool::cargo::cargo;
use cairn_tool::paths;
use serde_json::Value;
use std::collections::BTreeSet;

/// Direct dependencies that come from a registry, by cargo's own account.
fn direct() -> BTreeSet<String> {
    let output = cargo("metadata", &paths::source())
        .args(["--no-deps", "--format-version=1"])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .flat_map(|package| package["dependencies"].as_array().unwrap())
        .filter(|dependency| dependency["source"].is_string())
        .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
        .collect()
}

/// What the first column of the table names.
fn explained() -> BTreeSet<String> {
    let text = std::fs::read_to_string(paths::source().join("docs/dependencies.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    rows.flat_map(|names| names.split([',', '`', ' ']))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn dependencies_are_those_that_are_explained() {
    let (direct, explained) = (direct(), explained());
    let missing: Vec<&String> = direct.difference(&explained).collect();
    let gone: Vec<&String> = explained.difference(&direct).collect();
    assert!(
        missing.is_empty(),
        "docs/dependencies.md does not say why {missing:?} is needed: add a row"
    );
    assert!(
        gone.is_empty(),
        "docs/dependencies.md has a row for {gone:?}, which nothing depends on"
    );
}
