//! What the source of the trusted parts may hold: `unsafe` only where it is said, no loops in
//! privileged code but the listed ones.
#![forbid(unsafe_code)]

use cairn_tool::{paths, sources};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that cannot forbid unsafe code.
const UNSAFE_CRATES: [&str; 11] = [
    // The privileged code itself.
    "nucleus",
    // The modules below, nothing else.
    "lib/cairn",
    // Attacks on the system.
    "bench/components/illegal",
    "tests/faults/components/trouble",
    "tests/hostile/components/attacker",
    "tests/hostile-dma/components/driver",
    "tests/hostile-log-writer/components/scribbler",
    "tests/stale/components/keeper",
    "tests/hostile/components/machine",
    "tests/hostile/components/referee",
    "tests/hostile-time/components/illegal",
];

/// Modules of `lib/cairn` that know the machine or memory.
const UNSAFE_MODULES: [&str; 34] = [
    "arch/riscv64/call.rs",
    "arch/riscv64/copy.rs",
    "arch/riscv64/counter.rs",
    "arch/riscv64/device.rs",
    "arch/riscv64/fork.rs",
    "arch/riscv64/interpose.rs",
    "arch/riscv64/leave.rs",
    "arch/riscv64/measure.rs",
    "arch/riscv64/needs.rs",
    "arch/riscv64/process.rs",
    "arch/riscv64/ready.rs",
    "arch/riscv64/start.rs",
    "arch/riscv64/succession.rs",
    "arch/riscv64/thread.rs",
    "cached.rs",
    "call/staging.rs",
    "embassy.rs",
    "environment.rs",
    "exclusive.rs",
    "heap.rs",
    "log/own.rs",
    "object/table.rs",
    "process.rs",
    "process/tables.rs",
    "registers.rs",
    "section.rs",
    "succession.rs",
    "sync/critical.rs",
    "sync/mutex.rs",
    "sync/once.rs",
    "sync/rwlock.rs",
    "thread/closure.rs",
    "thread/stack.rs",
    "window/memory.rs",
];

/// Loops of the nucleus, by file: how many, and why they end whatever a component does.
const LOOPS: [(&str, usize, &str); 2] = [
    ("fatal.rs", 2, "prints a text of its own and 16 digits when the machine stops"),
    ("service.rs", 2, "follows the frames of a thread; waits for the halt that it asked for"),
];

/// Labels of privileged assembly that are jumped to from behind: none of them comes back.
const BACKWARD: [(&str, &str); 4] = [
    ("trap.S", "trap_save"),
    ("trap.S", "trap_return_fenced"),
    ("window.S", "refuse_bad_pointer"),
    ("window.S", "closed"),
];

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            walk(&path, files);
        } else if path.is_file() {
            files.push(path);
        }
    }
}

fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(&paths::source(), &mut files);
    assert!(files.len() > 300, "{} files: is the repository somewhere else?", files.len());
    files
}

/// The lines without comments, and the lines as they are.
fn code(text: &str, comment: &str) -> Vec<String> {
    text.lines().map(|line| line.split(comment).next().unwrap_or("").trim().to_owned()).collect()
}

#[test]
fn unsafe_code_is_where_it_is_said() {
    let root = paths::source();
    let mut crates = 0;
    for file in files().iter().filter(|file| file.ends_with("Cargo.toml")) {
        let folder = file.parent().unwrap();
        let name = folder.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
        for source in roots.iter().filter(|source| source.exists()) {
            crates += 1;
            let forbids = fs::read_to_string(source).unwrap().contains("#![forbid(unsafe_code)]");
            assert!(
                forbids || UNSAFE_CRATES.contains(&name.as_str()),
                "{} does not say #![forbid(unsafe_code)], and is not in the list of tools/cairn/tests/privileged_code.rs",
                source.display()
            );
        }
    }
    assert!(crates > 20, "{crates} crates");
}

