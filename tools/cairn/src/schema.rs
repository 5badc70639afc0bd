//! `./cairn schema`: what editors know of descriptions.

use crate::{new, paths};
use anyhow::Result;
use cairn_description::schema;
use std::path::Path;

/// Which schema is whose, for taplo: Cairn's own, whose folders are those of a product.
const RULES: (&str, &str) = (".taplo.toml", include_str!("../../../.taplo.toml"));

/// The files, by their paths from the project's root.
pub fn files() -> Vec<(String, String)> {
    let schemas = [
        ("systems/system.schema.json", schema::of_systems()),
        ("systems/board.schema.json", schema::of_boards()),
    ];
    let schemas = schemas.map(|(path, schema)| (path.to_owned(), schema::text(&schema)));
    [vec![(RULES.0.to_owned(), RULES.1.to_owned())], schemas.into()].concat()
}

/// Writes them into a project, but for rules that it has already; returns what to tell the user.
pub fn write(project: &Path) -> Result<String> {
    let mut files = files();
    files.retain(|(path, _)| path != RULES.0 || !project.join(path).exists());
    let told =
        files.iter().map(|(path, _)| format!("made   {}\n", paths::shown(&project.join(path))));
    let told = told.collect();
    new::write_files(project, files)?;
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn those_in_the_tree_are_what_the_readers_read() {
        for (path, text) in files() {
            let written = fs::read_to_string(paths::source().join(&path)).unwrap();
            assert!(written == text, "{path} is old: run `./cairn schema`");
        }
    }

    #[test]
    fn own_rules_stay() {
        let root = std::env::temp_dir().join(format!("cairn-schema-{}", std::process::id()));
        let told = write(&root).unwrap();
        assert_eq!(told.lines().count(), 3, "{told}");
        fs::write(root.join(RULES.0), "# own").unwrap();
        fs::write(root.join("systems/board.schema.json"), "{}").unwrap();
        let told = write(&root).unwrap();
        assert!(told.lines().count() == 2 && told.contains("board.schema.json"), "{told}");
        assert_eq!(fs::read_to_string(root.join(RULES.0)).unwrap(), "# own");
        assert!(fs::read(root.join("systems/board.schema.json")).unwrap().len() > 1000);
        fs::remove_dir_all(root).unwrap();
    }
}
