//! The rules for what a file says: its author may want the reader to fail, or its names to do something on a terminal.

use crate::component::Relocation;
use crate::descriptor::{Descriptor, Interface};
use crate::segment::{Rights, Segment};
use alloc::format;
use alloc::string::String;
use cairn_abi::address::{DEVICES_OFFSET, IMAGE_OFFSET};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::text::Visible;

/// Refuses names that are none, and addresses of code that the component does not have.
pub(crate) fn check(
    descriptor: &Descriptor,
    segments: &[Segment],
    stub: u64,
) -> Result<(), String> {
    check_name("the component", &descriptor.name)?;
    for import in &descriptor.imports {
        check_name("an import", &import.name)?;
        check_interface(&import.interface)?;
    }
    for export in &descriptor.exports {
        check_name("an export", &export.name)?;
        check_interface(&export.interface)?;
        for method in &export.interface.methods {
            check_code(segments, &method.name, method.entry)?;
        }
    }
    check_code(segments, "the return stub", stub)?;
    descriptor.main.map_or(Ok(()), |main| check_code(segments, "the main function", main))
}

/// Refuses words that are not whole in one segment.
pub(crate) fn check_relocations(
    relocations: &[Relocation],
    segments: &[Segment],
) -> Result<(), String> {
    for Relocation { offset, .. } in relocations {
        let has_word = |segment: &Segment| {
            segment.range().contains(offset) && segment.range().end - offset >= 8
        };
        match segments.iter().find(|segment| has_word(segment)) {
            Some(segment) if segment.rights == Rights::Code => {
                return Err(format!(
                    "relocation at {offset:#x} in machine code, which would not be the code that was checked for calls"
                ));
            }
            Some(_) => {}
            None => return Err(format!("relocation at {offset:#x} outside every segment")),
        }
    }
    Ok(())
}

/// Names are shown everywhere, and kept with a zero behind.
fn check_name(what: &str, name: &str) -> Result<(), String> {
    let good = name.bytes().all(|byte| byte.is_ascii_graphic());
    match good && !name.is_empty() && name.len() < NAME_SIZE {
        true => Ok(()),
        false => Err(format!(
            "the name of {what} is \"{}\", expected 1 to {} printable characters of ASCII without spaces",
            Visible::text(name),
            NAME_SIZE - 1
        )),
    }
}

fn check_interface(interface: &Interface) -> Result<(), String> {
    check_name("an interface", &interface.name)?;
    for method in &interface.methods {
        check_name("a method", &method.name)?;
        if !method.letters.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("the letters of `{}` are not printable", method.name));
        }
    }
    Ok(())
}

fn check_code(segments: &[Segment], what: &str, entry: u64) -> Result<(), String> {
    let is_in =
        |segment: &Segment| segment.rights == Rights::Code && segment.range().contains(&entry);
    match segments.iter().any(is_in) {
        true => Ok(()),
        false if entry == 0 => Err(format!(
            "no function for `{what}`; in C, an export's `.entries` come from its header's macro ..._ENTRIES"
        )),
        false => Err(format!("`{what}` begins at {entry:#x}, where the component has no code")),
    }
}

