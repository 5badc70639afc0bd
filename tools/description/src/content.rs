//! What a section begins with: the bytes of a file, or of a folder an archive, which is the same wherever and whenever it is made.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// The file of a folder that says what else belongs to its archive, and is no part of that.
pub const MANIFEST: &str = "content.toml";

/// What Linux starts of its first file system, if it is there.
const FIRST_PROGRAM: &str = "init";

/// Permissions that are kept: those for writing are the owner's alone, since the others follow from who checked a tree out.
const MODE_KEPT: u32 = 0o7755;

/// Longest path and target that a header has room for; more stands in front of it.
const NAME_MAXIMUM: usize = 100;

/// How an archive is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// ustar and pax.
    Tar,
    /// newc, which Linux unpacks as its first file system.
    Cpio,
}

/// The entries of an archive.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    entries: BTreeMap<PathBuf, Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Folder(u32),
    File(u32, Vec<u8>),
    Link(PathBuf),
}

impl Archive {
    /// All that is in a folder, but for its [`MANIFEST`].
    pub fn of(folder: &Path) -> io::Result<Archive> {
        let mut archive = Archive::default();
        archive.add_all(folder)?;
        Ok(archive)
    }

    /// Adds all that is in another folder, instead of what has the same names.
    pub fn add_all(&mut self, folder: &Path) -> io::Result<()> {
        let mut left = vec![PathBuf::new()];
        while let Some(inner) = left.pop() {
            for entry in fs::read_dir(folder.join(&inner))? {
                let entry = entry?;
                let name = inner.join(entry.file_name());
                if name == Path::new(MANIFEST) {
                    continue;
                }
                if entry.file_type()?.is_dir() {
                    left.push(name.clone());
                }
                self.add(name, &entry.path())?;
            }
        }
        Ok(())
    }

