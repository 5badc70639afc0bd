//! A component's file as a whole.

use crate::calls::{self, Call};
use crate::clock;
use crate::copy::{self, Copying};
use crate::descriptor::{Descriptor, Interface};
use crate::guards;
use crate::interface_text::InterfaceText;
use crate::notes;
use crate::segment::{self, Segment};
use crate::thread_local;
use crate::validity;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use cairn_abi::address::{IMAGE_OFFSET, REGION_SIZE};
use core::ops::Range;
use object::{Object, ObjectSection, ObjectSymbol};

/// A function, as linked.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its address in the file.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Demangled name.
    pub name: String,
}

/// A component's file, ready to be laid out anywhere.
#[derive(Clone, Debug)]
pub struct Component<File> {
    file: File,
    /// What it says of itself.
    pub descriptor: Descriptor,
    /// Address of the return stub, as linked.
    pub stub: u64,
    /// Memory.
    pub segments: Vec<Segment>,
    /// Its functions, in the order of their addresses.
    pub symbols: Vec<Symbol>,
    /// The calls that its file notes, in the order of their addresses.
    pub calls: Vec<Call>,
    /// Its copy routine, if it has one.
    pub copying: Option<Copying>,
    /// It computes with the floating-point unit.
    pub float: bool,
    /// Its code has the portal manager make locks or semaphores, so that it needs an import of `Portals`.
    pub needs_portals: bool,
    /// It starts threads, or sleeps, so that it needs an import of `Threads`.
    pub needs_threads: bool,
    relocations: Vec<Relocation>,
    /// Addresses of reads of the run clock, as linked.
    pub(crate) clock_reads: Vec<u64>,
    /// Addresses of the guards of its threads' stacks, as linked, in their order.
    guards: Vec<u64>,
}

/// A word to which the image's address is added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    /// Address of the word, as linked.
    pub offset: u64,
    /// What it names, as linked.
    pub target: u64,
}

impl<File: AsRef<[u8]>> Component<File> {
    /// Reads an executable linked with `lib/cairn/component.ld`. The error is for people.
    pub fn read(file: File) -> Result<Component<File>, String> {
        let bytes = file.as_ref();
        let elf =
            object::File::parse(bytes).map_err(|error| format!("not an executable: {error}"))?;
        let mut relocations = relocations(&elf)?;
        let mut descriptor = descriptor(&elf, &mut relocations)?;
        thread_local::enter(&elf, &mut descriptor)?;
        let segments = segment::read(&elf, bytes)?;
        let stub = elf
            .symbols()
            .find(|symbol| symbol.name() == Ok("cairn_return_stub"))
            .ok_or("no return stub: link the library `cairn` (or lib/c)")?
            .address();
        validity::check(&descriptor, &segments, stub)?;
        validity::check_relocations(&relocations, &segments)?;
        let mark = elf.symbols().find(|symbol| symbol.name() == Ok(guards::SYMBOL));
        let mark = mark.map(|symbol| symbol.address());
        let guards = guards::take(mark, &mut relocations, &segments)?;
        let clock_reads = clock::reads(&elf, bytes, &segments)?;
        let symbols = symbols(&elf);
        let calls = calls::noted(&elf, bytes, &segments)?;
        let copying = copy::noted(&elf, bytes, &segments)?;
        let float = float(&elf)?;
        let needs = |section| notes::addresses(&elf, section).map(|found| !found.is_empty());
        let needs_portals = needs(".cairn.needs_portals")?;
        let needs_threads = needs(".cairn.needs_threads")?;
        Ok(Component {
            descriptor,
            stub,
            segments,
            symbols,
            calls,
            copying,
            float,
            needs_portals,
            needs_threads,
            relocations,
            clock_reads,
            guards,
            file,
        })
    }

    /// The same with no more than a page of code and one of constants, which mean nothing: what is laid out of it is not to
    /// run, but shows whether all else has room.
    #[must_use]
    pub fn without_code(mut self) -> Component<File> {
        self.segments.iter_mut().for_each(Segment::cut);
        self.without_notes()
    }

    /// What this says of itself with the memory of another, which shows whether that has room, too.
    #[must_use]
    pub fn as_large_as(self, other: Component<File>) -> Component<File> {
        let Component { descriptor, float, needs_portals, needs_threads, .. } = self;
        Component { descriptor, float, needs_portals, needs_threads, ..other.without_notes() }
    }

    /// Without what the file notes of its machine code.
    fn without_notes(mut self) -> Component<File> {
        self.symbols.clear();
        self.calls.clear();
        self.clock_reads.clear();
        self.relocations.clear();
        self.copying = None;
        self
    }

