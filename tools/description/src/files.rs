//! Where descriptions come from: a folder, or a test's memory.

use crate::content;
use std::io;
use std::path::PathBuf;

/// Access to files by paths relative to a root, with `/`, or absolute ones.
pub trait Files {
    /// The text of a file.
    fn read(&self, path: &str) -> io::Result<String>;
    /// The names in a folder, sorted; empty if there is no such folder.
    fn list(&self, folder: &str) -> Vec<String>;
    /// Whether the folder holds a component: `Cargo.toml`, or `component.toml` if it is in C.
    fn is_component(&self, folder: &str) -> bool;
    /// How many bytes a section begins with whose content is at a path ([`content`]); `None`: it is not known before something is fetched.
    fn content_size(&self, path: &str) -> io::Result<Option<u64>>;
    /// Whether a file is not the project's own, but Cairn's.
    fn is_foreign(&self, _path: &str) -> bool {
        false
    }
}

/// The files below a folder, or below several: what the first does not have may be in the next.
pub struct Disk {
    roots: Vec<PathBuf>,
}

impl Disk {
    /// The files below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Disk {
        Disk { roots: vec![root.into()] }
    }

    /// The files below `roots`, of which the first that has one counts.
    pub fn over(roots: impl IntoIterator<Item = PathBuf>) -> Disk {
        let mut disk = Disk { roots: Vec::new() };
        for root in roots {
            if !disk.roots.contains(&root) {
                disk.roots.push(root);
            }
        }
        disk
    }

    /// The folder of a component, if there is one.
    pub fn component(&self, folder: &str) -> Option<PathBuf> {
        let is_one = |folder: &PathBuf| {
            ["Cargo.toml", "component.toml"].iter().any(|file| folder.join(file).is_file())
        };
        self.roots.iter().map(|root| root.join(folder)).find(is_one)
    }

    /// Where a file or folder is, or would be.
    pub fn place(&self, path: &str) -> PathBuf {
        let mut places = self.roots.iter().map(|root| root.join(path));
        places.find(|place| place.exists()).unwrap_or_else(|| self.roots[0].join(path))
    }
}

impl Files for Disk {
    fn read(&self, path: &str) -> io::Result<String> {
        std::fs::read_to_string(self.place(path))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let entries =
            self.roots.iter().filter_map(|root| std::fs::read_dir(root.join(folder)).ok());
        let entries = entries.flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn is_component(&self, folder: &str) -> bool {
        self.component(folder).is_some()
    }

    fn content_size(&self, path: &str) -> io::Result<Option<u64>> {
        content::size(&self.place(path))
    }

    fn is_foreign(&self, path: &str) -> bool {
        self.roots.iter().position(|root| root.join(path).exists()).is_some_and(|root| root > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_one_root_does_not_have_is_in_the_next() {
        let folder = std::env::temp_dir().join(format!("cairn-files-{}", std::process::id()));
        let roots = ["product", "cairn"].map(|root| folder.join(root));
        for (root, file, text) in [
            (&roots[0], "systems/own.toml", "own"),
            (&roots[0], "boards/board.toml", "of the product"),
            (&roots[1], "boards/board.toml", "of Cairn"),
            (&roots[1], "systems/demo.toml", "demo"),
            (&roots[1], "components/apps/shell/Cargo.toml", ""),
        ] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        let disk = Disk::over(roots.clone());
        assert_eq!(disk.read("systems/own.toml").unwrap(), "own");
        assert_eq!(disk.read("systems/demo.toml").unwrap(), "demo");
        assert_eq!(disk.read("boards/board.toml").unwrap(), "of the product");
        assert!(disk.is_foreign("systems/demo.toml") && !disk.is_foreign("boards/board.toml"));
        assert_eq!(disk.list("systems"), ["demo.toml", "own.toml"]);
        assert_eq!(disk.list("boards"), ["board.toml"]);
        assert!(disk.is_component("components/apps/shell"));
        assert!(!disk.is_component("components/apps"));
        let shell = roots[1].join("components/apps/shell");
        assert_eq!(disk.component("components/apps/shell"), Some(shell.clone()));
        assert_eq!(disk.component(&shell.display().to_string()), Some(shell));
        fs::remove_dir_all(folder).unwrap();
    }
}
