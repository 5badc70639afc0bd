//! How soon after an edit a system is checked: 10 seconds on two processors of 2024, held by what is compiled and by processor time, which a busy machine
//! does not change, in a unit of the compiler's own, which a slow one does not change.

use super::elsewhere::copy_of_cairn;
use cairn_tool::paths;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// The crates of interfaces and the components of the demo that depend on the one that is edited, and some to spare.
const CRATES_MAXIMUM: usize = 28;
/// Processor time on all processors, in that of [`compile_unit`]: 21 where nothing else runs, up to 23 beside another test, which takes caches.
const UNITS_MAXIMUM: f64 = 24.0;
/// Edits until one is below it.
const EDITS_MAXIMUM: usize = 4;
/// Functions of the crate that is the unit.
const UNIT_FUNCTIONS: usize = 2000;

/// Checks the demo in a copy of Cairn; seconds of processor time.
fn check(cairn: &Path, target: &Path) -> f64 {
    let tool = env!("CARGO_BIN_EXE_cairn-tool");
    let mut shell = timed(&format!("'{tool}' check demo"));
    shell.current_dir(cairn).env("CAIRN_ROOT", cairn).env("CAIRN_TARGET", target);
    shell.env_remove("CARGO_TARGET_DIR").env("CARGO_NET_OFFLINE", "true");
    let (seconds, text) = processor_seconds(shell);
    assert!(text.contains("demo: no errors"), "{text}");
    seconds
}

/// Checks a crate that is always the same; seconds of processor time.
fn compile_unit(folder: &Path) -> f64 {
    let file = folder.join("unit.rs");
    let function = |number| {
        format!(
            "pub fn f{number}(x: &[u64]) -> Option<u64> {{ x.iter().map(|x| x + {number}).max() }}\n"
        )
    };
    fs::write(&file, (0..UNIT_FUNCTIONS).map(function).collect::<String>()).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or("rustc".to_owned());
    let options = "--edition 2024 --crate-type lib --emit metadata";
    let mut shell = timed(&format!("'{rustc}' {options} -o unit.rmeta unit.rs"));
    shell.current_dir(folder);
    processor_seconds(shell).0
}

/// A shell that executes a command and prints how long it took.
fn timed(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &format!("{command}; times")]);
    shell
}

/// Runs that; seconds of processor time, and all that was printed.
fn processor_seconds(mut shell: Command) -> (f64, String) {
    let output = shell.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    // The last line is that of the children: `0m1.25s 0m0.50s`.
    let times = text.lines().last().unwrap().split_whitespace();
    let seconds = times.map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    });
    (seconds.sum(), format!("{text}{errors}"))
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
    let edit = |number| {
        let comment = format!("/// The terminal {number}.");
        let edited = text.replacen("/// The terminal, as its users see it.", &comment, 1);
        assert_ne!(text, edited);
        let since = SystemTime::now();
        fs::write(&file, edited).unwrap();
        let units = check(&cairn, &target) / compile_unit(&folder);
        let crates = compiled_since(&target.join("machine"), since);
        assert!((2..=CRATES_MAXIMUM).contains(&crates), "{crates} crates");
        println!("{crates} crates, {units} units of processor time");
        units
    };
    // What else the machine does takes caches from one of both: one that was measured undisturbed counts.
    assert!((0..EDITS_MAXIMUM).map(edit).any(|units| units < UNITS_MAXIMUM));
}