    /// Adds a file, a folder without what is in it, or a symbolic link, instead of what had this name.
    pub fn add(&mut self, name: impl Into<PathBuf>, from: &Path) -> io::Result<()> {
        let data = from.symlink_metadata()?;
        let mode = data.permissions().mode() & MODE_KEPT;
        let node = match data.file_type() {
            kind if kind.is_symlink() => Node::Link(from.read_link()?),
            kind if kind.is_dir() => Node::Folder(mode),
            kind if kind.is_file() => Node::File(mode, fs::read(from)?),
            _ => {
                let what = format!("{} is no file, folder or symbolic link", from.display());
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
        };
        self.entries.insert(name.into(), node);
        Ok(())
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, name: impl Into<PathBuf>, target: impl Into<PathBuf>) {
        self.entries.insert(name.into(), Node::Link(target.into()));
    }

    /// Folders that no entry is stand in it all the same.
    fn complete(&mut self) {
        let names: Vec<PathBuf> = self.entries.keys().cloned().collect();
        for parent in names.iter().flat_map(|name| name.ancestors().skip(1)) {
            if parent != Path::new("") {
                self.entries.entry(parent.to_owned()).or_insert(Node::Folder(0o755));
            }
        }
    }

    /// The archive as [`Format`] says.
    pub fn bytes(mut self, format: Format) -> io::Result<Vec<u8>> {
        self.complete();
        match format {
            Format::Tar => self.tar(),
            Format::Cpio => self.cpio(),
        }
    }

    /// In the format `newc` of cpio: a header of hexadecimal numbers, the name, what is in it; each begins at a multiple of four (Linux,
    /// `Documentation/driver-api/early-userspace/buffer-format.rst`).
    fn cpio(&self) -> io::Result<Vec<u8>> {
        const FILE: u32 = 0o100_000;
        const FOLDER: u32 = 0o040_000;
        const LINK: u32 = 0o120_000;
        if let Some(Node::File(mode, _)) = self.entries.get(Path::new(FIRST_PROGRAM))
            && mode & 0o100 == 0
        {
            let what = format!(
                "`{FIRST_PROGRAM}` is not executable, so Linux would not start it: make it so by `chmod +x {FIRST_PROGRAM}`"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut bytes = Vec::new();
        let mut entry = |number: usize, mode: u32, name: &[u8], content: &[u8]| {
            let (links, size, name_size) = (1, content.len(), name.len() + 1);
            bytes.extend_from_slice(b"070701");
            for field in [number, mode as usize, 0, 0, links, 0, size, 0, 0, 0, 0, name_size, 0] {
                bytes.extend_from_slice(format!("{field:08x}").as_bytes());
            }
            for part in [&[name, b"\0"].concat(), content] {
                bytes.extend_from_slice(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
        };
        for (number, (name, node)) in self.entries.iter().enumerate() {
            let name = name.as_os_str().as_encoded_bytes();
            match node {
                Node::Folder(mode) => entry(number + 1, FOLDER | mode, name, &[]),
                Node::File(mode, content) => entry(number + 1, FILE | mode, name, content),
                Node::Link(target) => {
                    entry(number + 1, LINK | 0o777, name, target.as_os_str().as_encoded_bytes());
                }
            }
        }
        entry(0, 0, b"TRAILER!!!", &[]);
        Ok(bytes)
    }

    /// In the format ustar, with what that has no room for as pax says.
    fn tar(&self) -> io::Result<Vec<u8>> {
        let mut builder = Builder::new(Vec::new());
        for (name, node) in &self.entries {
            let (kind, mode, content, target) = match node {
                Node::Folder(mode) => (EntryType::Directory, *mode, &[][..], None),
                Node::File(mode, content) => (EntryType::Regular, *mode, &content[..], None),
                Node::Link(target) => (EntryType::Symlink, 0o777, &[][..], Some(target)),
            };
            let long = [("path", Some(name)), ("linkpath", target)];
            let long = long.into_iter().filter_map(|(key, path)| {
                let bytes = path?.as_os_str().as_encoded_bytes();
                (bytes.len() >= NAME_MAXIMUM).then_some((key, bytes))
            });
            let long: Vec<_> = long.collect();
            if !long.is_empty() {
                builder.append_pax_extensions(long)?;
            }
            let mut header = Header::new_ustar();
            header.set_entry_type(kind);
            header.set_mode(mode);
            header.set_uid(0);
            header.set_gid(0);
            header.set_mtime(0);
            header.set_size(content.len() as u64);
            put(&mut header.as_old_mut().name, name);
            if let Some(target) = target {
                put(&mut header.as_old_mut().linkname, target);
            }
            header.set_cksum();
            builder.append(&header, content)?;
        }
        builder.into_inner()
    }
}

/// As much of a path as there is room for.
fn put(field: &mut [u8; NAME_MAXIMUM], path: &Path) {
    let bytes = path.as_os_str().as_encoded_bytes();
    let count = bytes.len().min(NAME_MAXIMUM);
    field[..count].copy_from_slice(&bytes[..count]);
}

/// Whether all that a section begins with is at its path: in a folder with a [`MANIFEST`] it is not.
pub fn is_complete(path: &Path) -> bool {
    !path.join(MANIFEST).is_file()
}

/// The bytes of a file, or the archive of a folder.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path.is_dir() { Archive::of(path)?.bytes(Format::Tar) } else { fs::read(path) }
}

/// How many bytes that are; `None`: it is not known before what is missing is fetched.
pub fn size(path: &Path) -> io::Result<Option<u64>> {
    if !path.is_dir() {
        return Ok(Some(path.metadata()?.len()));
    }
    match is_complete(path) {
        true => Ok(Some(Archive::of(path)?.bytes(Format::Tar)?.len() as u64)),
        false => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("cairn-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn fill(folder: &Path, names: &[&str]) {
        for name in names {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, name).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o664)).unwrap();
        }
        fs::set_permissions(folder.join("bin"), Permissions::from_mode(0o775)).unwrap();
        fs::set_permissions(folder.join("bin/b"), Permissions::from_mode(0o4775)).unwrap();
        symlink("b", folder.join("bin/link")).unwrap();
    }

    #[test]
    fn an_archive_is_the_same_whoever_makes_it() {
        let (one, other) = (folder("content-one"), folder("content-other"));
        let long = "long/".repeat(40) + "name";
        fill(&one, &["bin/b", "a", "bin/a", &long]);
        fill(&other, &[&long, "bin/a", "a", MANIFEST, "bin/b"]);
        fs::set_permissions(other.join("a"), Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(other.join("bin"), Permissions::from_mode(0o755)).unwrap();
        let bytes = read(&one).unwrap();
        assert_eq!(bytes, read(&other).unwrap());
        assert_eq!(size(&one).unwrap(), Some(bytes.len() as u64));
        assert_eq!(size(&other).unwrap(), None, "a manifest");

        let mut archive = tar::Archive::new(bytes.as_slice());
        let mut found = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let target = entry.link_name().unwrap().map(|target| target.display().to_string());
            let header = entry.header().clone();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap()), (0, 0));
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            if header.entry_type().is_file() {
                assert_eq!(text, path);
            }
            found.push((path, header.mode().unwrap(), target));
        }
        found.retain(|(path, ..)| !path.starts_with("long"));
        let expected = [("a", 0o644, None), ("bin", 0o755, None), ("bin/a", 0o644, None)];
        let links = [("bin/b", 0o4755, None), ("bin/link", 0o777, Some("b".to_owned()))];
        let expected = expected.into_iter().chain(links);
        let expected: Vec<_> =
            expected.map(|(path, mode, to)| (path.to_owned(), mode, to)).collect();
        assert_eq!(found, expected);
        [one, other].iter().for_each(|folder| fs::remove_dir_all(folder).unwrap());
    }

