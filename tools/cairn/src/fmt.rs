//! `./cairn fmt`: descriptions in the form that all have.

use crate::paths;
use anyhow::{Context, Result, anyhow};
use cairn_description::{Source, format};
use std::fs;
use std::path::{Path, PathBuf};

/// Where a project has descriptions, and whether in folders below, too; what else is there is left alone.
const FOLDERS: [(&str, usize); 4] =
    [("systems", 8), ("boards", 0), ("bench/systems", 0), ("tests", 1)];

/// Formats the descriptions that are named, or all of the project. With `check` nothing is written. Says which are not as they
/// should be; whether there are none.
pub fn run(named: &[PathBuf], check: bool) -> Result<bool> {
    let files = match named {
        [] => of_project(&paths::project())?,
        named => named.iter().map(|name| file(name)).collect(),
    };
    let mut is_well = true;
    let mut faults = Vec::new();
    for file in files {
        let shown = paths::shown(&file);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {shown}"))?;
        let formatted = match format(&Source::new(&shown, &text)) {
            Ok(formatted) => formatted,
            Err(report) => {
                faults.push(report.to_string());
                continue;
            }
        };
        if formatted == text {
            continue;
        }
        is_well = false;
        if check {
            println!("{shown}:{}: not formatted", first_difference(&text, &formatted));
        } else {
            fs::write(&file, formatted).with_context(|| format!("cannot write {shown}"))?;
            println!("formatted {shown}");
        }
    }
    match faults.is_empty() {
        true => Ok(is_well || !check),
        false => Err(anyhow!("{}", faults.join("\n"))),
    }
}

/// A path from the current folder, or a name in `systems/`.
fn file(name: &Path) -> PathBuf {
    let is_path = name.components().count() > 1 || name.extension().is_some();
    match is_path {
        true => name.to_owned(),
        false => paths::project().join("systems").join(name).with_extension("toml"),
    }
}

/// The first line that is another one, from 1.
fn first_difference(text: &str, formatted: &str) -> usize {
    let same = text.split('\n').zip(formatted.split('\n')).take_while(|(one, other)| one == other);
    same.count() + 1
}

/// The descriptions of a project, sorted.
fn of_project(project: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for (folder, levels) in FOLDERS {
        below(&project.join(folder), levels, &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn below(folder: &Path, levels: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() && levels > 0 {
            below(&path, levels - 1, files)?;
        } else if path.is_file() && is_description(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether it has the table that every system or board has, also if it is broken elsewhere.
fn is_description(path: &Path) -> bool {
    let is_header =
        |line: &str| matches!(line.split('#').next().map(str::trim), Some("[system]" | "[board]"));
    path.extension().is_some_and(|end| end == "toml")
        && fs::read_to_string(path).is_ok_and(|text| text.lines().any(is_header))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_of_a_project_are_found_and_formatted() {
        let root = std::env::temp_dir().join(format!("cairn-fmt-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let system = write("systems/parts/a.toml", "[system]\nname='a'\n");
        let board = write("boards/b.toml", "[board] # b\nname = 'b'\n");
        let test = write("tests/a/a.toml", "\n[ system ]\n[system]\n");
        write("tests/a/test.toml", "steps=[]");
        write("tests/a/components/b/Cargo.toml", "[system]");
        assert_eq!(of_project(&root).unwrap(), [board.clone(), system.clone(), test.clone()]);
        assert!(!run(&[system.clone(), board.clone()], true).unwrap());
        assert_eq!(fs::read_to_string(&system).unwrap(), "[system]\nname='a'\n");
        assert!(run(&[system.clone(), board.clone()], false).unwrap());
        assert_eq!(fs::read_to_string(&system).unwrap(), "[system]\nname = 'a'\n");
        assert!(run(&[system, board], true).unwrap());
        let error = run(&[test], false).unwrap_err().to_string();
        assert!(error.contains("a.toml:3") && error.contains("not valid TOML"), "{error}");
        let error = run(&["nonexistent".into()], false).unwrap_err().to_string();
        assert!(error.contains("cannot read systems/nonexistent.toml"), "{error}");
        fs::remove_dir_all(root).unwrap();
        assert_eq!(first_difference("a\nb", "a\nb\n"), 3);
        assert_eq!(first_difference("a\nb", "a\nc"), 2);
    }
}