/// `./cairn build` looks at a component's own folder; what it depends on is here too.
#[test]
fn no_source_names_what_only_macros_may() {
    let root = paths::source();
    let mut looked = 0;
    for file in
        files().iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
    {
        let name = file.strip_prefix(&root).unwrap();
        if !name.starts_with("lib") && !name.starts_with("tools") {
            looked += 1;
            let named = sources::names_macros_only(&fs::read_to_string(file).unwrap());
            assert_eq!(named, None, "{}: names `cairn::__expansion`", name.display());
        }
    }
    assert!(looked > 100, "{looked} files");
}

#[test]
fn unsafe_modules_of_the_library_are_those() {
    let source = paths::source().join("lib/cairn/src");
    let text = fs::read_to_string(source.join("lib.rs")).unwrap();
    assert!(text.contains("#![deny(unsafe_code)]"), "lib/cairn/src/lib.rs must deny unsafe code");
    let mut found = Vec::new();
    walk(&source, &mut found);
    let found: BTreeSet<String> = found
        .iter()
        .filter(|file| fs::read_to_string(file).unwrap().contains("#![allow(unsafe_code)]"))
        .map(|file| file.strip_prefix(&source).unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, UNSAFE_MODULES.map(str::to_owned).into());
}

#[test]
fn every_unsafe_block_has_its_reason() {
    for folder in ["nucleus/src", "lib/cairn/src"] {
        let mut found = Vec::new();
        walk(&paths::source().join(folder), &mut found);
        for file in
            found.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        {
            let text = fs::read_to_string(file).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for (number, line) in code(&text, "//").iter().enumerate() {
                let wants_reason = line.contains("unsafe {") || line.starts_with("unsafe impl");
                // The reason may be above the whole statement.
                let before = &lines[number.saturating_sub(8)..=number];
                assert!(
                    !wants_reason || before.iter().any(|line| line.contains("SAFETY:")),
                    "{}:{}: `unsafe` without a `// SAFETY:` reason above it",
                    file.display(),
                    number + 1
                );
            }
        }
    }
}

#[test]
fn loops_of_the_nucleus_are_those() {
    let source = paths::source().join("nucleus/src");
    let mut found = Vec::new();
    walk(&source, &mut found);
    for file in
        found.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
    {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(file).unwrap();
        let is_loop = |line: &&String| {
            ["for ", "while ", "loop "].iter().any(|word| line.starts_with(word))
                && line.ends_with(['{', '}'])
        };
        let loops = code(&text, "//").iter().filter(is_loop).count();
        let expected =
            LOOPS.iter().find(|(file, ..)| *file == name).map_or(0, |(_, count, _)| *count);
        assert_eq!(
            loops,
            expected,
            "{}: a loop that LOOPS of this test does not know",
            file.display()
        );
    }
}

/// Local labels are numbers; `1b` is the one before.
#[test]
fn nothing_in_privileged_assembly_jumps_back() {
    let root = paths::source();
    let mut found = Vec::new();
    walk(&root.join("nucleus/src"), &mut found);
    walk(&root.join("portal/src/arch"), &mut found);
    found.retain(|file| file.extension().is_some_and(|extension| extension == "S"));
    assert!(found.len() >= 5, "the assembly is somewhere else");
    for file in found {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut labels = BTreeSet::new();
        for (number, line) in code(&fs::read_to_string(&file).unwrap(), "#").iter().enumerate() {
            if let Some(label) = line.split(':').next().filter(|_| line.contains(':')) {
                labels.insert(label.trim().to_owned());
            }
            let instruction = line.rsplit(':').next().unwrap_or("").trim();
            let is_jump = instruction.starts_with('j')
                || instruction.starts_with('b')
                || instruction.starts_with("tail");
            let Some(target) = instruction.split([' ', ',']).next_back().filter(|_| is_jump) else {
                continue;
            };
            let is_back = labels.contains(target)
                || target.strip_suffix('b').is_some_and(|digits| digits.parse::<u32>().is_ok());
            assert!(
                !is_back || BACKWARD.contains(&(name.as_str(), target)),
                "{}:{}: jumps back to `{target}`: privileged code has no loop",
                file.display(),
                number + 1
            );
        }
    }
}
