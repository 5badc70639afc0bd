//! Reads a component's file: segments, relocations, descriptor, symbols.

mod validity;

use cairn_abi::address::{IMAGE_OFFSET, PAGE_SIZE, REGION_SIZE};
use cairn_abi::descriptor::{
    ComponentDescriptor, EXPORTS_MAXIMUM, ExportDescriptor, IMPORTS_MAXIMUM, ImportDescriptor,
    InterfaceDescriptor, LETTERS_SIZE, MAGIC, METHODS_MAXIMUM, MethodDescriptor, NAME_SIZE,
};
use cairn_abi::text::Visible;
use cairn_description::facts::{
    ComponentFacts, ExportFacts, ImportFacts, InterfaceFacts, MethodFacts,
};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags};
use std::mem::{offset_of, size_of};

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
    /// Address in the file.
    pub offset: u64,
    /// Content, whole pages.
    pub bytes: Vec<u8>,
    /// Rights.
    pub rights: Rights,
}

/// A method with its place in the server.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Its letters.
    pub letters: String,
    /// Kind of its value.
    pub value: u32,
    /// Entry point, as linked; zero in an import.
    pub entry: u64,
}

/// An interface as the file describes it.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Name.
    pub name: String,
    /// Version hash.
    pub version: u64,
    /// Methods.
    pub methods: Vec<Method>,
}

/// An import.
#[derive(Clone, Debug)]
pub struct Import {
    /// Name.
    pub name: String,
    /// Index of the first portal.
    pub first_portal: usize,
    /// Its proxy saves all registers itself.
    pub is_minimal: bool,
    /// Interface.
    pub interface: Interface,
}

/// An export.
#[derive(Clone, Debug)]
pub struct Export {
    /// Name.
    pub name: String,
    /// Whether it is an object interface.
    pub is_object: bool,
    /// Interface.
    pub interface: Interface,
}

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
pub struct Component {
    /// Name in its descriptor.
    pub name: String,
    /// Offset of the first thread's entry, if it has one.
    pub main: Option<u64>,
    /// Offset of the return stub.
    pub stub: u64,
    /// Memory.
    pub segments: Vec<Segment>,
    /// Words to which the image's address is added: address of the word, address it names.
    pub relocations: Vec<(u64, u64)>,
    /// What it calls.
    pub imports: Vec<Import>,
    /// What it serves.
    pub exports: Vec<Export>,
    /// Its functions.
    pub symbols: Vec<Symbol>,
}

/// A reader of the descriptor's bytes; the struct is the same on host and target, `repr(C)`.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    fn half(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }

    fn text(&self, at: usize, size: usize) -> String {
        let bytes = &self.bytes[at..at + size];
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(size);
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// Whether the descriptor's counts fit its arrays: C does not check them.
    fn check_counts(&self, at: usize) -> Result<(), String> {
        let check = |what: &str, at: usize, maximum: usize| match self.half(at) as usize {
            count if count <= maximum => Ok(count),
            count => Err(format!(
                "the component descriptor has {count} {what}, expected at most {maximum}"
            )),
        };
        let imports = at + offset_of!(ComponentDescriptor, imports);
        let exports = at + offset_of!(ComponentDescriptor, exports);
        let methods = offset_of!(InterfaceDescriptor, method_count);
        for index in 0..check(
            "imports",
            at + offset_of!(ComponentDescriptor, import_count),
            IMPORTS_MAXIMUM,
        )? {
            let interface =
                index * size_of::<ImportDescriptor>() + offset_of!(ImportDescriptor, interface);
            check("methods in an import", imports + interface + methods, METHODS_MAXIMUM)?;
        }
        for index in 0..check(
            "exports",
            at + offset_of!(ComponentDescriptor, export_count),
            EXPORTS_MAXIMUM,
        )? {
            let interface =
                index * size_of::<ExportDescriptor>() + offset_of!(ExportDescriptor, interface);
            check("methods in an export", exports + interface + methods, METHODS_MAXIMUM)?;
        }
        Ok(())
    }

    fn interface(&self, at: usize, entries: Option<usize>) -> Interface {
        let count = self.half(at + offset_of!(InterfaceDescriptor, method_count)) as usize;
        let methods = at + offset_of!(InterfaceDescriptor, methods);
        Interface {
            name: self.text(at + offset_of!(InterfaceDescriptor, name), NAME_SIZE),
            version: self.word(at + offset_of!(InterfaceDescriptor, version)),
            methods: (0..count)
                .map(|index| {
                    let method = methods + index * size_of::<MethodDescriptor>();
                    Method {
                        name: self.text(method + offset_of!(MethodDescriptor, name), NAME_SIZE),
                        letters: self
                            .text(method + offset_of!(MethodDescriptor, letters), LETTERS_SIZE),
                        value: self.half(method + offset_of!(MethodDescriptor, value)),
                        entry: entries.map_or(0, |entries| self.word(entries + index * 8)),
                    }
                })
                .collect(),
        }
    }
}

