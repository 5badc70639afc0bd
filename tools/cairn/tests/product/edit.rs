//! How soon after an edit a system is checked: 10 seconds on two processors, held by what is compiled and by processor time,
//! which a busy machine does not change.

use super::elsewhere::copy_of_cairn;
use cairn_tool::paths;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// The crates of interfaces and the components of the demo that depend on the one that is edited, and some to spare.
const CRATES_MAXIMUM: usize = 28;
/// Seconds on all processors.
const PROCESSOR_SECONDS_MAXIMUM: f64 = 20.0;

/// Checks the demo in a copy of Cairn; seconds of processor time.
fn check(cairn: &Path, target: &Path) -> f64 {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", "\"$0\" check demo; times", env!("CARGO_BIN_EXE_cairn-tool")]);
    shell.current_dir(cairn).env("CAIRN_ROOT", cairn).env("CAIRN_TARGET", target);
    shell.env_remove("CARGO_TARGET_DIR").env("CARGO_NET_OFFLINE", "true");
    let output = shell.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("demo: no errors"), "{text}{errors}");
    // The last line is that of the children: `0m1.25s 0m0.50s`.
    let times = text.lines().last().unwrap().split_whitespace();
    let seconds = times.map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    });
    seconds.sum()
}

/// Crates below a folder that the compiler noted the sources of since then.
fn compiled_since(folder: &Path, since: SystemTime) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let count = |path: std::path::PathBuf| match path.extension() {
        _ if path.is_dir() => compiled_since(&path, since),
        Some(end) if end == "d" && folder.ends_with("deps") => {
            usize::from(fs::metadata(&path).unwrap().modified().unwrap() > since)
        }
        _ => 0,
    };
    entries.map(count).sum()
}

#[test]
fn an_edited_comment_of_an_interface_is_checked_in_seconds() {
    let folder = paths::source_target().join("edited");
    let (cairn, target) = (folder.join("cairn"), folder.join("target"));
    copy_of_cairn(&cairn);
    check(&cairn, &target);
    let file = cairn.join("interfaces/system/src/console.rs");
    let text = fs::read_to_string(&file).unwrap();
    let edited = text.replacen("/// The terminal, as its users see it.", "/// The terminal.", 1);
    assert_ne!(text, edited);
    let since = SystemTime::now();
    fs::write(&file, edited).unwrap();
    let seconds = check(&cairn, &target);
    let crates = compiled_since(&target.join("machine"), since);
    assert!((2..=CRATES_MAXIMUM).contains(&crates), "{crates} crates");
    assert!(seconds < PROCESSOR_SECONDS_MAXIMUM, "{crates} crates, {seconds} seconds");
    println!("{crates} crates, {seconds} seconds of processor time");
}
