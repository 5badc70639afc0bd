//! The header of the example interface, and C components that use headers.

use cairn_abi::descriptor::{
    ComponentDescriptor, ExportDescriptor, ImportDescriptor, InterfaceDescriptor, MAGIC,
    MethodDescriptor, VALUE_BOOL, VALUE_NONE, VALUE_OBJECT, VALUE_SIGNED, VALUE_UNSIGNED,
    VALUE_WORDS, name_text,
};
use cairn_abi::interface_text::{InterfaceText, Texts, length};
use cairn_app_interfaces::EchoProxy;
use cairn_driver_interfaces::I2cProxy;
use cairn_headers::{ABI_FILE, abi, header};
use cairn_loader::interface_text::read;
use cairn_loader::{Interface, Method};
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn interface(name: &str, version: u64, methods: &[(&str, &str, u32)]) -> Interface {
    let method = |(name, letters, value): &(&str, &str, u32)| Method {
        name: (*name).to_owned(),
        letters: (*letters).to_owned(),
        value: *value,
        entry: 0,
    };
    Interface { name: name.to_owned(), version, methods: methods.iter().map(method).collect() }
}

/// An interface with every letter and every kind of value.
fn everything() -> Interface {
    interface(
        "BlockDevice",
        1,
        &[
            ("words", "ciiiiiii", VALUE_SIGNED),
            ("bytes", "crwr", VALUE_BOOL),
            ("context", "c=ath", VALUE_SIGNED),
            ("object", "caii", VALUE_OBJECT),
            ("packed", "ci4", VALUE_WORDS),
            ("nothing", "cw", VALUE_NONE),
        ],
    )
}

const TEXTS: &[InterfaceText] = &[EchoProxy::TEXT, I2cProxy::TEXT];

/// The header of an interface, as the tool makes it of what the crate says.
fn of_interface(of: &InterfaceDescriptor, text: InterfaceText) -> String {
    static LINES: Texts<{ length(TEXTS, &[]) }> = Texts::new(TEXTS, &[]);
    let texts = read(std::str::from_utf8(LINES.bytes()).unwrap()).unwrap();
    let text = texts.interfaces.iter().find(|one| one.name == text.name);
    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
    let methods = of.methods[..of.method_count as usize].iter();
    let methods: Vec<_> =
        methods.map(|one| (plain(&one.name), plain(&one.letters), one.value)).collect();
    let methods: Vec<_> =
        methods.iter().map(|(name, letters, value)| (&**name, &**letters, *value)).collect();
    header(&interface(name_text(&of.name), of.version, &methods), text).unwrap()
}

#[test]
fn headers_are_as_they_were() {
    for (file, made) in [
        ("echo.h", of_interface(&EchoProxy::DESCRIPTOR, TEXTS[0])),
        ("i2c.h", of_interface(&I2cProxy::DESCRIPTOR, TEXTS[1])),
        ("block_device.h", header(&everything(), None).unwrap()),
        (ABI_FILE, abi()),
    ] {
        let path = folder().join("tests/golden").join(file);
        if std::env::var_os("GOLDEN_OVERWRITE").is_some() {
            fs::write(&path, &made).unwrap();
        }
        let golden = fs::read_to_string(&path).unwrap();
        assert_eq!(
            made,
            golden,
            "{}: run with GOLDEN_OVERWRITE=1 if the change is meant",
            path.display()
        );
    }
}

/// The table of types in the document has what headers have.
#[test]
fn the_document_has_the_types_of_values() {
    let document = fs::read_to_string(folder().join("../../docs/c-components.md")).unwrap();
    for (of, letters, kind) in [
        ("unsigned integers", "ci", VALUE_UNSIGNED),
        ("signed integers", "ci", VALUE_SIGNED),
        ("`bool`", "ci", VALUE_BOOL),
        ("an enum", "ci", VALUE_WORDS),
        ("a struct", "ci2", VALUE_WORDS),
    ] {
        let made = header(&interface("Kind", 1, &[("method", letters, kind)]), None).unwrap();
        let caller = made.lines().find(|line| line.contains(" kind_method(")).unwrap();
        let parameters: Vec<&str> = caller.trim_end_matches(')').split(", ").skip(1).collect();
        let row = document.lines().find(|line| line.starts_with(&format!("| {of} |"))).expect(of);
        let code = |cell: &str| cell.split('`').nth(1).unwrap_or_default().replace("[N]", "[2]");
        let cells: Vec<String> = row.split('|').skip(2).map(code).collect();
        assert_eq!(parameters, [format!("{} word1", cells[0]), cells[1].clone()], "{row}");
    }
}

/// Compiles a C source, warnings are errors, and returns the object file.
fn compile(source: &str, output: &str) -> PathBuf {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(output);
    let status = Command::new("riscv64-unknown-elf-gcc")
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-march=rv64imac", "-mabi=lp64", "-fPIE", "-c"])
        .args(["--specs=picolibc.specs", "-I"])
        .arg(folder().join("../../lib/c"))
        .arg("-I")
        .arg(folder().join("tests/golden"))
        .arg(folder().join("tests").join(source))
        .arg("-o")
        .arg(&output)
        .status()
        .expect("riscv64-unknown-elf-gcc: install gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf");
    assert!(status.success(), "{source} does not compile");
    output
}

