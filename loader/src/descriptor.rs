//! What a component says of itself: the section `.cairn`, a [`ComponentDescriptor`].

use crate::interface_text::{self, InterfaceText, TypeText, VariantText};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn_abi::descriptor::{
    ARGUMENT_ENUM, ARGUMENTS_MAXIMUM, ArgumentDescriptor, ComponentDescriptor, EXPORTS_MAXIMUM,
    ExportDescriptor, IMPORTS_MAXIMUM, ImportDescriptor, InterfaceDescriptor, LETTERS_SIZE, MAGIC,
    METHODS_MAXIMUM, MethodDescriptor, NAME_SIZE,
};
use core::mem::{offset_of, size_of};

/// A method with its place in the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// The letters of its parameters.
    pub letters: String,
    /// Kind of its value.
    pub value: u32,
    /// Entry point, as linked; zero in an import.
    pub entry: u64,
}

/// An interface as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The trait's name.
    pub name: String,
    /// The hash over its signatures.
    pub version: u64,
    /// Its methods, in order.
    pub methods: Vec<Method>,
}

/// An interface that a component calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The component's name of it.
    pub name: String,
    /// Index of the first portal.
    pub first_portal: usize,
    /// It is marked `#[minimal]`: its proxy saves all registers itself.
    pub is_minimal: bool,
    /// A description may leave it out.
    pub is_optional: bool,
    /// Interface.
    pub interface: Interface,
}

/// An interface that a component serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The component's name of it.
    pub name: String,
    /// An object interface: made by a method's return, never opened by name.
    pub is_object: bool,
    /// Interface.
    pub interface: Interface,
}

/// What a component says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Name.
    pub name: String,
    /// The first thread's entry as linked, if it has one.
    pub main: Option<u64>,
    /// It serves from when it says so.
    pub says_ready: bool,
    /// What it calls.
    pub imports: Vec<Import>,
    /// What it serves.
    pub exports: Vec<Export>,
    /// What its instances are given.
    pub arguments: Vec<Argument>,
    /// What people call the parts of the interfaces that it serves, if the file says it.
    pub texts: Vec<InterfaceText>,
    /// It has thread-local variables: its threads have the thread pointer for them. The file says so beside the descriptor.
    pub is_thread_local: bool,
}

/// An argument of a component's instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// One of the `ARGUMENT_*` kinds.
    pub kind: u32,
    /// What it is if a description leaves it out.
    pub default: Option<u64>,
    /// The variants of an enum.
    pub variants: Vec<VariantText>,
}

impl Descriptor {
    /// Reads the section `.cairn`, whose pointers are filled in.
    pub(crate) fn read(section: &[u8]) -> Result<Descriptor, String> {
        let is_mark = |chunk: &[u8]| chunk == MAGIC.to_le_bytes();
        let mark = section.chunks_exact(8).position(is_mark);
        let start = mark.ok_or("the component descriptor has no mark")? * 8;
        let bytes = section.get(start..start + size_of::<ComponentDescriptor>());
        let component = Record(bytes.ok_or("the component descriptor is cut off")?);
        let version = component.half(offset_of!(ComponentDescriptor, abi_version));
        if version != cairn_abi::VERSION {
            return Err(format!(
                "made for version {version} of the binary interface, this is version {}; build it again",
                cairn_abi::VERSION
            ));
        }
        let mut texts =
            interface_text::find(section).and_then(interface_text::read).unwrap_or_default();
        let main = component.word(offset_of!(ComponentDescriptor, main));
        Ok(Descriptor {
            name: component.text(offset_of!(ComponentDescriptor, name), NAME_SIZE),
            main: (main != 0).then_some(main),
            says_ready: component.half(offset_of!(ComponentDescriptor, says_ready)) != 0,
            imports: component
                .records::<ImportDescriptor>(
                    "imports",
                    offset_of!(ComponentDescriptor, import_count),
                    offset_of!(ComponentDescriptor, imports),
                    IMPORTS_MAXIMUM,
                )?
                .map(import)
                .collect::<Result<_, String>>()?,
            exports: component
                .records::<ExportDescriptor>(
                    "exports",
                    offset_of!(ComponentDescriptor, export_count),
                    offset_of!(ComponentDescriptor, exports),
                    EXPORTS_MAXIMUM,
                )?
                .map(export)
                .collect::<Result<_, String>>()?,
            arguments: (0..ARGUMENTS_MAXIMUM)
                .map(|place| {
                    let entries = offset_of!(ComponentDescriptor, arguments);
                    component.at(entries + place * size_of::<ArgumentDescriptor>())
                })
                .take_while(|record| record.half(offset_of!(ArgumentDescriptor, kind)) != 0)
                .map(|record| argument(&record, &mut texts.arguments))
                .collect::<Result<_, String>>()?,
            texts: texts.interfaces,
            // Said by `thread_local.rs`.
            is_thread_local: false,
        })
    }
}

