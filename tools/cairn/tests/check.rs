//! `./cairn check`: what it says is what the build says, or it names the programs that it did not measure.

use cairn_tool::build::{self, Parts, lay_out_with};
use cairn_tool::check;
use cairn_tool::paths;
use cairn_tool::placements::Placements;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What `check` and the build say of `systems/hello.toml` with a text in it replaced.
fn said(before: &str, after: &str) -> (Result<(), String>, Result<(), String>) {
    let text = fs::read_to_string(paths::source().join("systems/hello.toml")).unwrap();
    assert!(text.contains(before), "{before}");
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, SeqCst);
    let changed = paths::target().join(format!("tests/check-{}-{number}", std::process::id()));
    fs::create_dir_all(&changed).unwrap();
    let file = changed.join("hello.toml");
    fs::write(&file, text.replacen(before, after, 1)).unwrap();
    let system = file.display().to_string();
    let checked = check::check(&system, None, Placements::Domain, &[]);
    let (nucleus, _) = build::nucleus().unwrap();
    let built = Parts::new(&system, None).and_then(|parts| lay_out_with(&parts, &nucleus));
    fs::remove_dir_all(changed).unwrap();
    let text = |error| format!("{error:#}");
    (checked.map(|_| ()).map_err(text), built.map(|_| ()).map_err(text))
}

#[test]
fn it_says_what_the_build_says() {
    assert_eq!(said("priority = 10", "priority = 11"), (Ok(()), Ok(())));
    for (before, after, expected) in [
        ("priority = 10", "priority = 1000", "bad value for `priority`"),
        ("devices = [\"serial0\"]", "threads = 0", "has a main function, but no thread"),
        ("\"64K\"", "\"8K\"", "does not hold its heap and stacks"),
        // It has to be laid out for that.
        ("\"64K\"", "\"16K\"", "the memory of `hello` does not hold its program"),
    ] {
        let (checked, built) = said(before, after);
        let checked = checked.unwrap_err();
        assert!(checked.contains(expected), "{checked}");
        assert_eq!(checked, built.unwrap_err());
    }
}

/// It measures what was built, and waits for no program to be optimised.
#[test]
fn how_large_a_program_was_is_how_large_it_is_taken_for() {
    Parts::new("hello", None).unwrap();
    let devices = "devices = [\"serial0\"]";
    let smaller = format!("{devices}\n[instance.scheduler]\nmemory = \"132K\"");
    let (checked, built) = said(devices, &smaller);
    let checked = checked.unwrap_err();
    assert!(checked.contains("the memory of `scheduler` does not hold its program"), "{checked}");
    assert_eq!(checked, built.unwrap_err());
}
