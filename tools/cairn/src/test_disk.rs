//! The disk of a whole-system test: a new one for each run, which can be looked at when the guest has ended.

use crate::acknowledged;
use crate::paths;
use crate::plugged::{self, SECTOR};
use anyhow::{Context, Result, anyhow, bail, ensure};
use cairn_description::{parse_size, show_size};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `[disk]` in `test.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestDisk {
    /// How large it is; without it, as large as `file`.
    size: Option<String>,
    /// What it begins with; zeros are behind that.
    file: Option<PathBuf>,
    /// Instead of both a program that makes it: its argument is the file.
    make: Option<PathBuf>,
    /// What it begins with when the guest has ended; zeros are behind that.
    expect: Option<PathBuf>,
    /// Whether the guest says what it wrote, to be compared when it has ended ([`acknowledged`]).
    #[serde(default)]
    acknowledged: bool,
}

/// A disk for one run. It is gone with this value, unless it is not as expected.
#[derive(Debug)]
pub struct Disk {
    /// Its content.
    pub file: PathBuf,
    expected: Option<PathBuf>,
    acknowledged: bool,
    is_kept: bool,
}

impl TestDisk {
    /// Checks what does not depend on a run. Files are in the test's folder, or with a `/` in their path below the root.
    pub fn read(&mut self, folder: &Path, ends: bool) -> Result<()> {
        for file in [&mut self.file, &mut self.make, &mut self.expect].into_iter().flatten() {
            let is_path = file.components().count() > 1;
            *file = if is_path { paths::project().join(&*file) } else { folder.join(&*file) };
        }
        let is_there = self.size.is_some() || self.file.is_some();
        if is_there == self.make.is_some() {
            bail!(
                "[disk]: expected `size`, for example \"4M\", or `file`, what it begins with, or instead `make`, a program that makes it"
            );
        }
        if (self.expect.is_some() || self.acknowledged) && !ends {
            bail!(
                "[disk]: `expect` and `acknowledged` are compared when the guest has ended; expected `exit` beside them"
            );
        }
        self.bytes().map(|_| ())
    }

    /// Its size, if the description says it.
    fn bytes(&self) -> Result<Option<u64>> {
        let Some(size) = &self.size else { return Ok(None) };
        let bytes = parse_size(size).filter(|bytes| *bytes > 0);
        bytes.map(Some).with_context(|| {
            format!(
                "[disk]: `size = \"{size}\"`; expected digits and K, M or G, for example \"4M\""
            )
        })
    }

    /// A new disk.
    pub fn make(&self) -> Result<Disk> {
        let file = paths::temporary(&plugged::folder()?.join("test.img"));
        let (expected, acknowledged) = (self.expect.clone(), self.acknowledged);
        let disk = Disk { file, expected, acknowledged, is_kept: false };
        if let Some(make) = &self.make {
            let status = Command::new(make).arg(&disk.file).status();
            let status = status.with_context(|| format!("cannot start {}", paths::shown(make)))?;
            ensure!(status.success(), "[disk]: {} failed", paths::shown(make));
            return Ok(disk);
        }
        let content = self.file.as_deref().map(read).transpose()?.unwrap_or_default();
        let length = content.len() as u64;
        let size = self.bytes()?.unwrap_or(length.next_multiple_of(SECTOR).max(SECTOR));
        if size < length {
            bail!(
                "[disk]: a disk of {} does not hold {}, `file`",
                show_size(size),
                show_size(length)
            );
        }
        std::fs::write(&disk.file, content)
            .and_then(|()| std::fs::File::options().write(true).open(&disk.file)?.set_len(size))
            .with_context(|| format!("cannot write {}", paths::shown(&disk.file)))?;
        Ok(disk)
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("[disk]: cannot read {}", paths::shown(file)))
}

