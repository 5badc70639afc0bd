//! A program begins: its file becomes areas of memory, its arguments the stack.

use crate::arch;
use crate::limits;
use crate::memory::{Content, END, Machine, Memory, STACK_END};
use crate::node::{Kind, Node};
use crate::tree::Tree;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use cairn::process::Registers;
use cairn_personality::areas::{Area, PAGE};
use cairn_personality::errno::{Errno, Result};
use elf::abi::{EI_NIDENT, ET_DYN, ET_EXEC, PF_R, PF_W, PF_X, PT_INTERP, PT_LOAD, PT_PHDR};
use elf::endian::LittleEndian;
use elf::file::{Class, FileHeader, parse_ident};
use elf::segment::{ProgramHeader, SegmentTable};
use linux_raw_sys::auxvec::*;
use linux_raw_sys::general::{PROT_EXEC, PROT_READ, PROT_WRITE};

/// Bytes of a file in which its headers have to be.
const HEADERS: usize = 4096;
/// Segments at most.
const SEGMENTS: usize = 32;
/// Bytes of the header of each.
const SEGMENT: usize = 56;
/// Where programs lie that can lie anywhere.
const BASE: u64 = 1 << 24;
/// Scripts that are interpreted by scripts.
const INTERPRETERS: usize = 4;

/// Texts that a program is begun with.
#[derive(Default)]
pub struct Texts {
    /// Its arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment.
    pub environment: Vec<Vec<u8>>,
}

impl Texts {
    /// Bytes that they take on the stack.
    pub fn size(&self) -> usize {
        let texts = self.arguments.iter().chain(&self.environment);
        texts.map(|text| text.len() + 1 + 8).sum()
    }
}

/// What a program is begun with.
pub struct Start {
    /// Its memory.
    pub memory: Memory,
    /// Where it begins.
    pub registers: Registers,
    /// The absolute path of its file.
    pub path: Vec<u8>,
}

impl Start {
    /// What it is called: the last part of its path.
    pub fn name(&self) -> Vec<u8> {
        self.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec()
    }
}

/// Makes the memory of the program at a path.
pub fn begin(
    machine: &mut Machine,
    tree: &Tree,
    (folder, path): (&Rc<Node>, &[u8]),
    mut texts: Texts,
    chance: [u64; 2],
) -> Result<Start> {
    let mut path = path.to_vec();
    for _ in 0..INTERPRETERS {
        let found = tree.find(folder, &path, true)?;
        let absolute = tree.path_of(&found)?;
        let file = found.node()?;
        let Kind::File(_) = file.kind else { return Err(Errno::EACCES) };
        if file.mode.get() & 0o111 == 0 {
            return Err(Errno::EACCES);
        }
        let mut bytes = vec![0; HEADERS];
        let count = file.read(0, &mut bytes);
        bytes.truncate(count);
        if let Some(interpreter) = interpreter(&bytes) {
            let mut arguments: Vec<Vec<u8>> = interpreter.map(<[u8]>::to_vec).collect();
            let program = arguments.first().ok_or(Errno::ENOEXEC)?.clone();
            arguments.push(path);
            arguments.extend(texts.arguments.drain(..).skip(1));
            texts.arguments = arguments;
            path = program;
            continue;
        }
        let mut memory = Memory::new(machine)?;
        return match fill(machine, &mut memory, &file, &bytes, &texts, chance) {
            Ok(registers) => Ok(Start { memory, registers, path: absolute }),
            Err(error) => {
                memory.end(machine);
                Err(error)
            }
        };
    }
    Err(Errno::ELOOP)
}

/// The program that a script names in its first line, and perhaps an argument.
fn interpreter(bytes: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let line = bytes.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line).trim_ascii();
    let words = line.splitn(2, |byte| matches!(byte, b' ' | b'\t'));
    Some(words.map(<[u8]>::trim_ascii).filter(|word| !word.is_empty()))
}

fn fill(
    machine: &mut Machine,
    memory: &mut Memory,
    file: &Rc<Node>,
    bytes: &[u8],
    texts: &Texts,
    chance: [u64; 2],
) -> Result<Registers> {
    let (entry, headers) = load(machine, memory, file, bytes)?;
    let stack = Area {
        start: STACK_END - limits::STACK,
        end: STACK_END,
        protection: PROT_READ | PROT_WRITE,
        is_shared: false,
        content: Content::Zero,
    };
    memory.add(machine, stack)?;
    let pointer = fill_stack(machine, memory, (entry, headers), texts, chance)?;
    Ok(Registers::new(entry, pointer))
}

/// Where its headers are in memory, how large each is, and how many there are.
type Headers = (u64, u64, u64);

/// The header of a file and its segments, as far as the bytes have them; `None`: it is none of this machine's width and order of bytes.
fn headers(bytes: &[u8]) -> Option<(FileHeader<LittleEndian>, SegmentTable<'_, LittleEndian>)> {
    let identity = parse_ident::<LittleEndian>(bytes.get(..EI_NIDENT)?).ok()?;
    let (order, class) = (identity.0, identity.1);
    let header = FileHeader::parse_tail(identity, bytes.get(EI_NIDENT..)?).ok()?;
    let from = usize::try_from(header.e_phoff).ok()?;
    let size = usize::from(header.e_phentsize) * usize::from(header.e_phnum);
    let table = bytes.get(from..from.checked_add(size)?)?;
    let is_one = class == Class::ELF64 && usize::from(header.e_phentsize) == SEGMENT;
    is_one.then(|| (header, SegmentTable::new(order, class, table)))
}

