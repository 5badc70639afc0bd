//! What is at paths: opened, made, renamed, removed.

use super::{Answer, done};
use crate::limits;
use crate::node::{Data, Kind, Node};
use crate::open::{Open, What};
use crate::system::System;
use crate::tree::{self, Found};
use alloc::rc::Rc;
use alloc::vec::Vec;
use cairn_personality::errno::{Errno, Result};
use core::cell::RefCell;
use core::ops::Bound;
use linux_raw_sys::general::*;

/// Where a path begins that does not begin with `/`.
pub fn folder_of(system: &mut System, number: u64) -> Result<Rc<Node>> {
    if number as i32 == AT_FDCWD {
        return Ok(Rc::clone(&system.me().folder));
    }
    let open = system.me().files.get(number)?;
    let node = open.node().map_err(|_| Errno::ENOTDIR)?;
    Ok(Rc::clone(node))
}

/// What is at a path.
pub fn find(system: &mut System, folder: u64, at: u64, follows: bool) -> Result<Found> {
    let path = system.path(at)?;
    let folder = match path.first() {
        Some(b'/') => Rc::clone(&system.tree.root),
        _ => folder_of(system, folder)?,
    };
    system.tree.find(&folder, &path, follows)
}

fn make(system: &mut System, found: Found, kind: Kind, mode: u32) -> Result<Rc<Node>> {
    if !system.tree.is_inside(&found.folder, &system.tree.root) {
        // It was removed, and somebody is in it still.
        return Err(Errno::ENOENT);
    }
    let mode = match kind {
        Kind::Link(_) => 0o777,
        _ => mode & !system.me().mask,
    };
    let node = system.tree.store.node(kind, mode)?;
    system.tree.enter(&found.folder, found.name, Rc::clone(&node))?;
    Ok(node)
}

