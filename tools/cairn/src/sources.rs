//! The check that nothing of a component's sources names what only the macros may.

use crate::packages::{self, Package};
use crate::{lines, paths, unsafe_code};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// The module of `lib/cairn` for the output of its macros: safe functions that make a window of any
/// address, which Rust cannot hide from whoever calls the macros.
const MACROS_ONLY: &str = "__expansion";

/// Refuses a component, in `folder` as a description calls it, of which something that nobody trusts names what only the
/// macros may: what cargo noted beside its executable, wherever that lies and whatever includes it, and the packages that
/// are not in folders of somebody's own, of which cargo notes nothing.
pub fn check(folder: &str, executable: &Path) -> Result<()> {
    check_files(&lines::noted(executable)?)?;
    let component = paths::component(folder);
    let packages = packages::of_workspace(&paths::workspace_at(&component).folder)?;
    let own = packages.of_manifest(&component.join("Cargo.toml"));
    let used = own.map_or(Vec::new(), |own| unsafe_code::untrusted(&packages, own));
    let fetched = used.into_iter().filter(|package| package.source.is_some());
    fetched.map(Package::folder).try_for_each(check_folder)
}

fn check_folder(folder: &Path) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", paths::shown(folder)))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            check_folder(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    check_files(&files)
}

fn check_files<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    let trusted = ["lib/cairn", "lib/cairn-macros"].map(|folder| paths::source().join(folder));
    for path in files {
        // A build script may have named a folder, or what is not there.
        if !path.is_file() {
            continue;
        }
        let text = fs::read(path).with_context(|| format!("cannot read {}", paths::shown(path)))?;
        // What is no text is no source.
        let text = String::from_utf8(text).unwrap_or_default();
        let Some(line) = names_macros_only(&text) else { continue };
        let real = paths::real(path);
        if !trusted.iter().any(|folder| real.starts_with(folder)) {
            bail!(
                "{}:{line}: names `{MACROS_ONLY}`, the module of `cairn` that only the output of its macros \
                 may use; expected `#[cairn::interface]` or `cairn::component!` to write this, or another name",
                paths::shown(path)
            );
        }
    }
    Ok(())
}

/// The first line that names the module, lines of comment apart.
pub fn names_macros_only(text: &str) -> Option<usize> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let names = |line: &str| {
        // Behind code, `//` may be in a text: only whole lines are surely comments.
        !line.trim_start().starts_with("//")
            && line.split(|character| !is_word(character)).any(|word| word == MACROS_ONLY)
    };
    // Few have it: the others are looked through at once.
    if !text.contains(MACROS_ONLY) {
        return None;
    }
    text.lines().position(names).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_name_it_is_found() {
        for text in [
            "fn main() {\n    cairn::__expansion::Registers::new([0; 8]);\n}",
            "\nuse cairn::{Error, __expansion};",
            "use cairn::{\n    __expansion as other,\n};",
            "\nuse cairn::r#__expansion::*;",
            "\nlet text = \"//\"; cairn::__expansion::now(registers);",
        ] {
            assert_eq!(names_macros_only(text), Some(2), "{text}");
        }
    }

    #[test]
    fn whatever_is_compiled_is_looked_at() {
        let root = std::env::temp_dir().join(format!("cairn-sources-{}", std::process::id()));
        fs::create_dir_all(root.join("some where")).unwrap();
        // A file that a component's source includes, and one of the library of its interfaces, which is called as build scripts are.
        for name in ["some where/part.inc", "build.rs"] {
            let file = root.join(name);
            fs::write(&file, "\ncairn::__expansion::now(registers);").unwrap();
            let own = paths::source().join("lib/cairn/src/lib.rs");
            let note = format!("{0}/program: {1} {0}/{name}\n", root.display(), own.display());
            fs::write(root.join("program.d"), note.replace("some where", "some\\ where")).unwrap();
            let error = check("greeter", &root.join("program")).unwrap_err().to_string();
            assert!(error.contains(&format!("{name}:2: names `__expansion`")), "{error}");
            assert!(check_folder(&root).is_err() == name.ends_with(".rs"));
            fs::remove_file(file).unwrap();
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn words_that_hold_it_and_comments_are_left_alone() {
        assert_eq!(
            names_macros_only("// its __expansion\nlet expansion = tree.__expansion_of(1);"),
            None
        );
    }
}
