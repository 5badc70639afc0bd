//! The nucleus' file: where its parts lie and what its symbols are.

use cairn_abi::address::NUCLEUS;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::HashMap;

/// `sfence.vma` with any registers (privileged manual, section 4.2.1): the fixed bits' values, and their mask.
const FENCE: u32 = 0x1200_0073;
const FENCE_BITS: u32 = 0xfe00_7fff;

/// The nucleus, as linked.
pub struct Nucleus {
    /// Content from the nucleus' first address on.
    pub bytes: Vec<u8>,
    /// First address and bytes of text, constants, data; whole pages.
    pub parts: [(u64, u64); 3],
    /// Bytes of machine code.
    pub code_size: u64,
    symbols: HashMap<String, u64>,
}

impl Nucleus {
    /// Reads the linked nucleus.
    pub fn read(file: &[u8]) -> Result<Nucleus, String> {
        let elf = object::File::parse(file).map_err(|error| format!("nucleus: {error}"))?;
        let mut bytes = Vec::new();
        let mut parts = [(0, 0); 3];
        let mut code_size = 0;
        for (index, name) in [".text", ".rodata", ".data"].into_iter().enumerate() {
            let section =
                elf.section_by_name(name).ok_or_else(|| format!("nucleus: no section {name}"))?;
            let from = (section.address() - NUCLEUS) as usize;
            bytes.resize(from, 0);
            bytes.extend(section.data().map_err(|error| error.to_string())?);
            bytes.resize(from + section.size().next_multiple_of(4096) as usize, 0);
            parts[index] = (section.address(), section.size().next_multiple_of(4096));
            if index == 0 {
                code_size = section.size();
            }
        }
        let symbols = elf
            .symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?.to_string(), symbol.address())))
            .collect();
        Ok(Nucleus { bytes, parts, code_size, symbols })
    }

    /// Address of a symbol.
    pub fn symbol(&self, name: &str) -> Result<u64, String> {
        self.symbols.get(name).copied().ok_or_else(|| format!("nucleus: no symbol `{name}`"))
    }

    /// Addresses of its translation fences, without the one of the trap return, which belongs to a switch of domains.
    pub fn fences(&self) -> Result<Vec<u64>, String> {
        // Its second instruction.
        let switch = self.symbol("trap_return_fence")? + 4;
        let words = self.bytes[..self.code_size as usize].chunks_exact(4);
        let is_fence = |word: &[u8]| {
            u32::from_le_bytes(word.try_into().expect("four bytes")) & FENCE_BITS == FENCE
        };
        let places = (NUCLEUS..).step_by(4).zip(words).filter(|(_, word)| is_fence(word));
        Ok(places.map(|(address, _)| address).filter(|address| *address != switch).collect())
    }

    /// What lies between two symbols.
    pub fn between(&self, [start, end]: [&str; 2]) -> Result<&[u8], String> {
        let at = |name| Ok::<_, String>(self.symbol(name)?.wrapping_sub(NUCLEUS) as usize);
        let range = at(start)?..at(end)?;
        self.bytes
            .get(range)
            .ok_or_else(|| format!("nucleus: `{start}` to `{end}` is no part of it"))
    }
}