/// Opens what is at a path, or makes a file there.
pub fn open(system: &mut System, folder: u64, at: u64, flags: u32, mode: u32) -> Answer {
    let excludes = flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL;
    let found = find(system, folder, at, flags & O_NOFOLLOW == 0 && !excludes)?;
    let node = match &found.node {
        Some(_) if excludes => return Err(Errno::EEXIST),
        Some(node) => Rc::clone(node),
        None if flags & O_CREAT == 0 || flags & O_DIRECTORY != 0 => return Err(Errno::ENOENT),
        None => make(system, found, Kind::File(RefCell::new(Data::default())), mode)?,
    };
    let writes = flags & O_ACCMODE != O_RDONLY;
    match &node.kind {
        Kind::Link(_) => return Err(Errno::ELOOP),
        Kind::Folder(_) if writes || flags & O_CREAT != 0 => return Err(Errno::EISDIR),
        Kind::Folder(_) => {}
        _ if flags & O_DIRECTORY != 0 => return Err(Errno::ENOTDIR),
        Kind::File(_) if writes && flags & O_TRUNC != 0 => node.set_size(0)?,
        _ => {}
    }
    let kept = flags & !(O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    let open = Open::new(What::Node(node), kept, &system.counts)?;
    done(system.me().files.add(open, 0, flags & O_CLOEXEC != 0)?)
}

/// What a folder has, from the last name on that was told.
pub fn entries(system: &mut System, number: u64, to: u64, length: u64) -> Answer {
    let open = system.me().files.get(number)?;
    let node = open.node().map_err(|_| Errno::ENOTDIR)?;
    let folder = node.folder()?.borrow();
    let most = length.min(limits::PART) as usize;
    let mut bytes = Vec::new();
    let mut told = open.told.borrow().clone();
    let mut count = open.at.get();
    let mut is_full = false;
    let mut put = |name: &[u8], number: u64, kind: u32| {
        let size = (19 + name.len() + 1).next_multiple_of(8);
        let start = bytes.len();
        if start + size > most {
            is_full = true;
            return false;
        }
        count += 1;
        bytes.extend(number.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend((size as u16).to_le_bytes());
        bytes.push(kind as u8);
        bytes.extend(name);
        bytes.resize(start + size, 0);
        true
    };
    if told.is_none() {
        // The first name of all: entries have longer ones.
        let parent = folder.parent.upgrade().map_or(node.number, |parent| parent.number);
        if put(b".", node.number, DT_DIR) && put(b"..", parent, DT_DIR) {
            told = Some(Vec::new());
        }
    }
    if let Some(last) = &mut told {
        let from = (Bound::Excluded(last.clone()), Bound::Unbounded);
        for (name, node) in folder.entries.range::<Vec<u8>, _>(from) {
            let kind = match node.kind {
                Kind::File(_) => DT_REG,
                Kind::Folder(_) => DT_DIR,
                Kind::Link(_) => DT_LNK,
                Kind::Device(_) => DT_CHR,
            };
            if !put(name, node.number, kind) {
                break;
            }
            last.clone_from(name);
        }
    }
    if bytes.is_empty() && is_full {
        return Err(Errno::EINVAL);
    }
    system.write(to, &bytes)?;
    open.at.set(count);
    open.told.replace(told);
    done(bytes.len() as u64)
}

/// Where a symbolic link leads.
pub fn read_link(system: &mut System, folder: u64, at: u64, to: u64, most: u64) -> Answer {
    let node;
    let own;
    let target = if system.names_own_program(at)? {
        own = system.me().program.clone();
        &own
    } else {
        node = find(system, folder, at, false)?.node()?;
        let Kind::Link(target) = &node.kind else { return Err(Errno::EINVAL) };
        target
    };
    let count = target.len().min(usize::try_from(most).unwrap_or(usize::MAX));
    if count == 0 {
        return Err(Errno::EINVAL);
    }
    system.write(to, &target[..count])?;
    done(count as u64)
}

/// Whether something is at a path; it can be read and written by everyone, and executed if it says so.
pub fn access(system: &mut System, folder: u64, at: u64, mode: u32) -> Answer {
    let node = find(system, folder, at, true)?.node()?;
    let is_program = node.mode.get() & 0o111 != 0;
    if mode & X_OK != 0 && !is_program { Err(Errno::EACCES) } else { done(0) }
}

/// Where something new can be: nothing is there.
fn vacant(system: &mut System, folder: u64, at: u64) -> Result<Found> {
    let found = find(system, folder, at, false)?;
    if found.node.is_some() { Err(Errno::EEXIST) } else { Ok(found) }
}

/// Makes a folder.
pub fn make_folder(system: &mut System, folder: u64, at: u64, mode: u32) -> Answer {
    let found = vacant(system, folder, at)?;
    let parent = Rc::downgrade(&found.folder);
    make(system, found, tree::folder(&parent), mode)?;
    done(0)
}

/// Makes a symbolic link.
pub fn make_link(system: &mut System, target: u64, folder: u64, at: u64) -> Answer {
    let target = system.path(target)?;
    match target.len() {
        0 => return Err(Errno::ENOENT),
        1..=limits::TARGET => {}
        _ => return Err(Errno::ENAMETOOLONG),
    }
    let found = vacant(system, folder, at)?;
    make(system, found, Kind::Link(target), 0o777)?;
    done(0)
}

/// Gives a file one more name.
pub fn add_name(system: &mut System, [from, at, to, name]: [u64; 4], flags: u32) -> Answer {
    let node = find(system, from, at, flags & AT_SYMLINK_FOLLOW != 0)?.node()?;
    if let Kind::Folder(_) = node.kind {
        return Err(Errno::EPERM);
    }
    let found = vacant(system, to, name)?;
    system.tree.enter(&found.folder, found.name, node)?;
    done(0)
}

/// Removes a name, or an empty folder.
pub fn remove(system: &mut System, folder: u64, at: u64, flags: u32) -> Answer {
    let found = find(system, folder, at, false)?;
    let node = found.node.ok_or(Errno::ENOENT)?;
    match (&node.kind, flags & AT_REMOVEDIR != 0) {
        (Kind::Folder(_), false) => return Err(Errno::EISDIR),
        (Kind::Folder(inner), true) if !inner.borrow().entries.is_empty() => {
            return Err(Errno::ENOTEMPTY);
        }
        (Kind::Folder(_), true) | (_, false) => {}
        (_, true) => return Err(Errno::ENOTDIR),
    }
    if found.name.is_empty() {
        return Err(Errno::EBUSY);
    }
    system.tree.leave(&found.folder, &found.name)?;
    done(0)
}

/// Gives something another name, instead of what has that.
pub fn rename(system: &mut System, [from, at, to, name]: [u64; 4], flags: u32) -> Answer {
    let (old, new) = (find(system, from, at, false)?, find(system, to, name, false)?);
    let node = old.node.ok_or(Errno::ENOENT)?;
    if old.name.is_empty() || new.name.is_empty() {
        return Err(Errno::EBUSY);
    }
    let is_folder = matches!(node.kind, Kind::Folder(_));
    if flags & !RENAME_NOREPLACE != 0 || is_folder && system.tree.is_inside(&new.folder, &node) {
        return Err(Errno::EINVAL);
    }
    if let Some(there) = &new.node {
        if flags & RENAME_NOREPLACE != 0 {
            return Err(Errno::EEXIST);
        }
        if Rc::ptr_eq(there, &node) {
            return done(0);
        }
        match (&there.kind, is_folder) {
            (Kind::Folder(_), false) => return Err(Errno::EISDIR),
            (Kind::Folder(inner), true) if !inner.borrow().entries.is_empty() => {
                return Err(Errno::ENOTEMPTY);
            }
            (Kind::Folder(_), true) | (_, false) => {}
            (_, true) => return Err(Errno::ENOTDIR),
        }
    }
    system.tree.leave(&old.folder, &old.name)?;
    system.tree.enter(&new.folder, new.name, node)?;
    done(0)
}

/// Another size of the file at a path.
pub fn set_size(system: &mut System, at: u64, size: u64) -> Answer {
    let node = find(system, AT_FDCWD as u64, at, true)?.node()?;
    match node.kind {
        Kind::Folder(_) => Err(Errno::EISDIR),
        _ => {
            node.set_size(size)?;
            done(0)
        }
    }
}

/// The path of the folder where paths begin.
pub fn folder(system: &mut System, to: u64, length: u64) -> Answer {
    let folder = Rc::clone(&system.me().folder);
    let mut path = system.tree.path(&folder)?;
    path.push(0);
    if path.len() as u64 > length {
        return Err(Errno::ERANGE);
    }
    system.write(to, &path)?;
    done(path.len() as u64)
}

/// Another folder where paths begin.
pub fn change_folder(system: &mut System, at: u64) -> Answer {
    let node = find(system, AT_FDCWD as u64, at, true)?.node()?;
    node.folder()?;
    system.me().folder = node;
    done(0)
}

/// The same, of a descriptor.
pub fn change_folder_to(system: &mut System, number: u64) -> Answer {
    let node = Rc::clone(system.me().files.get(number)?.node().map_err(|_| Errno::ENOTDIR)?);
    node.folder()?;
    system.me().folder = node;
    done(0)
}