    #[test]
    fn what_is_added_has_its_folders_and_takes_the_place_of_others() {
        let folder = folder("content-added");
        fs::write(folder.join("one"), "1").unwrap();
        fs::write(folder.join("two"), "2").unwrap();
        let mut archive = Archive::of(&folder).unwrap();
        archive.link("sbin/deep/three", "../../one");
        archive.add("one", &folder.join("two")).unwrap();
        let bytes = archive.clone().bytes(Format::Tar).unwrap();
        let names: Vec<String> = tar::Archive::new(bytes.as_slice())
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap().path().unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["one", "sbin", "sbin/deep", "sbin/deep/three", "two"]);
        assert_eq!(bytes[512], b'2');
        let bytes = archive.bytes(Format::Cpio).unwrap();
        assert!(bytes.len().is_multiple_of(4));
        let text = String::from_utf8(bytes).unwrap();
        let entries: Vec<&str> = text.split("070701").skip(1).collect();
        let named = |entry: &&str| entry[104..].split('\0').next().unwrap().to_owned();
        let found: Vec<String> = entries.iter().map(named).collect();
        assert_eq!(found, [names.as_slice(), &["TRAILER!!!".to_owned()]].concat());
        assert!(entries[0].starts_with("00000001000081a4"), "a file of mode 0644: {}", entries[0]);
        assert!(
            entries[0].contains("one\0\0\x002"),
            "two bytes before the name, which ends at a multiple of four"
        );
        assert!(entries[3].contains("sbin/deep/three\0\0\0../../one"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_linux_could_not_start_is_refused() {
        let folder = folder("content-init");
        let init = folder.join("init");
        fs::write(&init, "#!/bin/sh").unwrap();
        let of = |mode| {
            fs::set_permissions(&init, fs::Permissions::from_mode(mode)).unwrap();
            let archive = Archive::of(&folder).unwrap();
            [Format::Cpio, Format::Tar].map(|format| archive.clone().bytes(format).is_ok())
        };
        assert_eq!((of(0o644), of(0o755)), ([false, true], [true, true]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_no_file_is_refused_and_named() {
        let folder = folder("content-socket");
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let error = read(&folder).unwrap_err().to_string();
        assert_eq!(error, format!("{} is no file, folder or symbolic link", socket.display()));
        assert!(read(&folder.join("none")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
