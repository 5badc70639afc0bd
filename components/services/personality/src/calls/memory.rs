//! Memory: areas come and go.

use super::{Answer, done};
use crate::memory::{Content, RETURN};
use crate::node::Kind;
use crate::system::System;
use alloc::rc::Rc;
use cairn_personality::areas::{Area, PAGE};
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;

const RIGHTS: u32 = PROT_READ | PROT_WRITE | PROT_EXEC;

/// A range in whole pages. `EINVAL`: it is none.
fn range(start: u64, length: u64) -> Result<(u64, u64)> {
    let length = length.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
    let end = start.checked_add(length).filter(|end| *end <= RETURN).ok_or(Errno::ENOMEM)?;
    if !start.is_multiple_of(PAGE) || length == 0 { Err(Errno::EINVAL) } else { Ok((start, end)) }
}

/// The heap ends elsewhere; where it ends then.
pub fn set_break(system: &mut System, end: u64) -> Answer {
    let (process, machine) = system.parts();
    let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
    let (begin, before) = memory.heap;
    let pages = |address: u64| address.checked_next_multiple_of(PAGE);
    let (Some(old), Some(new)) = (pages(before), pages(end)) else { return done(before) };
    if end < begin {
        return done(before);
    }
    let changed = match new.cmp(&old) {
        core::cmp::Ordering::Less => memory.remove(machine, new, old),
        core::cmp::Ordering::Equal => Ok(()),
        core::cmp::Ordering::Greater => {
            // Nothing that is there is in the way.
            let is_free = memory.is_free(old, new) && memory.has_room(machine, new - old);
            let area = Area {
                start: old,
                end: new,
                protection: PROT_READ | PROT_WRITE,
                is_shared: false,
                content: Content::Zero,
            };
            if is_free { memory.add(machine, area) } else { Err(Errno::ENOMEM) }
        }
    };
    if changed.is_ok() {
        memory.heap.1 = end;
    }
    done(memory.heap.1)
}

/// A new area, of zeros or of a file.
pub fn map(system: &mut System, [at, length, rights, flags, number, offset]: [u64; 6]) -> Answer {
    let (rights, flags) = (rights as u32 & RIGHTS, flags as u32);
    let is_shared = match flags & MAP_TYPE {
        MAP_SHARED | MAP_SHARED_VALIDATE => true,
        MAP_PRIVATE => false,
        _ => return Err(Errno::EINVAL),
    };
    let (_, length) = range(0, length)?;
    let content = match flags & MAP_ANONYMOUS != 0 {
        true => Content::Zero,
        false => {
            let open = system.me().files.get(number)?;
            let node = open.node().map_err(|_| Errno::EACCES)?;
            let Kind::File(_) = node.kind else { return Err(Errno::ENODEV) };
            if is_shared && rights & PROT_WRITE != 0 {
                // What is written there would have to be in the file.
                return Err(Errno::ENODEV);
            }
            let is_range = offset % PAGE == 0 && offset.checked_add(length).is_some();
            is_range.then_some(()).ok_or(Errno::EINVAL)?;
            Content::File(Rc::clone(node), offset, length)
        }
    };
    let (process, machine) = system.parts();
    let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
    let counts = rights & PROT_WRITE != 0 || is_shared;
    if counts && !memory.has_room(machine, length) {
        return Err(Errno::ENOMEM);
    }
    let start = match flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) {
        0 => {
            let wanted = at / PAGE * PAGE;
            let fits = range(wanted, length)
                .is_ok_and(|(start, end)| start >= PAGE && memory.is_free(start, end));
            if fits { wanted } else { memory.room(length)? }
        }
        how => {
            let (start, end) = range(at, length)?;
            if start < PAGE {
                return Err(Errno::EPERM);
            }
            if how & MAP_FIXED_NOREPLACE != 0 && !memory.is_free(start, end) {
                return Err(Errno::EEXIST);
            }
            start
        }
    };
    let is_shared = is_shared && flags & MAP_ANONYMOUS != 0;
    let area = Area { start, end: start + length, protection: rights, is_shared, content };
    memory.add(machine, area)?;
    done(start)
}

/// Nothing is there any more.
pub fn unmap(system: &mut System, start: u64, length: u64) -> Answer {
    let (start, end) = range(start, length).map_err(|_| Errno::EINVAL)?;
    let (process, machine) = system.parts();
    process.memory.as_mut().ok_or(Errno::EFAULT)?.remove(machine, start, end)?;
    done(0)
}

/// Other rights.
pub fn protect(system: &mut System, start: u64, length: u64, rights: u32) -> Answer {
    if length == 0 {
        return done(0);
    }
    let (start, end) = range(start, length)?;
    if rights & !RIGHTS != 0 {
        return Err(Errno::EINVAL);
    }
    let (process, machine) = system.parts();
    process.memory.as_mut().ok_or(Errno::EFAULT)?.protect(machine, start, end, rights)?;
    done(0)
}

/// Another size of what was mapped; elsewhere, if it may be.
pub fn remap(system: &mut System, start: u64, old: u64, new: u64, flags: u32) -> Answer {
    let (start, old_end) = range(start, old)?;
    let (_, new) = range(0, new)?;
    let old = old_end - start;
    if flags & !MREMAP_MAYMOVE != 0 {
        return Err(Errno::EINVAL);
    }
    let (process, machine) = system.parts();
    let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
    if !memory.covers(start, old_end) {
        return Err(Errno::EFAULT);
    }
    if new <= old {
        memory.remove(machine, start + new, old_end)?;
        return done(start);
    }
    let protection = memory.private_zeros(start, old_end).ok_or(Errno::EINVAL)?;
    let add = |start: u64, end: u64| Area {
        start,
        end,
        protection,
        is_shared: false,
        content: Content::Zero,
    };
    if !memory.has_room(machine, new - old) {
        return Err(Errno::ENOMEM);
    }
    if range(start, new).is_ok_and(|(_, end)| memory.is_free(old_end, end)) {
        memory.add(machine, add(old_end, start + new))?;
        return done(start);
    }
    if flags & MREMAP_MAYMOVE == 0 {
        return Err(Errno::ENOMEM);
    }
    let to = memory.room(new)?;
    memory.add(machine, add(to, to + new))?;
    memory.carry(machine, (start, old_end), to)?;
    done(to)
}

/// What is said of the use of a range: that its pages are not needed is done, all else is for speed.
pub fn advise(system: &mut System, start: u64, length: u64, advice: u32) -> Answer {
    if length == 0 {
        return done(0);
    }
    let (start, end) = range(start, length)?;
    if advice == MADV_DONTNEED {
        let (process, machine) = system.parts();
        process.memory.as_mut().ok_or(Errno::EFAULT)?.forget(machine, start, end);
    }
    done(0)
}

/// What was written as instructions is what is executed.
pub fn fence() -> Answer {
    cairn::process::fence_instructions();
    done(0)
}
