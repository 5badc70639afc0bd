//! `./cairn watch COMMAND`: a command at once, and again whenever a file has changed.

use crate::{packages, paths};
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, SystemTime};

/// How often files are looked at: a look at a thousand takes milliseconds.
const INTERVAL: Duration = Duration::from_millis(300);
/// Looks that what is ended has to give the terminal back.
const LOOKS_MAXIMUM: usize = 20;
/// What people write; what commands write, as pictures and counts, must not start them again.
const WRITTEN: [&str; 14] =
    ["rs", "toml", "c", "h", "cpp", "cc", "hpp", "S", "ld", "md", "txt", "sh", "py", "lock"];

/// The times of the files.
type Times = BTreeMap<PathBuf, SystemTime>;

/// Runs the command until somebody ends this one.
pub fn run(words: &[String]) -> Result<Infallible> {
    loop {
        let folders = folders();
        let before = times(&folders);
        let mut command = Command::new(paths::source().join("cairn"));
        let child = command.args(words).spawn();
        let mut child = child.with_context(|| format!("cannot start {command:?}"))?;
        let mut is_running = true;
        let changed = loop {
            if is_running && let Some(status) = child.try_wait()? {
                is_running = false;
                let how = if status.success() { "ended well" } else { "failed" };
                eprintln!("cairn: `{}` {how}; waiting for a change (Ctrl-C ends)", words.join(" "));
            }
            thread::sleep(INTERVAL);
            if let Some(file) = changed(&before, &times(&folders)) {
                break file;
            }
        };
        end(&mut child)?;
        // Whoever saves several files has not finished with the first.
        let mut last = times(&folders);
        loop {
            thread::sleep(INTERVAL);
            let now = times(&folders);
            if now == last {
                break;
            }
            last = now;
        }
        eprintln!("cairn: {} has changed", paths::shown(&changed));
    }
}

/// The folders of the project, of Cairn, and of what else cargo finds by its path.
fn folders() -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::from([paths::project(), paths::source()]);
    // What is wrong with a manifest, the command says.
    if let Ok(packages) = packages::of_workspace(&paths::project()) {
        let local = packages.all().filter(|package| package.source.is_none());
        for folder in local.map(packages::Package::folder) {
            if !folders.iter().any(|known| folder.starts_with(known)) {
                folders.insert(folder.to_owned());
            }
        }
    }
    folders
}

fn times(folders: &BTreeSet<PathBuf>) -> Times {
    let mut times = Times::new();
    let mut left: Vec<PathBuf> = folders.iter().cloned().collect();
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            let Ok(data) = entry.metadata() else { continue };
            if data.is_dir() && !is_hidden && name != "target" {
                left.push(path);
            } else if data.is_file() && is_written(&path) && !is_hidden {
                times.extend(data.modified().ok().map(|time| (path, time)));
            }
        }
    }
    let descriptions =
        times.keys().filter(|file| file.extension().is_some_and(|end| end == "toml"));
    let contents: Vec<PathBuf> = descriptions.flat_map(|file| contents(file)).collect();
    contents.into_iter().for_each(|content| add(&mut times, content));
    times
}

/// What the sections of a description begin with, whatever its files are called.
fn contents(file: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(file).ok().filter(|text| text.contains("[section."));
    let table = text.and_then(|text| text.parse::<toml::Table>().ok());
    let sections = table.as_ref().and_then(|table| table.get("section")?.as_table());
    let paths = sections.into_iter().flatten();
    let paths = paths.filter_map(|(_, section)| section.get("content")?.as_str());
    let folder = file.parent().unwrap_or(Path::new("."));
    paths.map(|path| folder.join(path)).collect()
}

/// Adds a file, or all that is in a folder.
fn add(times: &mut Times, path: PathBuf) {
    let Ok(data) = path.symlink_metadata() else { return };
    if data.is_dir() {
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        entries.for_each(|entry| add(times, entry.path()));
    }
    times.extend(data.modified().ok().map(|time| (path, time)));
}

fn is_written(path: &Path) -> bool {
    path.extension().is_some_and(|end| WRITTEN.iter().any(|one| end == *one))
}

/// A file that is new, gone, or of another time.
fn changed(before: &Times, now: &Times) -> Option<PathBuf> {
    let differs = |(path, time): &(&PathBuf, &SystemTime)| before.get(*path) != Some(*time);
    let gone = before.keys().find(|path| !now.contains_key(*path));
    now.iter().find(differs).map(|(path, _)| path).or(gone).cloned()
}

/// Ends a command and what it started: the emulator, too, which gives the terminal back as it was.
fn end(child: &mut Child) -> Result<()> {
    if child.try_wait()?.is_some() {
        return Ok(());
    }
    let processes = with_descendants(child.id());
    let tell = |signal| {
        for process in processes.iter().filter_map(|id| Pid::from_raw(i32::try_from(*id).ok()?)) {
            // What has ended by itself is not there.
            let _ = kill_process(process, signal);
        }
    };
    tell(Signal::TERM);
    let is_left = |id: &u32| *id != child.id() && Path::new(&format!("/proc/{id}")).exists();
    for _ in 0..LOOKS_MAXIMUM {
        if !processes.iter().any(is_left) {
            break;
        }
        thread::sleep(INTERVAL / 3);
    }
    tell(Signal::KILL);
    child.wait().context("cannot end the command")?;
    Ok(())
}

fn with_descendants(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| id.parse().ok());
        found.extend(children.flat_map(with_descendants));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    #[test]
    fn what_a_command_started_ends_with_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let started = PathBuf::from(format!("/proc/{}", line.trim()));
        assert!(started.exists());
        end(&mut child).unwrap();
        assert!(!started.exists());
    }

    #[test]
    fn files_that_people_write_are_looked_at() {
        let folder = std::env::temp_dir().join(format!("cairn-watch-{}", std::process::id()));
        fs::create_dir_all(folder.join("target")).unwrap();
        let folders = BTreeSet::from([folder.clone()]);
        let mut before = times(&folders);
        let mut change = |file: &str| {
            fs::write(folder.join(file), "").unwrap();
            let now = times(&folders);
            let changed = changed(&before, &now);
            before = now;
            changed
        };
        for file in ["target/made.rs", "picture.svg", ".hidden.toml"] {
            assert_eq!(change(file), None, "{file}");
        }
        assert_eq!(change("one.rs"), Some(folder.join("one.rs")));
        change("system.toml");
        fs::create_dir_all(folder.join("root/inner")).unwrap();
        let text = "[section.root]\ncontent = \"root\"\n[section.one]\ncontent = \"picture.svg\"\n";
        fs::write(folder.join("system.toml"), text).unwrap();
        before = times(&folders);
        for file in ["root/inner/.any", "picture.svg"] {
            fs::write(folder.join(file), "changed").unwrap();
            let now = times(&folders);
            assert!(changed(&before, &now).is_some(), "{file}");
            before = now;
        }
        fs::remove_file(folder.join("one.rs")).unwrap();
        assert_eq!(changed(&before, &times(&folders)), Some(folder.join("one.rs")));
        fs::remove_dir_all(folder).unwrap();
    }
}