/// The addresses of a section: inside what an instance's region has for its image.
pub(crate) fn check_section(name: &str, address: u64, size: u64) -> Result<(), String> {
    let end = address.checked_add(size).filter(|end| *end <= DEVICES_OFFSET);
    match end.is_some() && address >= IMAGE_OFFSET {
        true => Ok(()),
        false => Err(format!(
            "section `{}` lies at {address:#x} and has {size:#x} bytes, expected them from {IMAGE_OFFSET:#x} to \
             {DEVICES_OFFSET:#x}; use component.ld as it is",
            Visible::text(name)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::{Export, Method};
    use alloc::borrow::ToOwned;
    use alloc::vec;

    fn segment(rights: Rights) -> Segment {
        Segment { offset: 0x1_0000, size: 4096, rights, content_at: 0, content: 0..0 }
    }

    fn descriptor() -> Descriptor {
        let method =
            Method { name: "add".into(), letters: "cii".into(), value: 1, entry: 0x1_0010 };
        let interface = Interface { name: "Echo".into(), version: 1, methods: vec![method] };
        Descriptor {
            name: "greeter".into(),
            exports: vec![Export { name: "echo".into(), is_object: false, interface }],
            ..Descriptor::default()
        }
    }

    fn check_with(change: impl Fn(&mut Descriptor)) -> Result<(), String> {
        let mut descriptor = descriptor();
        change(&mut descriptor);
        check(&descriptor, &[segment(Rights::Code)], 0x1_0000)
    }

    fn refusal(change: impl Fn(&mut Descriptor)) -> String {
        check_with(change).expect_err("a bad component")
    }

    #[test]
    fn a_relocation_is_not_in_machine_code() {
        let behind = |rights| Segment { offset: 0x1_1000, ..segment(rights) };
        let check = |offset, rights| {
            let relocations = [Relocation { offset, target: 0x73 }];
            check_relocations(&relocations, &[segment(Rights::Code), behind(rights)])
        };
        for offset in [0x1_0000, 0x1_0004, 0x1_0ff8] {
            let error = check(offset, Rights::Constants).unwrap_err();
            assert!(error.contains("in machine code"), "{offset:#x}: {error}");
        }
        for rights in [Rights::Constants, Rights::Data] {
            assert_eq!(check(0x1_1000, rights), Ok(()));
        }
    }

    #[test]
    fn names_are_printable_and_fit() {
        assert_eq!(check_with(|_| {}), Ok(()));
        let expected = "the name of the component is \"a\\u{1b}[2J\", expected 1 to 31 printable characters of ASCII \
                        without spaces";
        assert_eq!(refusal(|component| component.name = "a\x1b[2J".into()), expected);
        for name in ["", "two words", "caf\u{e9}", "\u{9b}2J", "\u{fffd}", &"x".repeat(32)] {
            refusal(|component| component.name = name.into());
            refusal(|component| component.exports[0].name = name.into());
            refusal(|component| component.exports[0].interface.name = name.into());
            refusal(|component| component.exports[0].interface.methods[0].name = name.into());
        }
        refusal(|component| component.exports[0].interface.methods[0].letters = "c\x1b".into());
    }

    #[test]
    fn entry_points_are_in_the_components_code() {
        for entry in [0, 0xfffe, 0x1_1000, u64::MAX] {
            let message =
                refusal(|component| component.exports[0].interface.methods[0].entry = entry);
            let expected = match entry {
                0 => "no function for `add`; in C, ".to_owned(),
                _ => format!("`add` begins at {entry:#x}, where the component has no code"),
            };
            assert!(message.starts_with(&expected), "{message}");
            refusal(|component| component.main = Some(entry));
            assert!(check(&descriptor(), &[segment(Rights::Code)], entry).is_err());
        }
        assert!(check(&descriptor(), &[segment(Rights::Data)], 0x1_0000).is_err());
    }

    #[test]
    fn relocated_words_lie_whole_in_a_segment() {
        let segments = [segment(Rights::Constants)];
        let at = |offset| check_relocations(&[Relocation { offset, target: 0 }], &segments);
        assert!(at(0x1_0000).is_ok() && at(0x1_0ff8).is_ok());
        for offset in [0, 0xfffc, 0x1_0ff9, 0x1_1000, u64::MAX] {
            assert!(at(offset).is_err(), "{offset:#x}");
        }
    }

    #[test]
    fn sections_lie_where_images_do() {
        assert!(check_section(".text", 0x1_0000, 0x1000).is_ok());
        for (address, size) in
            [(0, 0x1000), (0x1_0000, u64::MAX), (u64::MAX, 1), (0x1_0000, DEVICES_OFFSET)]
        {
            assert!(check_section(".bss", address, size).is_err(), "{address:#x} {size:#x}");
        }
    }
}
