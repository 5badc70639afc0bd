//! What an editor shows: rust-analyzer, by the settings in Cairn's own tree and in a product, runs `cargo check` and finds
//! nothing to say.

use cairn_tool::new::{self, Cairn};
use cairn_tool::paths;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What the settings of the workspace in a folder have rust-analyzer run there, as it does when a file is saved.
fn check(folder: &Path) -> Command {
    let text = fs::read_to_string(folder.join(".vscode/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let setting = |name: &str| &settings[format!("rust-analyzer.{name}")];
    assert_eq!(setting("check.allTargets"), false, "tests run on the host");
    let mut command;
    if let Some(own) = setting("check.overrideCommand").as_array() {
        command = Command::new(folder.join(own[0].as_str().unwrap()));
        command.args(own[1..].iter().map(|argument| argument.as_str().unwrap()));
    } else {
        command = cairn_tool::cargo::cargo("check", folder);
        command.args(["--workspace", "--message-format=json", "--keep-going"]);
        command.args(["--target", setting("cargo.target").as_str().unwrap()]);
        // As Cairn's own, which have compiled most of it.
        command.arg("--target-dir").arg(paths::source().join("target/editor"));
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    }
    command.current_dir(folder);
    command
}

/// What it would underline.
fn complaints(folder: &Path) -> String {
    let output = check(folder).output().unwrap();
    let mut shown = String::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        if message["reason"] == "compiler-message" {
            shown += message["message"]["rendered"].as_str().unwrap_or_default();
        }
    }
    if !output.status.success() && shown.is_empty() {
        shown = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    shown
}

#[test]
fn cairns_own_tree_has_nothing_underlined() {
    assert_eq!(complaints(&paths::source()), "");
}

#[test]
fn a_product_has_nothing_underlined_but_its_mistakes() {
    let folder = std::env::temp_dir().join(format!("editor-{}", std::process::id()));
    new::product(&folder, &Cairn::Path(paths::source())).unwrap();
    let whole = complaints(&folder);
    let interface = folder.join("interfaces/src/lib.rs");
    let text = fs::read_to_string(&interface).unwrap();
    fs::write(&interface, text + "const MISTAKE: u8 = 256;\n").unwrap();
    let wrong = complaints(&folder);
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(whole, "");
    assert!(wrong.contains("literal out of range"), "{wrong}");
}