fn word(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(bytes[offset..offset + 8].try_into().unwrap())
}

fn half(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap())
}

fn text(bytes: &[u8], offset: usize) -> &str {
    std::str::from_utf8(bytes[offset..].split(|byte| *byte == 0).next().unwrap()).unwrap()
}

/// Other modules' enums, of the same names.
mod other {
    #[derive(Clone, Copy, Debug, cairn::Wire)]
    pub enum Mode {
        Off = 1,
        On = 2,
    }
    pub mod r#type {
        #[derive(Clone, Copy, Debug, cairn::Wire)]
        pub enum Mode {
            r#Loop = 1,
        }
    }
}

#[cairn::interface]
pub trait Lamp {
    fn r#match(&self, r#type: other::Mode) -> Result<other::Mode, cairn::Error>;
}

#[cairn::interface]
pub trait Lamps {
    fn set(&self, mode: other::Mode) -> Result<other::r#type::Mode, cairn::Error>;
}

fn text_of(text: &InterfaceText) -> cairn_loader::interface_text::InterfaceText {
    static LINES: Texts<{ length(OTHERS, &[]) }> = Texts::new(OTHERS, &[]);
    let texts = read(std::str::from_utf8(LINES.bytes()).unwrap()).unwrap();
    texts.interfaces.into_iter().find(|one| one.name == text.name).unwrap()
}

const OTHERS: &[InterfaceText] = &[LampProxy::TEXT, LampsProxy::TEXT];

#[test]
fn words_of_rust_are_names_in_c() {
    let text = text_of(&OTHERS[0]);
    let made = header(&interface("Lamp", 1, &[("match", "ci", VALUE_UNSIGNED)]), Some(&text));
    let made = made.unwrap();
    assert!(!made.to_lowercase().contains("r#match") && !made.contains("r#type"), "{made}");
    assert!(made.contains("lamp_match(uint32_t first_portal, uint64_t type, "), "{made}");
    assert_eq!(name_text(&LampProxy::DESCRIPTOR.methods[0].name), "match");
}

#[test]
fn enums_that_c_cannot_tell_apart_are_refused() {
    let text = text_of(&OTHERS[1]);
    let error = header(&interface("Lamps", 1, &[("set", "ci", VALUE_UNSIGNED)]), Some(&text));
    let error = error.unwrap_err();
    assert!(
        error.contains("called LAMPS_MODE_* in C: one with 1=Off,2=On, the other with 1=Loop;"),
        "{error}"
    );
}

#[test]
fn a_component_in_c_has_the_same_descriptor() {
    let object = compile("greeter.c", "greeter.o");
    let raw = object.with_extension("bin");
    let status = Command::new("riscv64-unknown-elf-objcopy")
        .args(["-O", "binary", "--only-section=.data.rel.ro.CAIRN_COMPONENT"])
        .args([&object, &raw])
        .status()
        .unwrap();
    assert!(status.success());
    let bytes = fs::read(&raw).unwrap();
    assert_eq!(bytes.len(), size_of::<ComponentDescriptor>());
    assert_eq!(word(&bytes, offset_of!(ComponentDescriptor, magic)), MAGIC);
    assert_eq!(half(&bytes, offset_of!(ComponentDescriptor, abi_version)), cairn_abi::VERSION);
    assert_eq!(half(&bytes, offset_of!(ComponentDescriptor, import_count)), 2);
    assert_eq!(half(&bytes, offset_of!(ComponentDescriptor, export_count)), 1);
    assert_eq!(text(&bytes, offset_of!(ComponentDescriptor, name)), "greeter");

    let second = offset_of!(ComponentDescriptor, imports) + size_of::<ImportDescriptor>();
    assert_eq!(text(&bytes, second + offset_of!(ImportDescriptor, name)), "disk");
    assert_eq!(
        half(&bytes, second + offset_of!(ImportDescriptor, first_portal)),
        16 + EchoProxy::METHODS
    );

    let export = offset_of!(ComponentDescriptor, exports);
    assert_eq!(text(&bytes, export + offset_of!(ExportDescriptor, name)), "echo");
    assert_eq!(half(&bytes, export + offset_of!(ExportDescriptor, is_object)), 0);
    for interface in [
        offset_of!(ComponentDescriptor, imports) + offset_of!(ImportDescriptor, interface),
        export + offset_of!(ExportDescriptor, interface),
    ] {
        let descriptor = EchoProxy::DESCRIPTOR;
        assert_eq!(text(&bytes, interface + offset_of!(InterfaceDescriptor, name)), "Echo");
        assert_eq!(
            word(&bytes, interface + offset_of!(InterfaceDescriptor, version)),
            descriptor.version
        );
        assert_eq!(
            half(&bytes, interface + offset_of!(InterfaceDescriptor, method_count)),
            descriptor.method_count
        );
        for (number, method) in descriptor.methods.iter().enumerate() {
            let at = interface
                + offset_of!(InterfaceDescriptor, methods)
                + number * size_of::<MethodDescriptor>();
            let letters = at + offset_of!(MethodDescriptor, letters);
            assert_eq!(bytes[at..at + 32], method.name);
            assert_eq!(bytes[letters..letters + 12], method.letters);
            assert_eq!(half(&bytes, at + offset_of!(MethodDescriptor, value)), method.value);
        }
    }
}
