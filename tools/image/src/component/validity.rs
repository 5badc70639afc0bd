//! What a component's file says of itself is checked before anything is done with it: whoever wrote it may want the
//! host tool to fail, or the tables that it makes to show something else on people's terminals.

use super::{Component, Interface, Rights, Segment};
use cairn_abi::address::{DEVICES_OFFSET, IMAGE_OFFSET};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::text::Visible;

/// Refuses names that are none, and addresses that the component does not have.
pub(super) fn check(component: &Component) -> Result<(), String> {
    check_name("the component", &component.name)?;
    for import in &component.imports {
        check_name("an import", &import.name)?;
        check_interface(&import.interface)?;
    }
    for export in &component.exports {
        check_name("an export", &export.name)?;
        check_interface(&export.interface)?;
        for method in &export.interface.methods {
            check_code(component, &method.name, method.entry)?;
        }
    }
    check_code(component, "the return stub", component.stub)?;
    component.main.map_or(Ok(()), |main| check_code(component, "the main function", main))
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

fn check_code(component: &Component, what: &str, entry: u64) -> Result<(), String> {
    let is_in = |segment: &Segment| {
        segment.rights == Rights::Code
            && (segment.offset..segment.offset + segment.bytes.len() as u64).contains(&entry)
    };
    match component.segments.iter().any(is_in) {
        true => Ok(()),
        false if entry == 0 => Err(format!(
            "no function for `{what}`; in C, an export's `.entries` come from its header's macro ..._ENTRIES"
        )),
        false => Err(format!("`{what}` begins at {entry:#x}, where the component has no code")),
    }
}

/// The addresses of a section: inside what an instance's region has for its image.
pub(super) fn check_section(name: &str, address: u64, size: u64) -> Result<(), String> {
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
    use crate::component::{Export, Method};

    fn component() -> Component {
        let method =
            Method { name: "add".into(), letters: "cii".into(), value: 1, entry: 0x1_0010 };
        let interface = Interface { name: "Echo".into(), version: 1, methods: vec![method] };
        Component {
            name: "greeter".into(),
            main: None,
            stub: 0x1_0000,
            segments: vec![Segment {
                offset: 0x1_0000,
                bytes: vec![0; 4096],
                rights: Rights::Code,
            }],
            relocations: Vec::new(),
            imports: Vec::new(),
            exports: vec![Export { name: "echo".into(), is_object: false, interface }],
            symbols: Vec::new(),
        }
    }

    fn refusal(change: impl Fn(&mut Component)) -> String {
        let mut component = component();
        change(&mut component);
        check(&component).expect_err("a bad component")
    }

    #[test]
    fn names_are_printable_and_fit() {
        assert_eq!(check(&component()), Ok(()));
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
            refusal(|component| component.stub = entry);
            refusal(|component| component.main = Some(entry));
        }
        refusal(|component| component.segments[0].rights = Rights::Data);
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