impl Component {
    /// Reads an executable linked with `lib/cairn/component.ld`.
    pub fn read(file: &[u8]) -> Result<Component, String> {
        let elf =
            object::File::parse(file).map_err(|error| format!("not an executable: {error}"))?;

        // R_RISCV_RELATIVE: the word at r_offset becomes base + addend.
        let mut relocations = Vec::new();
        if let Some(dynamic) = elf.dynamic_relocations() {
            for (offset, relocation) in dynamic {
                let object::RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
                if r_type != object::elf::R_RISCV_RELATIVE {
                    return Err(format!(
                        "relocation type {r_type} at {offset:#x}: only code that does not care where it lies can be \
                         placed; build it with `./cairn`, which passes the right flags"
                    ));
                }
                relocations.push((offset, relocation.addend() as u64));
            }
        }

        let described = elf
            .section_by_name(".cairn")
            .ok_or("no component descriptor: declare the component with `cairn::component!`")?;
        let mut descriptor = described.data().map_err(|error| error.to_string())?.to_vec();
        let start = described.address();
        let end = start + descriptor.len() as u64;
        relocations.retain(|(offset, target)| {
            let in_descriptor = (start..end).contains(offset);
            if in_descriptor {
                let at = (offset - start) as usize;
                if let Some(word) = descriptor.get_mut(at..at + 8) {
                    word.copy_from_slice(&target.to_le_bytes());
                }
            }
            !in_descriptor
        });

        let mut segments: Vec<Segment> = Vec::new();
        for section in elf.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            let flags = sh_flags as u32;
            let name = section.name().unwrap_or("");
            let rights = match name {
                ".text" => Rights::Code,
                ".rodata" => Rights::Constants,
                ".data" | ".bss" => Rights::Data,
                _ if flags & object::elf::SHF_ALLOC == 0 || section.size() == 0 => continue,
                ".cairn" | ".rela.dyn" | ".dynamic" | ".dynsym" | ".dynstr" | ".hash"
                | ".gnu.hash" => continue,
                ".tdata" | ".tbss" => {
                    return Err(format!(
                        "section `{name}`: components have no thread-local variables; in C, do without `errno` and \
                         the library functions that set it"
                    ));
                }
                other => {
                    return Err(format!(
                        "section `{}` has no place; use component.ld as it is",
                        Visible::text(other)
                    ));
                }
            };
            if section.size() == 0 {
                continue;
            }
            validity::check_section(name, section.address(), section.size())?;
            let mut bytes = match name {
                ".bss" => Vec::new(),
                _ => section.data().map_err(|error| error.to_string())?.to_vec(),
            };
            bytes.resize(section.size() as usize, 0);
            match segments.last_mut() {
                Some(last)
                    if last.rights == rights
                        && rights == Rights::Data
                        && section.address() >= last.offset =>
                {
                    let from = (section.address() - last.offset) as usize;
                    last.bytes.resize(from, 0);
                    last.bytes.extend(bytes);
                }
                _ => {
                    // What begins within a page has that page to itself.
                    let lead = section.address() % PAGE_SIZE;
                    bytes.splice(..0, (0..lead).map(|_| 0));
                    segments.push(Segment { offset: section.address() - lead, bytes, rights });
                }
            }
        }
        let mut end = 0;
        for segment in &mut segments {
            if segment.offset < end {
                return Err(format!(
                    "two kinds of memory share the page at {:#x}; use component.ld as it is",
                    segment.offset
                ));
            }
            segment.bytes.resize(segment.bytes.len().next_multiple_of(PAGE_SIZE as usize), 0);
            end = segment.offset + segment.bytes.len() as u64;
        }

