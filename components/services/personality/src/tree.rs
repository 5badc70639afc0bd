//! The tree of all files: those of an archive in a section, a few devices, and what processes make.

use crate::limits;
use crate::node::{Data, Device, Folder, Kind, Node, Store};
use alloc::collections::BTreeMap;
use alloc::rc::{Rc, Weak};
use alloc::vec;
use alloc::vec::Vec;
use cairn::section::Section;
use cairn_personality::errno::{Errno, Result};
use cairn_personality::tar::{self, BLOCK, Header};
use core::cell::RefCell;

/// Bytes that an extension of the archive's has at most.
const EXTENSION_MOST: u64 = 16 << 10;

/// All files.
pub struct Tree {
    /// Where absolute paths begin.
    pub root: Rc<Node>,
    /// Where nodes come from.
    pub store: Rc<Store>,
}

/// What a path leads to.
pub struct Found {
    /// The folder that has it, or would have it.
    pub folder: Rc<Node>,
    /// Its name there; empty for a folder that was named by `/`, `.` or `..`.
    pub name: Vec<u8>,
    /// What is there.
    pub node: Option<Rc<Node>>,
}

impl Found {
    /// What is there. `ENOENT`: nothing.
    pub fn node(self) -> Result<Rc<Node>> {
        self.node.ok_or(Errno::ENOENT)
    }
}

impl Tree {
    /// The files of a tar archive, and devices in `dev`. The archive is the description's, so what is too much is left out and said.
    pub fn read(section: Section, store: Rc<Store>) -> Result<Tree> {
        let root = store.node(folder(&Weak::new()), 0o755)?;
        let tree = Tree { root, store };
        let mut at = 0;
        let mut extension = Vec::new();
        while let Some(next) = tree.read_entry(&section, at, &mut extension) {
            at = next;
        }
        for (name, device) in [
            (&b"dev/null"[..], Device::Null),
            (b"dev/zero", Device::Zero),
            (b"dev/random", Device::Random),
            (b"dev/urandom", Device::Random),
            (b"dev/tty", Device::Terminal),
            (b"dev/console", Device::Terminal),
        ] {
            tree.put(name, Kind::Device(device), 0o666)?;
        }
        for name in [&b"tmp"[..], b"root"] {
            if let Ok(Found { node: None, .. }) = tree.find(&tree.root, name, true) {
                tree.put(name, folder(&Weak::new()), 0o1777)?;
            }
        }
        Ok(tree)
    }

    /// Reads the entry at an offset; where the next one is.
    fn read_entry(&self, section: &Section, at: usize, extension: &mut Vec<u8>) -> Option<usize> {
        let mut block = [0; BLOCK];
        if at + BLOCK > section.size() {
            return None;
        }
        section.read(at, &mut block);
        let mut header = Header::read(&block)?;
        let content = at + BLOCK;
        let end = content.checked_add(usize::try_from(header.size).ok()?)?;
        if end > section.size() {
            return None;
        }
        let part = section.part(content, header.size as usize);
        if header.kind == tar::Kind::Extension {
            let size = header.size.min(EXTENSION_MOST) as usize;
            extension.resize(size, 0);
            part.read(0, extension);
            return Some(end.next_multiple_of(BLOCK));
        }
        header.extend(&core::mem::take(extension));
        let kind = match header.kind {
            tar::Kind::File => Some(Kind::File(RefCell::new(Data::of(part)))),
            tar::Kind::Folder => Some(folder(&Weak::new())),
            tar::Kind::Link => Some(Kind::Link(header.target.clone())),
            _ => None,
        };
        if let Some(kind) = kind
            && let Err(error) = self.put(&header.path, kind, header.mode)
        {
            let name = alloc::string::String::from_utf8_lossy(&header.path);
            crate::say(format_args!("`{name}` of the archive is left out: {error:?}"));
        }
        Some(end.next_multiple_of(BLOCK))
    }

    /// Puts something at a path, with the folders on the way to it; a folder that is there stays.
    fn put(&self, path: &[u8], kind: Kind, mode: u32) -> Result<()> {
        let mut here = Rc::clone(&self.root);
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        while let Some(part) = parts.next() {
            if part.is_empty() || part == b"." {
                continue;
            }
            let is_last = parts.peek().is_none_or(|rest| rest.is_empty());
            let inner = here.folder()?.borrow().entries.get(part).cloned();
            match inner {
                Some(inner) if !is_last || matches!(kind, Kind::Folder(_)) => here = inner,
                _ if is_last => {
                    let node = self.store.node(kind, mode)?;
                    return self.enter(&here, part.to_vec(), node);
                }
                _ => {
                    let node = self.store.node(folder(&Weak::new()), 0o755)?;
                    self.enter(&here, part.to_vec(), Rc::clone(&node))?;
                    here = node;
                }
            }
        }
        here.mode.set(mode & 0o7777);
        Ok(())
    }

