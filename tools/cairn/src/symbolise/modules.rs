//! The files of a system's components: what their tables say of an address, and of how its function was called.

use crate::build::{PACKAGE, Symbols};
use crate::paths;
use addr2line::{Context, Location};
use anyhow::Result;
use cairn_abi::text::Visible;
use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EndianSlice, LittleEndian, Register, RegisterRule,
    UnwindContext, UnwindSection,
};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind, SymbolMap, SymbolMapName};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Of a file that stays in memory: each of a system is read once, and then the program ends.
pub(super) type Bytes = EndianSlice<'static, LittleEndian>;

const RETURN: Register = Register(1);
const STACK: Register = Register(2);
/// Most functions of a chain.
const CHAIN_MAXIMUM: usize = 32;
/// What a panic leaves on the stack above the function in which it was.
const PANIC_MACHINERY: [&str; 6] = [
    "__rustc::rust_begin_unwind",
    "core::panicking::",
    "core::option::unwrap_failed",
    "core::option::expect_failed",
    "core::result::unwrap_failed",
    "core::slice::index::",
];

/// A file.
struct Module {
    context: Context<Bytes>,
    /// The functions by their addresses: those into which others were compiled have their whole names here only.
    symbols: SymbolMap<SymbolMapName<'static>>,
    /// Where functions in Rust keep what they return to, and those in C.
    frames: EhFrame<Bytes>,
    debug_frames: DebugFrame<Bytes>,
    bases: BaseAddresses,
}

/// A file, which is read when an address in it is looked for.
struct Elf {
    path: PathBuf,
    module: Option<Module>,
}

impl Elf {
    /// What was read of it, and an address in it that has this place.
    fn at(&mut self, place: &Place, address: u64) -> Option<(&Module, u64)> {
        if self.module.is_none() {
            self.module = Module::read(&self.path).ok();
        }
        Some((self.module.as_ref()?, address.wrapping_sub(place.offset)))
    }
}

/// Where an instance's code is, and the index of its file.
struct Place {
    code: Range<u64>,
    offset: u64,
    file: usize,
}

/// The files of a system, each once for all instances of a component.
pub struct Modules {
    files: Vec<Elf>,
    places: Vec<Place>,
    /// Those of packages, by the first digits of their hashes.
    packages: BTreeMap<String, Place>,
}

/// The registers of a thread that stopped.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub stack: u64,
    pub pc: u64,
    pub link: u64,
}

impl Modules {
    /// Files that cannot be read say nothing.
    pub fn new(symbols: &[Symbols]) -> Modules {
        let mut known = BTreeMap::new();
        let (mut files, mut places) = (Vec::new(), Vec::new());
        let mut packages = BTreeMap::new();
        for Symbols { file, offset, owner } in symbols {
            let (file, code) = known.entry(file).or_insert_with(|| {
                files.push(Elf { path: file.clone(), module: None });
                (files.len() - 1, code(file).ok().flatten())
            });
            if let Some(code) = code {
                let code = code.start.wrapping_add(*offset)..code.end.wrapping_add(*offset);
                let place = Place { code, offset: *offset, file: *file };
                match owner.strip_prefix(PACKAGE) {
                    Some(hash) => _ = packages.insert(hash.to_owned(), place),
                    None => places.push(place),
                }
            }
        }
        Modules { files, places, packages }
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The file that has an address, and the address in it.
    fn find(&mut self, address: u64) -> Option<(&Module, u64)> {
        let place = self.places.iter().find(|place| place.code.contains(&address))?;
        self.files[place.file].at(place, address)
    }

    /// The functions at an offset in the image of a package.
    pub fn of_package(&mut self, hash: &str, offset: u64) -> Vec<String> {
        let place = self.packages.get(hash).filter(|place| place.code.contains(&offset));
        let found = place.and_then(|place| self.files[place.file].at(place, offset));
        let functions =
            found.map(|(module, address)| module.functions(address).unwrap_or_default());
        shown(functions.unwrap_or_default())
    }

    /// The functions at an address, the innermost first: the others are those into which it was compiled.
    fn functions(&mut self, address: u64) -> Vec<(String, String)> {
        let Some((module, address)) = self.find(address) else { return Vec::new() };
        module.functions(address).unwrap_or_default()
    }

    /// The functions of a call that returns to this address.
    pub fn calls(&mut self, back: u64) -> Vec<String> {
        shown(self.functions(back.wrapping_sub(1)))
    }

    /// The functions in which a thread was, by words of its stack: nobody believes one that the tables do not say
    /// is a return address.
    pub fn chain(&mut self, start: Start, words: &BTreeMap<u64, u64>) -> Vec<String> {
        let mut chain = vec![self.functions(start.pc)];
        let (mut pc, mut stack) = (start.pc, start.stack);
        let mut link = Some(start.link);
        for _ in 0..CHAIN_MAXIMUM {
            let Some((module, address)) = self.find(pc) else { break };
            let Some(caller) = module.caller(address, stack, link.take(), words) else {
                break;
            };
            stack = caller.stack;
            // The call is the instruction before, where unwinding goes on as well.
            pc = caller.back.wrapping_sub(1);
            chain.push(self.functions(pc));
        }
        let is_machinery = |functions: &Vec<(String, String)>| {
            let name = functions.last().map_or("", |(name, _)| name.trim_start_matches('<'));
            PANIC_MACHINERY.iter().any(|start| name.starts_with(start))
        };
        let from = chain.iter().position(|functions| !is_machinery(functions));
        shown(chain.split_off(from.unwrap_or(0)).concat())
    }
}

fn shown(functions: Vec<(String, String)>) -> Vec<String> {
    // The component's author chose both.
    let line = |(name, place)| Visible::text(&format!("in {name}, {place}")).to_string();
    functions.into_iter().map(line).collect()
}

/// Where a function was called.
struct Caller {
    back: u64,
    stack: u64,
}

/// The addresses of a file's code, without reading its tables.
pub(crate) fn code(file: &Path) -> Result<Option<Range<u64>>> {
    let bytes = std::fs::read(file)?;
    let elf = object::File::parse(&*bytes)?;
    let text = elf
        .section_by_name(".text")
        .map(|text| text.address()..text.address().saturating_add(text.size()));
    Ok(text)
}

/// The tables of a file by which calls are followed: of functions in Rust, of those in C, and where they lie.
pub(super) fn sections(file: &Path) -> Result<(EhFrame<Bytes>, DebugFrame<Bytes>, BaseAddresses)> {
    let bytes: &'static [u8] = std::fs::read(file)?.leak();
    let elf = object::File::parse(bytes)?;
    Ok(frames(&elf))
}

fn section(elf: &object::File<'static>, name: &str) -> Bytes {
    let data = elf.section_by_name(name).and_then(|section| section.data().ok());
    EndianSlice::new(data.unwrap_or_default(), LittleEndian)
}

fn frames(elf: &object::File<'static>) -> (EhFrame<Bytes>, DebugFrame<Bytes>, BaseAddresses) {
    let address = |name| elf.section_by_name(name).map_or(0, |section| section.address());
    let mut frames = EhFrame::from(section(elf, ".eh_frame"));
    frames.set_address_size(8);
    let mut debug_frames = DebugFrame::from(section(elf, ".debug_frame"));
    debug_frames.set_address_size(8);
    let bases =
        BaseAddresses::default().set_eh_frame(address(".eh_frame")).set_text(address(".text"));
    (frames, debug_frames, bases)
}

impl Module {
    fn read(file: &Path) -> Result<Module> {
        let bytes: &'static [u8] = std::fs::read(file)?.leak();
        let elf = object::File::parse(bytes)?;
        let dwarf = gimli::Dwarf::load(|id| Ok::<_, gimli::Error>(section(&elf, id.name())))?;
        let (frames, debug_frames, bases) = frames(&elf);
        let functions = elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
        let named = functions
            .filter_map(|symbol| Some(SymbolMapName::new(symbol.address(), symbol.name().ok()?)));
        Ok(Module {
            context: Context::from_dwarf(dwarf)?,
            symbols: SymbolMap::new(named.collect()),
            frames,
            debug_frames,
            bases,
        })
    }