fn argument(record: &Record, enums: &mut [(String, TypeText)]) -> Result<Argument, String> {
    let has_default = record.half(offset_of!(ArgumentDescriptor, has_default)) != 0;
    let name = record.text(offset_of!(ArgumentDescriptor, name), NAME_SIZE);
    let kind = record.half(offset_of!(ArgumentDescriptor, kind));
    let variants = match enums.iter_mut().find(|one| kind == ARGUMENT_ENUM && one.0 == name) {
        Some((_, of)) => core::mem::take(&mut of.variants),
        None => Vec::new(),
    };
    if kind == ARGUMENT_ENUM && variants.is_empty() {
        return Err(format!("nothing says which variants the argument `{name}` has"));
    }
    let default = has_default.then(|| record.word(offset_of!(ArgumentDescriptor, default)));
    Ok(Argument { name, kind, default, variants })
}

fn import(record: Record) -> Result<Import, String> {
    let at = offset_of!(ImportDescriptor, interface);
    Ok(Import {
        name: record.text(offset_of!(ImportDescriptor, name), NAME_SIZE),
        first_portal: record.half(offset_of!(ImportDescriptor, first_portal)) as usize,
        is_minimal: record.quarter(offset_of!(ImportDescriptor, minimal)) != 0,
        is_optional: record.quarter(offset_of!(ImportDescriptor, optional)) != 0,
        interface: interface("methods in an import", &record.at(at), None)?,
    })
}

fn export(record: Record) -> Result<Export, String> {
    let at = offset_of!(ExportDescriptor, interface);
    let entries = record.at(offset_of!(ExportDescriptor, entries));
    Ok(Export {
        name: record.text(offset_of!(ExportDescriptor, name), NAME_SIZE),
        is_object: record.half(offset_of!(ExportDescriptor, is_object)) == 1,
        interface: interface("methods in an export", &record.at(at), Some(entries))?,
    })
}

impl Interface {
    /// Reads an [`InterfaceDescriptor`], for whose size the bytes are enough.
    pub(crate) fn read(
        descriptor: &[u8; size_of::<InterfaceDescriptor>()],
    ) -> Result<Interface, String> {
        interface("methods in an interface", &Record(descriptor), None)
    }
}

fn interface(what: &str, record: &Record, entries: Option<Record>) -> Result<Interface, String> {
    let methods = record.records::<MethodDescriptor>(
        what,
        offset_of!(InterfaceDescriptor, method_count),
        offset_of!(InterfaceDescriptor, methods),
        METHODS_MAXIMUM,
    )?;
    let method = |(index, method): (usize, Record)| Method {
        name: method.text(offset_of!(MethodDescriptor, name), NAME_SIZE),
        letters: method.text(offset_of!(MethodDescriptor, letters), LETTERS_SIZE),
        value: method.half(offset_of!(MethodDescriptor, value)),
        entry: entries.as_ref().map_or(0, |entries| entries.word(index * 8)),
    };
    Ok(Interface {
        name: record.text(offset_of!(InterfaceDescriptor, name), NAME_SIZE),
        version: record.word(offset_of!(InterfaceDescriptor, version)),
        methods: methods.enumerate().map(method).collect(),
    })
}

/// A `repr(C)` structure of [`cairn_abi::descriptor`], which is the same on host and target: pointers have eight
/// bytes on both. Offsets are constants below its size.
#[derive(Clone, Copy)]
struct Record<'section>(&'section [u8]);

impl<'section> Record<'section> {
    fn at(&self, offset: usize) -> Record<'section> {
        Record(&self.0[offset..])
    }

    fn word(&self, offset: usize) -> u64 {
        self.at(offset).0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn half(&self, offset: usize) -> u32 {
        self.at(offset).0.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn quarter(&self, offset: usize) -> u16 {
        self.at(offset).0.first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes))
    }

    fn text(&self, offset: usize, size: usize) -> String {
        let bytes = &self.0[offset..offset + size];
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(size);
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// The used entries of an array of `T` at `array`; their number is at `count`. C does not check that they fit.
    fn records<T>(
        &self,
        what: &str,
        count: usize,
        array: usize,
        maximum: usize,
    ) -> Result<impl Iterator<Item = Record<'section>> + use<'section, T>, String> {
        let count = self.half(count) as usize;
        if count > maximum {
            let problem = format!("{count} {what}, expected at most {maximum}");
            return Err("the component descriptor has ".to_owned() + &problem);
        }
        Ok(self.at(array).0.chunks_exact(size_of::<T>()).take(count).map(Record))
    }
}
