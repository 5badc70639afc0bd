//! Where descriptions come from: a folder, or a test's memory.

use std::io;
use std::path::PathBuf;

/// Access to the files of a repository by paths relative to its root, with `/`.
pub trait Files {
    /// The text of a file.
    fn read(&self, path: &str) -> io::Result<String>;
    /// The names in a folder, sorted; empty if there is no such folder.
    fn list(&self, folder: &str) -> Vec<String>;
    /// Whether the folder holds a component: `Cargo.toml`, or `component.toml` if it is in C.
    fn is_component(&self, folder: &str) -> bool;
}

/// The files below a folder.
pub struct Disk {
    root: PathBuf,
}

impl Disk {
    /// The files below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Disk {
        Disk { root: root.into() }
    }
}

impl Files for Disk {
    fn read(&self, path: &str) -> io::Result<String> {
        std::fs::read_to_string(self.root.join(path))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn is_component(&self, folder: &str) -> bool {
        ["Cargo.toml", "component.toml"]
            .iter()
            .any(|file| self.root.join(folder).join(file).is_file())
    }
}