fn load(
    machine: &mut Machine,
    memory: &mut Memory,
    file: &Rc<Node>,
    bytes: &[u8],
) -> Result<(u64, Headers)> {
    let (header, segments) = headers(bytes).ok_or(Errno::ENOEXEC)?;
    let base = match header.e_type {
        ET_EXEC => 0,
        ET_DYN => BASE,
        _ => return Err(Errno::ENOEXEC),
    };
    if header.e_machine != arch::ELF_MACHINE || segments.len() > SEGMENTS {
        return Err(Errno::ENOEXEC);
    }
    let (mut end, mut at) = (0, None);
    for segment in segments {
        let start = segment.p_vaddr.checked_add(base).ok_or(Errno::ENOEXEC)?;
        match segment.p_type {
            // Another program would have to link it first.
            PT_INTERP => return Err(Errno::ENOEXEC),
            PT_PHDR => at = Some(start),
            _ => {}
        }
        if segment.p_type != PT_LOAD || segment.p_memsz == 0 {
            continue;
        }
        let area_end = load_segment(machine, memory, file, &segment, start)?;
        end = area_end.max(end);
        let inside = header.e_phoff.checked_sub(segment.p_offset);
        let inside = inside.filter(|inside| *inside < segment.p_filesz);
        at = at.or(inside.and_then(|inside| start.checked_add(inside)));
    }
    memory.heap = (end, end);
    let sizes = (header.e_phentsize.into(), header.e_phnum.into());
    let entry = header.e_entry.wrapping_add(base);
    Ok((entry, (at.unwrap_or(0), sizes.0, sizes.1)))
}

/// Adds the area of a segment that begins there; where it ends.
fn load_segment(
    machine: &mut Machine,
    memory: &mut Memory,
    file: &Rc<Node>,
    segment: &ProgramHeader,
    start: u64,
) -> Result<u64> {
    let before = start % PAGE;
    let from = segment.p_offset.checked_sub(before);
    let stop = start.checked_add(segment.p_memsz).filter(|stop| *stop < END / 2);
    let in_file = segment.p_offset.checked_add(segment.p_filesz);
    let is_whole = in_file.is_some_and(|end| end <= file.size());
    let is_good = is_whole
        && segment.p_filesz <= segment.p_memsz
        && segment.p_offset % PAGE == before
        && start >= PAGE;
    let (Some(from), Some(stop), true) = (from, stop, is_good) else { return Err(Errno::ENOEXEC) };
    let bit = |flag, bit| if segment.p_flags & flag != 0 { bit } else { 0 };
    let end = stop.next_multiple_of(PAGE);
    let area = Area {
        start: start - before,
        end,
        protection: bit(PF_R, PROT_READ) | bit(PF_W, PROT_WRITE) | bit(PF_X, PROT_EXEC),
        is_shared: false,
        content: Content::File(Rc::clone(file), from, before + segment.p_filesz),
    };
    memory.add(machine, area)?;
    Ok(end)
}

/// Texts at the top, below them the words that a program finds at its stack pointer.
fn fill_stack(
    machine: &mut Machine,
    memory: &mut Memory,
    (entry, (headers, size, count)): (u64, Headers),
    texts: &Texts,
    chance: [u64; 2],
) -> Result<u64> {
    if texts.size() > limits::ARGUMENTS {
        return Err(Errno::E2BIG);
    }
    let mut at = STACK_END - 16;
    // For the guard of its stack and its hash tables.
    let random = at;
    for (place, word) in (0..).zip(chance) {
        memory.write(machine, random + 8 * place, &word.to_le_bytes())?;
    }
    let mut places = Vec::new();
    for text in texts.arguments.iter().chain(&texts.environment) {
        at -= text.len() as u64 + 1;
        memory.write(machine, at, text)?;
        places.push(at);
    }
    let (first, second) = places.split_at(texts.arguments.len());
    let mut words = vec![first.len() as u64];
    words.extend(first);
    words.push(0);
    words.extend(second);
    words.push(0);
    for (kind, word) in [
        (AT_PHDR, headers),
        (AT_PHENT, size),
        (AT_PHNUM, count),
        (AT_PAGESZ, PAGE),
        (AT_ENTRY, entry),
        (AT_UID, 0),
        (AT_EUID, 0),
        (AT_GID, 0),
        (AT_EGID, 0),
        (AT_SECURE, 0),
        (AT_CLKTCK, 100),
        (AT_HWCAP, arch::EXTENSIONS),
        (AT_RANDOM, random),
        (AT_NULL, 0),
    ] {
        words.extend([u64::from(kind), word]);
    }
    let pointer = (at - words.len() as u64 * 8) & !15;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(machine, pointer, &bytes)?;
    Ok(pointer)
}