    /// Gives a node a name in a folder, instead of what had it.
    pub fn enter(&self, at: &Rc<Node>, name: Vec<u8>, node: Rc<Node>) -> Result<()> {
        if let Kind::Folder(inner) = &node.kind {
            inner.borrow_mut().parent = Rc::downgrade(at);
        }
        let mut folder = at.folder()?.borrow_mut();
        let names = self.store.names.get();
        if names >= limits::NAMES && !folder.entries.contains_key(&name) {
            return Err(Errno::ENOSPC);
        }
        node.links.set(node.links.get() + 1);
        match folder.entries.insert(name, node) {
            Some(before) => before.links.set(before.links.get() - 1),
            None => self.store.names.set(names + 1),
        }
        at.modified.set(crate::clock::seconds());
        Ok(())
    }

    /// Takes a name away from what has it.
    pub fn leave(&self, at: &Rc<Node>, name: &[u8]) -> Result<Rc<Node>> {
        let node = at.folder()?.borrow_mut().entries.remove(name).ok_or(Errno::ENOENT)?;
        node.links.set(node.links.get() - 1);
        self.store.names.set(self.store.names.get() - 1);
        at.modified.set(crate::clock::seconds());
        Ok(node)
    }

    /// What a path leads to from a folder; `follows`: also if the last part is a link.
    pub fn find(&self, from: &Rc<Node>, path: &[u8], follows: bool) -> Result<Found> {
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        let absolute = path[0] == b'/';
        let mut here = Rc::clone(if absolute { &self.root } else { from });
        let mut rest: Vec<Vec<u8>> = Vec::new();
        push(&mut rest, path);
        let wants_folder = path.ends_with(b"/");
        let mut links = 0;
        while let Some(part) = rest.pop() {
            let folder = here.folder()?;
            match part.as_slice() {
                b"." => continue,
                b".." => {
                    let parent = folder.borrow().parent.upgrade();
                    here = parent.unwrap_or(here);
                    continue;
                }
                _ if part.len() > limits::NAME => return Err(Errno::ENAMETOOLONG),
                _ => {}
            }
            let node = folder.borrow().entries.get(&part).cloned();
            let is_last = rest.is_empty();
            match node {
                Some(node) => match &node.kind {
                    Kind::Link(target) if follows || !is_last || wants_folder => {
                        links += 1;
                        if links > limits::LINKS || rest.len() > limits::PATH {
                            return Err(Errno::ELOOP);
                        }
                        if target.first() == Some(&b'/') {
                            here = Rc::clone(&self.root);
                        }
                        push(&mut rest, target);
                    }
                    Kind::Folder(_) if !is_last => here = node,
                    _ if !is_last => return Err(Errno::ENOTDIR),
                    kind if wants_folder && !matches!(kind, Kind::Folder(_)) => {
                        return Err(Errno::ENOTDIR);
                    }
                    _ => return Ok(Found { folder: here, name: part, node: Some(node) }),
                },
                None if is_last => return Ok(Found { folder: here, name: part, node: None }),
                None => return Err(Errno::ENOENT),
            }
        }
        Ok(Found { folder: Rc::clone(&here), name: Vec::new(), node: Some(here) })
    }

    /// The path of a folder from the root. `ENOENT`: it is in none any more.
    pub fn path(&self, folder: &Rc<Node>) -> Result<Vec<u8>> {
        let mut names = Vec::new();
        let mut here = Rc::clone(folder);
        while !Rc::ptr_eq(&here, &self.root) {
            let parent = here.folder()?.borrow().parent.upgrade().ok_or(Errno::ENOENT)?;
            let name = {
                let inner = parent.folder()?.borrow();
                let mut entries = inner.entries.iter();
                let found = entries.find(|(_, node)| Rc::ptr_eq(node, &here));
                found.map(|(name, _)| name.clone()).ok_or(Errno::ENOENT)?
            };
            names.push(name);
            here = parent;
        }
        let mut path = Vec::new();
        for name in names.iter().rev() {
            path.push(b'/');
            path.extend(name);
        }
        Ok(if path.is_empty() { vec![b'/'] } else { path })
    }

    /// The path of what was found, from the root.
    pub fn path_of(&self, found: &Found) -> Result<Vec<u8>> {
        let mut path = self.path(&found.folder)?;
        if !path.ends_with(b"/") && !found.name.is_empty() {
            path.push(b'/');
        }
        path.extend(&found.name);
        Ok(path)
    }

    /// Whether a folder is another one, or lies in it.
    pub fn is_inside(&self, folder: &Rc<Node>, outer: &Rc<Node>) -> bool {
        let mut here = Some(Rc::clone(folder));
        while let Some(node) = here {
            if Rc::ptr_eq(&node, outer) {
                return true;
            }
            here = node.folder().ok().and_then(|folder| folder.borrow().parent.upgrade());
        }
        false
    }
}

/// An empty folder.
pub fn folder(parent: &Weak<Node>) -> Kind {
    Kind::Folder(RefCell::new(Folder { entries: BTreeMap::new(), parent: parent.clone() }))
}

/// The parts of a path, the first one last.
fn push(rest: &mut Vec<Vec<u8>>, path: &[u8]) {
    let parts = path.split(|byte| *byte == b'/').rev();
    rest.extend(parts.filter(|part| !part.is_empty()).map(<[u8]>::to_vec));
}