    /// What people call the parts of an interface that it serves.
    pub fn text_of(&self, interface: &Interface) -> Option<&InterfaceText> {
        let is = |text: &&InterfaceText| {
            text.name == interface.name && text.version == interface.version
        };
        self.descriptor.texts.iter().find(is)
    }

    pub(crate) fn file(&self) -> &[u8] {
        self.file.as_ref()
    }

    /// Where its image ends, as linked.
    pub fn image_end(&self) -> u64 {
        self.segments.iter().map(|segment| segment.range().end).max().unwrap_or(IMAGE_OFFSET)
    }

    /// What of a segment is memory: its bytes, counted from its first. Between them are the guards of its threads' stacks.
    pub fn memory(&self, segment: &Segment) -> Vec<Range<u64>> {
        guards::between(&self.guards, segment)
    }

    /// The addresses, as linked, of the words of a segment to which [`Component::fill`] adds the image's.
    pub fn relocated(&self, segment: &Segment) -> impl Iterator<Item = u64> {
        let range = segment.range();
        let offsets = self.relocations.iter().map(|relocation| relocation.offset);
        offsets.filter(move |offset| range.contains(offset))
    }

    /// Makes `memory`, as many bytes as the segment has, its content when what is at 0 in the file is at `image`.
    pub fn fill(&self, segment: &Segment, image: u64, memory: &mut [u8]) {
        let content = &self.file()[segment.content.clone()];
        let (lead, rest) = memory.split_at_mut(segment.content_at as usize);
        let (filled, rest) = rest.split_at_mut(content.len());
        lead.fill(0);
        filled.copy_from_slice(content);
        rest.fill(0);
        for Relocation { offset, target } in &self.relocations {
            if segment.range().contains(offset) {
                let at = (offset - segment.offset) as usize;
                memory[at..at + 8].copy_from_slice(&image.wrapping_add(*target).to_le_bytes());
            }
        }
    }
}

/// Whether its functions pass floating-point numbers in registers of the unit.
fn float(elf: &object::File) -> Result<bool, String> {
    let object::FileFlags::Elf { e_flags, .. } = elf.flags() else { return Ok(false) };
    match e_flags & object::elf::EF_RISCV_FLOAT_ABI_QUAD {
        object::elf::EF_RISCV_FLOAT_ABI_SOFT => Ok(false),
        object::elf::EF_RISCV_FLOAT_ABI_DOUBLE => Ok(true),
        _ => Err("its calling convention for floating point is neither lp64 nor lp64d: build it with `./cairn`, by \
                  `float = \"hard\"` or without"
            .to_owned()),
    }
}

/// Every dynamic relocation is R_RISCV_RELATIVE: the word at `r_offset` becomes base + addend.
fn relocations(elf: &object::File) -> Result<Vec<Relocation>, String> {
    let mut relocations = Vec::new();
    for (offset, relocation) in elf.dynamic_relocations().into_iter().flatten() {
        match relocation.flags() {
            object::RelocationFlags::Elf { r_type: object::elf::R_RISCV_RELATIVE } => {
                relocations.push(Relocation { offset, target: relocation.addend() as u64 });
            }
            object::RelocationFlags::Elf { r_type } => {
                return Err(format!(
                    "relocation type {r_type} at {offset:#x}: only code that does not care where it lies can be \
                     placed; build it with `./cairn`, which passes the right flags"
                ));
            }
            _ => {}
        }
    }
    Ok(relocations)
}

/// The descriptor. It is not loaded, so its relocations are done here, and taken out.
fn descriptor(elf: &object::File, relocations: &mut Vec<Relocation>) -> Result<Descriptor, String> {
    let section = elf
        .section_by_name(".cairn")
        .ok_or("no component descriptor: declare the component with `cairn::component!`")?;
    let mut bytes = section.data().map_err(|error| error.to_string())?.to_owned();
    let place: Range<u64> = section.address()..section.address().saturating_add(bytes.len() as u64);
    relocations.retain(|Relocation { offset, target }| {
        let is_inside = place.contains(offset);
        if is_inside {
            let at = (offset - place.start) as usize;
            if let Some(word) = bytes.get_mut(at..at + 8) {
                word.copy_from_slice(&target.to_le_bytes());
            }
        }
        !is_inside
    });
    Descriptor::read(&bytes)
}

fn symbols(elf: &object::File) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = elf
        .symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 0)
        .filter(|symbol| symbol.address() < REGION_SIZE)
        .filter_map(|symbol| {
            // The alternate form leaves out the hash.
            let name = format!("{:#}", rustc_demangle::demangle(symbol.name().ok()?));
            Some(Symbol { offset: symbol.address(), size: symbol.size(), name })
        })
        .collect();
    symbols.sort_by_key(|symbol| symbol.offset);
    symbols.dedup_by_key(|symbol| symbol.offset);
    symbols
}