impl Disk {
    /// Compares it with what it has to be at the end, of which the guest's console may say something.
    pub fn check(&mut self, console: &str) -> Result<()> {
        if self.acknowledged {
            acknowledged::check(console, &read(&self.file)?)
                .inspect_err(|_| self.is_kept = true)
                .with_context(|| format!("the disk lies in {}", paths::shown(&self.file)))?;
        }
        let Some(expected) = &self.expected else { return Ok(()) };
        let (mut wanted, found) = (read(expected)?, read(&self.file)?);
        let shown = paths::shown(expected);
        ensure!(
            wanted.len() <= found.len(),
            "{shown} is larger than the disk, {} bytes",
            found.len()
        );
        wanted.resize(found.len(), 0);
        let mut differing = (0..found.len()).filter(|at| wanted[*at] != found[*at]);
        let Some(first) = differing.next() else { return Ok(()) };
        self.is_kept = true;
        Err(anyhow!(
            "the disk is not as {shown} says. Bytes that differ: {}; the first is {first}, in sector {}: expected {:#04x}, found {:#04x}. The disk lies in {}",
            differing.count() + 1,
            first as u64 / SECTOR,
            wanted[first],
            found[first],
            paths::shown(&self.file)
        ))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if !self.is_kept {
            // It is in nobody's way.
            let _ = std::fs::remove_file(&self.file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where these tests make files.
    fn files() -> PathBuf {
        let folder = paths::target().join("disks-test");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn disk(text: &str) -> Result<TestDisk, String> {
        let folder = files();
        std::fs::write(folder.join("content"), "Cairn").unwrap();
        let mut disk: TestDisk = toml::from_str(text).map_err(|error| error.to_string())?;
        disk.read(&folder, true).map_err(|error| format!("{error:#}"))?;
        Ok(disk)
    }

    #[test]
    fn each_run_has_a_new_one() {
        let disk = disk("size = '4K'\nfile = 'content'\nexpect = 'content'").unwrap();
        let (mut one, mut two) = (disk.make().unwrap(), disk.make().unwrap());
        let mut content = read(&one.file).unwrap();
        assert_eq!((content.len(), &content[..6]), (4096, &b"Cairn\0"[..]));
        content[4090] = 7;
        std::fs::write(&one.file, content).unwrap();
        two.check("").unwrap();
        let error = one.check("").unwrap_err().to_string();
        assert!(error.contains("Bytes that differ: 1; the first is 4090, in sector 7:"), "{error}");
        assert!(error.contains("expected 0x00, found 0x07"), "{error}");
        let (kept, gone) = (one.file.clone(), two.file.clone());
        drop((one, two));
        assert!(kept.exists() && !gone.exists());
        std::fs::remove_file(kept).unwrap();
    }

    #[test]
    fn it_is_as_large_as_its_content() {
        let made = disk("file = 'content'").unwrap().make().unwrap();
        assert_eq!(read(&made.file).unwrap().len(), 512);
    }

    #[test]
    fn a_program_makes_one() {
        use std::os::unix::fs::PermissionsExt;
        let script = |name: &str, text: &str| {
            let file = files().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
            disk(&format!("make = '{name}'")).unwrap().make()
        };
        let made = script("makes", "printf Cairn >\"$1\"").unwrap();
        assert_eq!(read(&made.file).unwrap(), b"Cairn");
        assert!(format!("{:#}", script("fails", "exit 3").unwrap_err()).contains("fails failed"));
        assert!(disk("make = 'makes'\nsize = '4K'").unwrap_err().contains("instead `make`"));
    }

    #[test]
    fn what_is_no_disk_says_so() {
        let error = |text: &str| disk(text).unwrap_err();
        assert!(error("").contains("expected `size`"));
        assert!(error("size = '4'").contains("expected digits and K, M or G"));
        assert!(error("length = 4").contains("unknown field"));
        let error = |text: &str| format!("{:#}", disk(text).unwrap().make().unwrap_err());
        assert!(error("file = 'missing'").contains("cannot read"));
        std::fs::write(files().join("long"), [1; 1025]).unwrap();
        let small = error("size = '1K'\nfile = 'long'");
        assert!(small.contains("a disk of 1K does not hold 1025 bytes"), "{small}");
        let mut disk: TestDisk = toml::from_str("size = '4K'\nexpect = 'content'").unwrap();
        let error = disk.read(Path::new("."), false).unwrap_err().to_string();
        assert!(error.contains("expected `exit`"), "{error}");
    }
}