    /// The functions at an address, the innermost first, and where in them.
    fn functions(&self, address: u64) -> Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        let mut frames = self.context.find_frames(address).skip_all_loads()?;
        while let Some(frame) = frames.next()? {
            let name = match &frame.function {
                Some(name) => name.demangle()?.into_owned(),
                None => "a function without a name".to_owned(),
            };
            found.push((name, frame.location.as_ref().map_or("?".to_owned(), line)));
        }
        if let (Some(symbol), Some((name, _))) = (self.symbols.get(address), found.last_mut()) {
            *name = format!("{:#}", rustc_demangle::demangle(symbol.name()));
        }
        Ok(found)
    }

    /// Where the function at `address` was called, whose stack pointer is this; `link` is what the register holds, if
    /// no function was called since.
    fn caller(
        &self,
        address: u64,
        stack: u64,
        link: Option<u64>,
        words: &BTreeMap<u64, u64>,
    ) -> Option<Caller> {
        let (size, place) = size(&self.frames, &self.bases, address)
            .or_else(|| size(&self.debug_frames, &self.bases, address))?;
        let frame = stack.wrapping_add_signed(size);
        let back = match place {
            Some(offset) => *words.get(&frame.wrapping_add_signed(offset))?,
            None => link?,
        };
        Some(Caller { back, stack: frame })
    }
}

/// The size of a function's frame at an address, and from its end the place of the address to which it returns, if it has left
/// the register.
fn size<S: UnwindSection<Bytes>>(
    section: &S,
    bases: &BaseAddresses,
    address: u64,
) -> Option<(i64, Option<i64>)> {
    let mut context = UnwindContext::new();
    let function = section.fde_for_address(bases, address, S::cie_from_offset).ok()?;
    let mut rows = function.rows(section, bases, &mut context).ok()?;
    // A function that goes by another register has a frame as large as before.
    let (mut size, mut place) = (0, None);
    while let Some(row) = rows.next_row().ok()?.filter(|row| row.start_address() <= address) {
        if let CfaRule::RegisterAndOffset { register: STACK, offset } = row.cfa() {
            size = *offset;
        }
        place = match row.register(RETURN) {
            Some(RegisterRule::Offset(offset)) => Some(offset),
            _ => None,
        };
    }
    Some((size, place))
}

/// A file with line and column.
fn line(location: &Location<'_>) -> String {
    let mut line = location.file.map_or("?".to_owned(), |file| paths::shown(Path::new(file)));
    for number in [location.line, location.column].into_iter().flatten() {
        line += &format!(":{number}");
    }
    line
}