        let reader = Reader { bytes: &descriptor };
        let at = descriptor
            .chunks_exact(8)
            .position(|chunk| chunk == MAGIC.to_le_bytes())
            .ok_or("the component descriptor has no mark")?
            * 8;
        if descriptor.len() < at + size_of::<ComponentDescriptor>() {
            return Err("the component descriptor is cut off".into());
        }
        let version = reader.half(at + offset_of!(ComponentDescriptor, abi_version));
        if version != cairn_abi::VERSION {
            return Err(format!(
                "made for version {version} of the binary interface, this is version {}; build it again",
                cairn_abi::VERSION
            ));
        }
        reader.check_counts(at)?;
        let imports = (0..reader.half(at + offset_of!(ComponentDescriptor, import_count)) as usize)
            .map(|index| {
                let import = at
                    + offset_of!(ComponentDescriptor, imports)
                    + index * size_of::<ImportDescriptor>();
                Import {
                    name: reader.text(import + offset_of!(ImportDescriptor, name), NAME_SIZE),
                    first_portal: reader.half(import + offset_of!(ImportDescriptor, first_portal))
                        as usize,
                    is_minimal: reader.half(import + offset_of!(ImportDescriptor, minimal)) != 0,
                    interface: reader
                        .interface(import + offset_of!(ImportDescriptor, interface), None),
                }
            })
            .collect();
        let exports = (0..reader.half(at + offset_of!(ComponentDescriptor, export_count)) as usize)
            .map(|index| {
                let export = at
                    + offset_of!(ComponentDescriptor, exports)
                    + index * size_of::<ExportDescriptor>();
                let entries = export + offset_of!(ExportDescriptor, entries);
                Export {
                    name: reader.text(export + offset_of!(ExportDescriptor, name), NAME_SIZE),
                    is_object: reader.half(export + offset_of!(ExportDescriptor, is_object)) == 1,
                    interface: reader
                        .interface(export + offset_of!(ExportDescriptor, interface), Some(entries)),
                }
            })
            .collect();

        let mut symbols: Vec<Symbol> = elf
            .symbols()
            .filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.size() > 0)
            .filter(|symbol| symbol.address() < REGION_SIZE)
            .filter_map(|symbol| {
                let name = rustc_demangle::demangle(symbol.name().ok()?).to_string();
                Some(Symbol {
                    offset: symbol.address(),
                    size: symbol.size(),
                    name: without_hash(&name),
                })
            })
            .collect();
        symbols.sort_by_key(|symbol| symbol.offset);
        symbols.dedup_by_key(|symbol| symbol.offset);

        let stub = elf
            .symbols()
            .find(|symbol| symbol.name() == Ok("cairn_return_stub"))
            .ok_or("no return stub: link the library `cairn` (or lib/c)")?
            .address();
        let main = reader.word(at + offset_of!(ComponentDescriptor, main));
        let component = Component {
            name: reader.text(at + offset_of!(ComponentDescriptor, name), NAME_SIZE),
            main: (main != 0).then_some(main),
            stub,
            segments,
            relocations,
            imports,
            exports,
            symbols,
        };
        validity::check(&component)?;
        Ok(component)
    }

    /// Where its image ends, as linked.
    pub fn image_end(&self) -> u64 {
        let ends = self.segments.iter().map(|segment| segment.offset + segment.bytes.len() as u64);
        ends.max().unwrap_or(IMAGE_OFFSET)
    }

    /// The content of its segments when what is at 0 in the file is at `image`.
    pub fn relocated(&self, image: u64) -> Result<Vec<Segment>, String> {
        let mut segments = self.segments.clone();
        for (offset, target) in &self.relocations {
            let outside = || format!("relocation at {offset:#x} outside every segment");
            let segment = segments
                .iter_mut()
                .find(|segment| {
                    (segment.offset..segment.offset + segment.bytes.len() as u64).contains(offset)
                })
                .ok_or_else(outside)?;
            let at = (offset - segment.offset) as usize;
            let word = segment.bytes.get_mut(at..at + 8).ok_or_else(outside)?;
            word.copy_from_slice(&image.wrapping_add(*target).to_le_bytes());
        }
        Ok(segments)
    }

    /// What the description's checks need.
    pub fn facts(&self) -> ComponentFacts {
        let interface = |interface: &Interface| InterfaceFacts {
            name: interface.name.clone(),
            version: interface.version,
            methods: interface
                .methods
                .iter()
                .map(|method| MethodFacts {
                    name: method.name.clone(),
                    letters: method.letters.clone(),
                })
                .collect(),
        };
        ComponentFacts {
            has_main: self.main.is_some(),
            imports: self
                .imports
                .iter()
                .map(|import| ImportFacts {
                    name: import.name.clone(),
                    is_minimal: import.is_minimal,
                    interface: interface(&import.interface),
                })
                .collect(),
            exports: self
                .exports
                .iter()
                .map(|export| ExportFacts {
                    name: export.name.clone(),
                    is_object: export.is_object,
                    interface: interface(&export.interface),
                })
                .collect(),
        }
    }
}

/// `a::b::h0123456789abcdef` without the hash.
fn without_hash(name: &str) -> String {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 => path.to_string(),
        _ => name.to_string(),
    }
}
