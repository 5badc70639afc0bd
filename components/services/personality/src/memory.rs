//! What a process has in its address space: areas, and pages that come when they are missed.

use crate::frames::Frames;
use crate::limits;
use crate::node::{Node, pages};
use alloc::rc::Rc;
use alloc::vec::Vec;
use cairn::abi::upcall::Access;
use cairn::process::{Page, Rights, Space, Tables};
use cairn_personality::areas::{self, Area, Areas, PAGE};
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::{PROT_EXEC, PROT_READ, PROT_WRITE};

/// Behind the last address of a process.
pub const END: u64 = 1 << 38;
/// Where a handler of a signal returns to: the last page of a process.
pub const RETURN: u64 = END - PAGE;
/// Behind the stack.
pub const STACK_END: u64 = RETURN;
/// Below it lie areas of which nobody says where.
const TOP: u64 = STACK_END - 2 * limits::STACK;

/// All that processes share.
pub struct Machine {
    /// Page tables.
    pub tables: Tables,
    /// Pages.
    pub frames: Rc<Frames>,
    /// The page of [`RETURN`], the same for all.
    pub return_frame: u64,
}

/// What pages have when they are first used.
#[derive(Clone)]
pub enum Content {
    /// Zeros.
    Zero,
    /// So many bytes of a file, from an offset on, and zeros behind them.
    File(Rc<Node>, u64, u64),
}

impl areas::Content for Content {
    fn behind(&self, bytes: u64) -> Content {
        match self {
            Content::Zero => Content::Zero,
            Content::File(file, from, length) => {
                Content::File(Rc::clone(file), from + bytes, length.saturating_sub(bytes))
            }
        }
    }

    fn goes_on(&self, next: &Content) -> bool {
        matches!((self, next), (Content::Zero, Content::Zero))
    }
}

/// The memory of a process.
pub struct Memory {
    /// Its space.
    pub space: Space,
    areas: Areas<Content>,
    /// Where the heap of `brk` begins and ends.
    pub heap: (u64, u64),
    /// Pages that it has, its own and others' too.
    pub resident: u64,
}

fn rights(protection: u32) -> Rights {
    let has = |bit| protection & bit != 0;
    Rights {
        read: has(PROT_READ) || has(PROT_EXEC),
        write: has(PROT_WRITE),
        execute: has(PROT_EXEC),
    }
}

impl Memory {
    /// A space with nothing but the way back from handlers. `EAGAIN`: there are as many as can be.
    pub fn new(machine: &mut Machine) -> Result<Memory> {
        let space = machine.tables.make_space().map_err(|_| Errno::EAGAIN)?;
        let areas = Areas::new(limits::AREAS, limits::ADDRESSES);
        let memory = Memory { space, areas, heap: (0, 0), resident: 0 };
        let back = Page { number: machine.return_frame, rights: Rights::EXECUTE };
        let mapped = machine.frames.share(machine.return_frame).and_then(|()| {
            machine.tables.map(space, RETURN, back).map_err(|_| {
                machine.frames.release(machine.return_frame);
                Errno::ENOMEM
            })
        });
        match mapped {
            Ok(()) => Ok(memory),
            Err(error) => {
                memory.end(machine);
                Err(error)
            }
        }
    }

    /// Ends it: its pages are others' or nobody's.
    pub fn end(self, machine: &mut Machine) {
        let Machine { tables, frames, .. } = machine;
        tables.end_space(self.space, |_, page| frames.release(page.number));
    }

    /// The same for a child: pages that can be written are copied when one of the two writes.
    pub fn fork(&mut self, machine: &mut Machine) -> Result<Memory> {
        if machine.frames.free() < limits::PAGES_LEFT {
            return Err(Errno::ENOMEM);
        }
        let mut child = Memory::new(machine)?;
        child.heap = self.heap;
        child.areas = self.areas.clone();
        match self.share_pages(&mut child, machine) {
            Ok(()) => Ok(child),
            Err(error) => {
                child.end(machine);
                Err(error)
            }
        }
    }

    fn share_pages(&mut self, child: &mut Memory, machine: &mut Machine) -> Result<()> {
        let Machine { tables, frames, .. } = machine;
        for area in self.areas.iter() {
            for address in (area.start..area.end).step_by(PAGE as usize) {
                let Some(page) = tables.find(self.space, address) else { continue };
                let write = page.rights.write && area.is_shared;
                let shared = Page { rights: Rights { write, ..page.rights }, ..page };
                frames.share(page.number)?;
                if tables.map(child.space, address, shared).is_err() {
                    frames.release(page.number);
                    return Err(Errno::ENOMEM);
                }
                child.resident += 1;
                if write != page.rights.write {
                    tables.map(self.space, address, shared).map_err(|_| Errno::ENOMEM)?;
                }
            }
        }
        Ok(())
    }

