//! The interfaces that a crate declares, from an object file of its own: what `#[cairn::interface]` leaves there.

use crate::descriptor::Interface;
use crate::interface_text::{self, InterfaceText};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use object::{Object, ObjectSection, ObjectSymbol};

/// Part of the symbol of each descriptor, as the macro calls it.
const DESCRIPTOR: &str = "CAIRN_INTERFACE_DESCRIPTOR";
/// The same of what people call its parts.
const TEXT: &str = "CAIRN_INTERFACE_TEXT";

/// An interface with what people call its parts.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The interface.
    pub interface: Interface,
    /// What people call its parts.
    pub text: Option<InterfaceText>,
}

/// The interfaces that an object file declares.
pub fn declared(object: &[u8]) -> Result<Vec<Declared>, String> {
    let elf = object::File::parse(object).map_err(|error| format!("no object file: {error}"))?;
    let marked = |mark: &'static str| {
        let is_marked =
            move |symbol: &object::Symbol| symbol.name().is_ok_and(|name| name.contains(mark));
        elf.symbols().filter(is_marked).map(|symbol| data(&elf, &symbol))
    };
    let mut texts = Vec::new();
    for bytes in marked(TEXT) {
        let lines = interface_text::find(bytes?);
        texts.extend(lines.and_then(interface_text::read).unwrap_or_default().interfaces);
    }
    let declared = marked(DESCRIPTOR).map(|bytes| {
        let descriptor = bytes?.first_chunk().ok_or("an interface's descriptor is cut off")?;
        let interface = Interface::read(descriptor)?;
        let is_own = |text: &&InterfaceText| {
            (&text.name, text.version) == (&interface.name, interface.version)
        };
        let text = texts.iter().find(is_own).cloned();
        Ok(Declared { interface, text })
    });
    declared.collect()
}

/// What a symbol names, plain data without a relocation, and what is behind it.
fn data<'data>(
    elf: &object::File<'data>,
    symbol: &object::Symbol<'data, '_>,
) -> Result<&'data [u8], String> {
    let outside = || format!("`{}` is outside its section", symbol.name().unwrap_or("?"));
    let section = symbol.section_index().ok_or_else(outside)?;
    let section = elf.section_by_index(section).map_err(|error| error.to_string())?;
    let bytes = section.data().map_err(|error| error.to_string())?;
    let at = symbol.address().checked_sub(section.address()).ok_or_else(outside)?;
    usize::try_from(at).ok().and_then(|at| bytes.get(at..)).ok_or_else(outside)
}
