//! Builds by the identifiers of their images, kept for the addresses of logs from the field.
//!
//! `.cairn/archive/ID/` of the project, where `ID` is the identifier in 16 hexadecimal digits, has
//!
//! - `archive.json`: an [`Archive`], which says what is loaded where;
//! - `nucleus` and `INSTANCE.elf`: the executables with their symbols, one for all instances of a component;
//! - `description.toml`: the description, without those that it extends.
//!
//! `run` and `build` keep what they build, and [`KEPT`] folders; those go first that were made or made again longest ago.

use crate::build::{BuiltImage, Symbols};
use crate::{paths, version};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Builds that are kept.
pub const KEPT: usize = 20;

const INDEX: &str = "archive.json";

/// What is not whole after this time is never finished.
const UNFINISHED_LONGEST: Duration = Duration::from_secs(3600);

/// What a folder has.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Archive {
    /// The identifier, 16 hexadecimal digits.
    pub identifier: String,
    /// The image's file name, without its end.
    pub image: String,
    /// The revision of Cairn, if that is known.
    pub revision: Option<String>,
    /// The files with symbols.
    pub symbols: Vec<File>,
}

/// A file with symbols.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct File {
    /// Its name in the folder.
    pub file: String,
    /// What to add to its addresses.
    pub offset: u64,
    /// The instance that it is, or `nucleus`.
    pub owner: String,
}

/// The folder of the project's archive.
pub fn folder() -> PathBuf {
    paths::project().join(".cairn/archive")
}

/// An identifier as it is written.
pub fn shown(identifier: u64) -> String {
    format!("{identifier:016x}")
}

/// Fewest digits of an identifier in place of a system's name.
const DIGITS_MINIMUM: usize = 8;

/// Whether this is an identifier, or the beginning of one, and no system's name.
pub fn is_identifier(text: &str) -> bool {
    text.len() >= DIGITS_MINIMUM && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Keeps what an image was built of.
pub fn keep(image: &BuiltImage) -> Result<()> {
    keep_in(&folder(), image)
}

fn keep_in(archive: &Path, image: &BuiltImage) -> Result<()> {
    let identifier = shown(image.identifier);
    let folder = archive.join(&identifier);
    if !folder.join(INDEX).exists() {
        let name = image.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let new = paths::temporary(&folder);
        write(&new, &identifier, name, image)
            .with_context(|| format!("cannot write {}", paths::shown(&new)))?;
        // Another command may have been first with the same.
        if fs::rename(&new, &folder).is_err() {
            fs::remove_dir_all(&new)
                .with_context(|| format!("cannot remove {}", paths::shown(&new)))?;
        }
    }
    // What is built again stays.
    let index = folder.join(INDEX);
    let touched = fs::File::options().append(true).open(&index);
    touched
        .and_then(|file| file.set_modified(SystemTime::now()))
        .with_context(|| format!("cannot set the time of {}", paths::shown(&index)))?;
    forget(archive);
    Ok(())
}

fn write(folder: &Path, identifier: &str, image: String, built: &BuiltImage) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut names = BTreeMap::<&Path, String>::new();
    let mut symbols = Vec::new();
    for Symbols { file, offset, owner } in &built.symbols {
        let name = match names.get(file.as_path()) {
            Some(name) => name.clone(),
            None => {
                let end = if owner == "nucleus" { "" } else { ".elf" };
                let name = format!("{owner}{end}");
                let copy = folder.join(&name);
                fs::copy(file, &copy).with_context(|| {
                    format!("cannot copy {} to {}", paths::shown(file), paths::shown(&copy))
                })?;
                names.insert(file, name.clone());
                name
            }
        };
        symbols.push(File { file: name, offset: *offset, owner: owner.clone() });
    }
    fs::write(folder.join("description.toml"), &built.description)?;
    let identifier = identifier.to_owned();
    let archive = Archive { identifier, image, revision: version::revision(), symbols };
    fs::write(folder.join(INDEX), serde_json::to_string_pretty(&archive)? + "\n")?;
    Ok(())
}

/// Removes the oldest of too many, and what commands left that were ended while they wrote.
fn forget(archive: &Path) {
    let entries = fs::read_dir(archive).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| !is_whole(&entry.path())) {
        let made = entry.metadata().and_then(|data| data.modified());
        if made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > UNFINISHED_LONGEST)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let mut kept = all(archive);
    kept.sort();
    let too_many = kept.len().saturating_sub(KEPT);
    for (_, folder) in &kept[..too_many] {
        // The next build tries again.
        let _ = fs::remove_dir_all(folder);
    }
}

/// Whether a folder is a build's, and not one that is still written: its name has no end.
fn is_whole(folder: &Path) -> bool {
    folder.extension().is_none()
}

