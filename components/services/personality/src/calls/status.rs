//! What files are: kind, size, permissions, times.

use super::paths::{find, folder_of};
use super::{Answer, done};
use crate::limits;
use crate::node::{Kind, Node};
use crate::open::Open;
use crate::system::System;
use alloc::rc::Rc;
use cairn_personality::areas::PAGE;
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;

/// Bytes of `struct stat`, and of `struct statfs`.
const STATUS: usize = 128;
const TREE_STATUS: usize = 120;
/// What `statfs` calls files in memory.
const IN_MEMORY: u64 = 0x0102_1994;

/// `struct stat`; of nothing, that of a pipe.
fn status(node: Option<&Node>) -> [u8; STATUS] {
    let mut bytes = [0; STATUS];
    let mut put = |at: usize, word: &[u8]| bytes[at..at + word.len()].copy_from_slice(word);
    let (kind, mode) = match node.map(|node| (&node.kind, node.mode.get())) {
        None => (S_IFIFO, 0o600),
        Some((Kind::File(_), mode)) => (S_IFREG, mode),
        Some((Kind::Folder(_), mode)) => (S_IFDIR, mode),
        Some((Kind::Link(_), mode)) => (S_IFLNK, mode),
        Some((Kind::Device(device), mode)) => {
            put(32, &(0x500 | *device as u64).to_le_bytes());
            (S_IFCHR, mode)
        }
    };
    put(0, &1u64.to_le_bytes());
    put(16, &(kind | mode).to_le_bytes());
    put(20, &1u32.to_le_bytes());
    put(56, &(PAGE as u32).to_le_bytes());
    if let Some(node) = node {
        let links = node.links.get() + u32::from(matches!(node.kind, Kind::Folder(_)));
        put(8, &node.number.to_le_bytes());
        put(20, &links.to_le_bytes());
        put(48, &node.size().to_le_bytes());
        put(64, &node.size().div_ceil(512).to_le_bytes());
        for time in [72, 88, 104] {
            put(time, &node.modified.get().to_le_bytes());
        }
    }
    bytes
}

fn of_open(open: &Open) -> [u8; STATUS] {
    status(open.node().ok().map(|node| &**node))
}

/// Of what is opened.
pub fn of_descriptor(system: &mut System, number: u64, to: u64) -> Answer {
    let bytes = of_open(&*system.me().files.get(number)?);
    system.write(to, &bytes)?;
    done(0)
}

/// Whether a call means the descriptor itself: its path is empty, and it says that it may be.
fn is_empty(system: &mut System, at: u64, flags: u32) -> Result<bool> {
    Ok(flags & AT_EMPTY_PATH != 0 && (at == 0 || system.path(at)?.is_empty()))
}

/// Of what is at a path.
pub fn of_path(system: &mut System, folder: u64, at: u64, to: u64, flags: u32) -> Answer {
    if is_empty(system, at, flags)? && folder as i32 != AT_FDCWD {
        return of_descriptor(system, folder, to);
    }
    let node = match is_empty(system, at, flags)? {
        true => folder_of(system, folder)?,
        false => find(system, folder, at, flags & AT_SYMLINK_NOFOLLOW == 0)?.node()?,
    };
    system.write(to, &status(Some(&node)))?;
    done(0)
}

/// Other permissions of what is opened.
pub fn set_mode(system: &mut System, number: u64, mode: u32) -> Answer {
    system.me().files.get(number)?.node()?.mode.set(mode & 0o7777);
    done(0)
}

/// The same of what is at a path.
pub fn set_mode_of(system: &mut System, folder: u64, at: u64, mode: u32) -> Answer {
    find(system, folder, at, true)?.node()?.mode.set(mode & 0o7777);
    done(0)
}

/// Another owner: there is one alone.
pub fn of_owner(system: &mut System, folder: u64, at: u64, flags: u32) -> Answer {
    find(system, folder, at, flags & AT_SYMLINK_NOFOLLOW == 0)?.node()?;
    done(0)
}

/// Another time at which something was changed.
pub fn set_time(system: &mut System, folder: u64, at: u64, times: u64, flags: u32) -> Answer {
    let node: Rc<Node> = match at {
        0 => folder_of(system, folder)?,
        _ => find(system, folder, at, flags & AT_SYMLINK_NOFOLLOW == 0)?.node()?,
    };
    let mut seconds = crate::clock::seconds();
    if times != 0 {
        let modified = times.checked_add(16).ok_or(Errno::EFAULT)?;
        let (second, nanosecond) = (system.word(modified)?, system.word(modified + 8)?);
        match nanosecond as u32 {
            UTIME_OMIT => return done(0),
            UTIME_NOW => {}
            _ if nanosecond >= 1_000_000_000 => return Err(Errno::EINVAL),
            _ => seconds = second,
        }
    }
    node.modified.set(seconds);
    done(0)
}

/// How much room there is for files.
pub fn of_tree(system: &mut System, at: Option<u64>, to: u64) -> Answer {
    if let Some(at) = at {
        find(system, AT_FDCWD as u64, at, true)?.node()?;
    }
    let (used, most) = system.tree.store.pages();
    let free = (most - used) as u64;
    let mut bytes = [0; TREE_STATUS];
    let nodes = limits::NODES as u64;
    let words =
        [IN_MEMORY, PAGE, most as u64, free, free, nodes, nodes / 2, 0, limits::NAME as u64, PAGE];
    for (place, word) in words.into_iter().enumerate() {
        bytes[place * 8..][..8].copy_from_slice(&word.to_le_bytes());
    }
    system.write(to, &bytes)?;
    done(0)
}
