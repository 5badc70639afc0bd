//! A component's memory: whole pages with the same rights.

use crate::validity;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::text::Visible;
use core::ops::Range;
use object::{Object, ObjectSection, SectionFlags};

/// Rights of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Read and execute.
    Code,
    /// Read.
    Constants,
    /// Read and write.
    Data,
}

/// Whole pages of a component with the same rights, as linked.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Address of its first page.
    pub offset: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// Rights.
    pub rights: Rights,
    /// Where its content goes, from its first page on; what is around it is zero.
    pub(crate) content_at: u64,
    /// The part of the file that is its content.
    pub(crate) content: Range<usize>,
}

const BEHIND_THE_FILE: &str = "a section lies behind the end of the file";

impl Segment {
    /// Addresses that it has.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.size
    }

    /// Leaves nothing of code and constants but their first page.
    pub(crate) fn cut(&mut self) {
        if self.rights != Rights::Data {
            self.size = self.size.min(PAGE_SIZE);
            let left = (self.size.saturating_sub(self.content_at)) as usize;
            self.content.end = self.content.end.min(self.content.start + left);
        }
    }
}

/// Where the loaded sections of `elf`, which is `file`, go. In the order of their addresses.
pub(crate) fn read(elf: &object::File, file: &[u8]) -> Result<Vec<Segment>, String> {
    let mut segments: Vec<Segment> = Vec::new();
    for section in elf.sections() {
        let name = section.name().unwrap_or("");
        let Some(rights) = rights(name, &section)? else { continue };
        let (address, size) = (section.address(), section.size());
        validity::check_section(name, address, size)?;
        let pages = (address - address % PAGE_SIZE)..(address + size).next_multiple_of(PAGE_SIZE);
        // `.bss` goes on where `.data` ends, perhaps in the middle of a page.
        if name == ".bss"
            && let Some(data) = segments.last_mut()
            && data.rights == Rights::Data
            && (data.offset..=data.range().end).contains(&address)
        {
            data.size = pages.end.max(data.range().end) - data.offset;
            continue;
        }
        // What thread-local variables are at first lies before `.data`, in the same pages.
        if name == ".data"
            && let Some(first) = segments.last_mut()
            && first.rights == Rights::Data
            && first.range().end >= address
            && let Some((at, size)) = section.file_range()
            && let Some(distance) = address.checked_sub(first.offset + first.content_at)
            && at.checked_sub(first.content.start as u64) == Some(distance)
        {
            let end = at.saturating_add(size) as usize;
            file.get(first.content.start..end).ok_or(BEHIND_THE_FILE)?;
            first.content.end = end;
            first.size = pages.end.max(first.range().end) - first.offset;
            continue;
        }
        if segments.last().is_some_and(|last| last.range().end > pages.start) {
            return Err(format!(
                "two kinds of memory share the page at {:#x}; use component.ld as it is",
                pages.start
            ));
        }
        let content = match section.file_range() {
            Some((at, size)) if name != ".bss" => {
                let content = at as usize..at.saturating_add(size) as usize;
                file.get(content.clone()).ok_or(BEHIND_THE_FILE)?;
                content
            }
            _ => 0..0,
        };
        segments.push(Segment {
            offset: pages.start,
            size: pages.end - pages.start,
            rights,
            content_at: address - pages.start,
            content,
        });
    }
    Ok(segments)
}

/// The rights of a section's pages, if it has any.
fn rights<'file>(
    name: &str,
    section: &impl ObjectSection<'file>,
) -> Result<Option<Rights>, String> {
    let SectionFlags::Elf { sh_flags } = section.flags() else { return Ok(None) };
    let is_loaded = sh_flags as u32 & object::elf::SHF_ALLOC != 0;
    match name {
        _ if section.size() == 0 => Ok(None),
        ".text" => Ok(Some(Rights::Code)),
        ".rodata" => Ok(Some(Rights::Constants)),
        ".data" | ".bss" | ".tdata" => Ok(Some(Rights::Data)),
        ".cairn" | ".rela.dyn" | ".dynamic" | ".dynsym" | ".dynstr" | ".hash" | ".gnu.hash"
        | ".eh_frame" => Ok(None),
        // No memory of the image: zero in each thread's block.
        ".tbss" => Ok(None),
        _ if !is_loaded => Ok(None),
        other => Err(format!(
            "section `{}` has no place; use component.ld as it is",
            Visible::text(other)
        )),
    }
}