/// The folders, each with the time from which it counts.
fn all(archive: &Path) -> Vec<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(archive).into_iter().flatten().flatten().map(|entry| entry.path());
    let time = |folder: PathBuf| {
        let time = fs::metadata(folder.join(INDEX)).and_then(|data| data.modified()).ok()?;
        Some((time, folder))
    };
    entries.filter(|folder| is_whole(folder)).filter_map(time).collect()
}

/// The files with symbols of a build, by its identifier or by the beginning of that.
pub fn find(identifier: &str) -> Result<Vec<Symbols>> {
    find_in(&folder(), identifier)
}

fn find_in(archive: &Path, identifier: &str) -> Result<Vec<Symbols>> {
    let name =
        |folder: &Path| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let identifier = identifier.to_ascii_lowercase();
    let mut folders: Vec<PathBuf> = all(archive).into_iter().map(|(_, folder)| folder).collect();
    folders.retain(|folder| name(folder).starts_with(&identifier));
    let folder = match folders.as_slice() {
        [folder] => folder,
        [] => bail!(
            "no build `{identifier}` in {}; expected the identifier that the supervisor's first report says, of one of \
             the last {KEPT} builds here, or a folder of that name put there from where it was built",
            paths::shown(archive)
        ),
        several => bail!(
            "`{identifier}` is the beginning of several builds: {}; write more of it",
            several.iter().map(|folder| name(folder)).collect::<Vec<_>>().join(", ")
        ),
    };
    let index = folder.join(INDEX);
    let text = fs::read_to_string(&index)
        .with_context(|| format!("cannot read {}", paths::shown(&index)))?;
    let archive: Archive = serde_json::from_str(&text).with_context(|| paths::shown(&index))?;
    let symbols = archive.symbols.into_iter();
    Ok(symbols
        .map(|File { file, offset, owner }| Symbols { file: folder.join(file), offset, owner })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use std::collections::BTreeSet;

    fn image(identifier: u64, folder: &Path) -> BuiltImage {
        let symbols = |file: &str, offset, owner: &str| {
            fs::write(folder.join(file), owner).unwrap();
            Symbols { file: folder.join(file), offset, owner: owner.to_owned() }
        };
        BuiltImage {
            file: folder.join("heater.bin"),
            identifier,
            description: "[system]\n".to_owned(),
            components: BTreeSet::new(),
            packages: Vec::new(),
            nucleus: folder.join("nucleus"),
            machine: Machine::Hardware(String::new()),
            symbols: vec![
                symbols("cairn-nucleus", 0, "nucleus"),
                symbols("cairn-pump", 0x1000, "left"),
                symbols("cairn-pump", 0x2000, "right"),
            ],
            report: String::new(),
            domains: Vec::new(),
            fences: Vec::new(),
            firmware: 0..0,
            memory_size: 0,
            kept: 0,
        }
    }

    #[test]
    fn what_was_built_is_found_again_and_the_oldest_goes() {
        let folder = std::env::temp_dir().join(format!("cairn-archive-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let archive = folder.join("archive");
        for identifier in 0..KEPT as u64 + 3 {
            keep_in(&archive, &image(identifier << 32, &folder)).unwrap();
            // The first is built again each time.
            keep_in(&archive, &image(0, &folder)).unwrap();
        }
        assert_eq!(all(&archive).len(), KEPT);
        let found = find_in(&archive, &shown(0)).unwrap();
        let told: Vec<_> = found.iter().map(|one| (one.offset, one.owner.as_str())).collect();
        assert_eq!(told, [(0, "nucleus"), (0x1000, "left"), (0x2000, "right")]);
        assert_eq!(found[1].file, found[2].file);
        assert_eq!(fs::read_to_string(&found[0].file).unwrap(), "nucleus");
        let error = |identifier: &str| find_in(&archive, identifier).unwrap_err().to_string();
        assert!(error(&shown(1 << 32)).contains("no build `0000000100000000`"));
        assert!(error("0").contains("write more of it"));
        // As it was typed from a screen.
        assert_eq!(find_in(&archive, "0000000A0000").unwrap()[0].owner, "nucleus");
        // What a killed command left is no build, and goes.
        let left = archive.join("0000000100000000.new-1-0");
        fs::create_dir_all(&left).unwrap();
        fs::write(left.join(INDEX), "{}").unwrap();
        assert!(error(&shown(1 << 32)).contains("no build `0000000100000000`"));
        let old = SystemTime::now() - 2 * UNFINISHED_LONGEST;
        fs::File::open(&left).unwrap().set_modified(old).unwrap();
        keep_in(&archive, &image(0, &folder)).unwrap();
        assert!(!left.exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
