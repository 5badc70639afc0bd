//! The check that a component's source does not name what only the macros may.

use crate::paths;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// The module of `lib/cairn` for the output of its macros: safe functions that make a window of any
/// address, which Rust cannot hide from whoever calls the macros.
const MACROS_ONLY: &str = "__expansion";

/// Refuses a component whose sources, in `folder` relative to the root, name what only the macros may.
pub fn check(folder: &str) -> Result<()> {
    check_folder(&paths::component(folder).join("src"))
}

/// Whether the component's own source, in `folder`, can have no unsafe code; of what it uses [`crate::unsafe_code`] knows.
pub fn forbids_unsafe_code(folder: &str) -> bool {
    let main = paths::component(folder).join("src/main.rs");
    fs::read_to_string(main).is_ok_and(|text| crate::unsafe_code::text_forbids(&text))
}

fn check_folder(folder: &Path) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", paths::shown(folder)))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            check_folder(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| paths::shown(&path))?;
            if let Some(line) = names_macros_only(&text) {
                bail!(
                    "{}:{line}: names `{MACROS_ONLY}`, the module of `cairn` that only the output of its macros \
                     may use; expected `#[cairn::interface]` or `cairn::component!` to write this, or another name",
                    paths::shown(&path)
                );
            }
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
    text.lines().position(names).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::names_macros_only;

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
    fn words_that_hold_it_and_comments_are_left_alone() {
        assert_eq!(
            names_macros_only("// its __expansion\nlet expansion = tree.__expansion_of(1);"),
            None
        );
    }
}