    /// Adds an area, instead of what was there. `ENOMEM`: there is no room for its pages, or for one more area.
    pub fn add(&mut self, machine: &mut Machine, area: Area<Content>) -> Result<()> {
        let is_range = area.start < area.end && area.end <= RETURN && area.start >= PAGE;
        if !is_range || !(area.start | area.end).is_multiple_of(PAGE) {
            return Err(Errno::EINVAL);
        }
        self.remove(machine, area.start, area.end)?;
        let (start, end, is_shared) = (area.start, area.end, area.is_shared);
        self.areas.add(area)?;
        if !is_shared {
            return Ok(());
        }
        // What children are to have too has to be there before they are.
        for address in (start..end).step_by(PAGE as usize) {
            if let Err(error) = self.fault(machine, Access::Read, address) {
                self.remove(machine, start, end)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether so many further bytes could get pages now.
    pub fn has_room(&self, machine: &Machine, bytes: u64) -> bool {
        let free = machine.frames.free().saturating_sub(limits::PAGES_LEFT) as u64;
        bytes / PAGE <= free && self.areas.bytes().saturating_add(bytes) <= limits::ADDRESSES
    }

    /// Nothing is in a range any more.
    pub fn remove(&mut self, machine: &mut Machine, start: u64, end: u64) -> Result<()> {
        let Machine { tables, frames, .. } = machine;
        let ranges: Vec<(u64, u64)> = self.areas.within(start, end).collect();
        self.areas.remove(start, end)?;
        for (start, end) in ranges {
            for address in (start..end).step_by(PAGE as usize) {
                if let Some(page) = tables.unmap(self.space, address) {
                    frames.release(page.number);
                    self.resident -= 1;
                }
            }
        }
        Ok(())
    }

    /// Pages of zeros, or the file's, are missed again where nothing is shared.
    pub fn forget(&mut self, machine: &mut Machine, start: u64, end: u64) {
        let Machine { tables, frames, .. } = machine;
        let ranges: Vec<(u64, u64)> = self.areas.within(start, end).collect();
        for (start, end) in ranges {
            for address in (start..end).step_by(PAGE as usize) {
                if self.areas.find(address).is_some_and(|area| area.is_shared) {
                    continue;
                }
                if let Some(page) = tables.unmap(self.space, address) {
                    frames.release(page.number);
                    self.resident -= 1;
                }
            }
        }
    }

    /// Whether nothing is in a range.
    pub fn is_free(&self, start: u64, end: u64) -> bool {
        self.areas.within(start, end).next().is_none()
    }

    /// The rights of a range that one area of zeros has, for itself.
    pub fn private_zeros(&self, start: u64, end: u64) -> Option<u32> {
        let area = self.areas.find(start).filter(|area| end <= area.end && !area.is_shared)?;
        matches!(area.content, Content::Zero).then_some(area.protection)
    }

    /// The pages of a range are elsewhere, and the range is no more. There is an area at the other place.
    pub fn carry(
        &mut self,
        machine: &mut Machine,
        (start, end): (u64, u64),
        to: u64,
    ) -> Result<()> {
        for address in (start..end).step_by(PAGE as usize) {
            let Some(page) = machine.tables.unmap(self.space, address) else { continue };
            if machine.tables.map(self.space, to + (address - start), page).is_err() {
                machine.frames.release(page.number);
                self.resident -= 1;
                return Err(Errno::ENOMEM);
            }
        }
        self.areas.remove(start, end)
    }

    /// Whether all of a range belongs to areas.
    pub fn covers(&self, start: u64, end: u64) -> bool {
        self.areas.cover(start, end)
    }

    /// Other rights for a range. `ENOMEM`: there is a gap in it.
    pub fn protect(
        &mut self,
        machine: &mut Machine,
        start: u64,
        end: u64,
        protection: u32,
    ) -> Result<()> {
        if !self.areas.cover(start, end) {
            return Err(Errno::ENOMEM);
        }
        self.areas.protect(start, end, protection)?;
        let Machine { tables, frames, .. } = machine;
        for address in (start..end).step_by(PAGE as usize) {
            let Some(page) = tables.find(self.space, address) else { continue };
            let is_shared = self.areas.find(address).is_some_and(|area| area.is_shared);
            let all = rights(protection);
            let write = all.write && (is_shared || frames.is_alone(page.number));
            let page = Page { rights: Rights { write, ..all }, ..page };
            tables.map(self.space, address, page).map_err(|_| Errno::ENOMEM)?;
        }
        Ok(())
    }

    /// A range of so many bytes in which nothing is.
    pub fn room(&self, size: u64) -> Result<u64> {
        self.areas.room(size, TOP).ok_or(Errno::ENOMEM)
    }

    /// A page is missed, or may not be used so: maps it. `EFAULT`: the process is at fault; `ENOMEM`: there is no page, or no page table.
    pub fn fault(&mut self, machine: &mut Machine, access: Access, address: u64) -> Result<()> {
        let area = self.areas.find(address).ok_or(Errno::EFAULT)?;
        let all = rights(area.protection);
        let may = match access {
            Access::Read => all.read || all.write,
            Access::Write => all.write,
            Access::Execute => all.execute,
        };
        if !may {
            return Err(Errno::EFAULT);
        }
        let start = address / PAGE * PAGE;
        let Machine { tables, frames, .. } = machine;
        let found = tables.find(self.space, start);
        let frame = match found {
            Some(page) if access != Access::Write || page.rights.write => {
                return tables.fence(self.space, Some(start)).map_err(|_| Errno::EFAULT);
            }
            Some(page) if area.is_shared || frames.is_alone(page.number) => page.number,
            Some(page) => {
                let copy = frames.copy(page.number)?;
                frames.release(page.number);
                copy
            }
            None => {
                let frame = filled(frames, area, start)?;
                self.resident += 1;
                frame
            }
        };
        let write = all.write && (area.is_shared || frames.is_alone(frame));
        let page = Page { number: frame, rights: Rights { write, ..all } };
        if tables.map(self.space, start, page).is_err() {
            // Where one was mapped there is a table for it.
            frames.release(frame);
            self.resident -= 1;
            return Err(Errno::ENOMEM);
        }
        Ok(())
    }

    /// The page of an address, which a system call may use so.
    fn frame(&mut self, machine: &mut Machine, access: Access, address: u64) -> Result<u64> {
        for _ in 0..2 {
            let found = machine.tables.find(self.space, address).filter(|page| match access {
                Access::Write => page.rights.write,
                _ => page.rights.read || page.rights.write,
            });
            if let Some(page) = found.filter(|_| address < RETURN) {
                return Ok(page.number);
            }
            self.fault(machine, access, address)?;
        }
        Err(Errno::EFAULT)
    }

    /// Copies from the process.
    pub fn read(&mut self, machine: &mut Machine, address: u64, bytes: &mut [u8]) -> Result<()> {
        check(address, bytes.len())?;
        for (at, range) in pages(address, bytes.len()) {
            let frame = self.frame(machine, Access::Read, at)?;
            machine.frames.read(frame, at % PAGE, &mut bytes[range]);
        }
        Ok(())
    }

    /// All of a range can be written. `EFAULT`: it cannot.
    pub fn prepare(&mut self, machine: &mut Machine, address: u64, length: usize) -> Result<()> {
        check(address, length)?;
        pages(address, length)
            .try_for_each(|(at, _)| self.frame(machine, Access::Write, at).map(drop))
    }

    /// Copies to the process.
    pub fn write(&mut self, machine: &mut Machine, address: u64, bytes: &[u8]) -> Result<()> {
        check(address, bytes.len())?;
        for (at, range) in pages(address, bytes.len()) {
            let frame = self.frame(machine, Access::Write, at)?;
            machine.frames.write(frame, at % PAGE, &bytes[range]);
        }
        Ok(())
    }

    /// A text that ends with a zero, of so many bytes at most. `ENAMETOOLONG`: it is longer.
    pub fn text(&mut self, machine: &mut Machine, address: u64, most: usize) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut part = [0; 256];
        while text.len() < most {
            let at = address.checked_add(text.len() as u64).ok_or(Errno::EFAULT)?;
            let count = (PAGE - at % PAGE).min(part.len() as u64) as usize;
            self.read(machine, at, &mut part[..count])?;
            if let Some(end) = part[..count].iter().position(|byte| *byte == 0) {
                text.extend(&part[..end]);
                return if text.len() < most { Ok(text) } else { Err(Errno::ENAMETOOLONG) };
            }
            text.extend(&part[..count]);
        }
        Err(Errno::ENAMETOOLONG)
    }
}

fn check(address: u64, length: usize) -> Result<()> {
    let end = address.checked_add(length as u64);
    end.filter(|end| *end <= END).map(drop).ok_or(Errno::EFAULT)
}

/// A page with what an area has at an address.
fn filled(frames: &Frames, area: &Area<Content>, address: u64) -> Result<u64> {
    let Content::File(file, from, length) = &area.content else { return frames.take_zero() };
    let offset = address - area.start;
    let mut bytes = [0; PAGE as usize];
    let count = length.saturating_sub(offset).min(PAGE) as usize;
    file.read(from + offset, &mut bytes[..count]);
    let frame = frames.take()?;
    frames.write(frame, 0, &bytes);
    Ok(frame)
}
