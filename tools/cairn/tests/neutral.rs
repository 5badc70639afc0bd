//! What knows the architecture is in folders `arch`: no source beside them speaks of RISC-V, and crates that every
//! machine has compile for others.
#![forbid(unsafe_code)]

use cairn_tool::{cargo, paths};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Crates that are the same on every machine: what they say of RISC-V are data and functions on numbers. The library and
/// the components are not among them, since a bare machine has nothing in the place of `lib/cairn/src/arch`.
const NEUTRAL: [&str; 4] = ["cairn-abi", "cairn-isa", "cairn-loader", "cairn-portal"];

/// A machine of another architecture, and one with words of 32 bits.
const OTHER_MACHINES: [&str; 2] =
    ["aarch64-unknown-none-softfloat", "riscv32imac-unknown-none-elf"];

/// Folders whose sources are looked at. Crates' own `tests` folders are not: they execute the machine's code.
const FOLDERS: [&str; 5] = ["abi", "nucleus", "portal", "lib", "components"];

/// Words of the architecture.
const WORDS: [&str; 5] = ["riscv", "satp", "scause", "sfence", "Sv39"];

#[test]
fn neutral_crates_compile_for_other_machines() {
    for target in OTHER_MACHINES {
        let mut command = cargo::cargo("check", &paths::source());
        command.args(["--target", target, "--target-dir"]).arg(paths::target());
        cargo::with_library(&mut command);
        for name in NEUTRAL {
            command.args(["--package", name]);
        }
        let output = command.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{NEUTRAL:?} for {target}:\n{messages}");
    }
}

/// Adds the files below `folder`, of the repository's `root`, that have one of the words, with the word.
fn look(root: &Path, folder: &Path, looked: &mut usize, found: &mut BTreeSet<(String, &str)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        let is_source =
            [".rs", ".S", ".ld", ".toml", ".c", ".h"].iter().any(|end| name.ends_with(end));
        if path.is_dir() && name != "arch" && name != "target" && name != "golden" {
            let is_crates_tests = name == "tests" && folder.join("Cargo.toml").exists();
            if !is_crates_tests {
                look(root, &path, looked, found);
            }
        } else if path.is_file() && is_source {
            *looked += 1;
            // To say which file is meant is not to know what is in it.
            let text = fs::read_to_string(&path).unwrap().replace("arch/riscv64", "arch");
            let file = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let words = WORDS.into_iter().filter(|word| text.contains(word));
            found.extend(words.map(|word| (file.clone(), word)));
        }
    }
}

#[test]
fn only_folders_arch_speak_of_the_architecture() {
    let root = paths::source();
    let (mut looked, mut found) = (0, BTreeSet::new());
    FOLDERS.iter().for_each(|folder| look(&root, &root.join(folder), &mut looked, &mut found));
    assert!(looked > 150, "{looked} files: are the sources somewhere else?");
    assert!(found.is_empty(), "{found:?}: move what knows the architecture to a folder `arch`");
}
