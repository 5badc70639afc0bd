//! What people call the parts of an interface, and what it says of them: for C headers, and for a shell that shows an error by
//! its name. It stands beside the [descriptor](crate::descriptor), in no component's memory.
//!
//! The macros make the constants. In a component's file they are lines of text (`cairn-loader` reads them):
//!
//! ```text
//! interface NAME VERSION      what follows is about it; VERSION in hexadecimal digits
//! /TEXT                       a line of the documentation of what the line before began
//! method NAME
//! parameter NAME              one line or more behind it say its type
//! value                       so of the value
//! error                       so of the error
//! type NAME                   a type without parts
//! struct NAME, enum NAME, tuple   up to `end`:
//! field NAME                  a part of a struct; its type follows
//! variant NAME CODE           of an enum
//! argument NAME               of the component, behind all interfaces; its type, an enum, follows
//! ```

/// First word of a component's texts: "CAIRNTXT".
pub const MAGIC: u64 = u64::from_le_bytes(*b"CAIRNTXT");

/// An interface.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceText {
    /// The trait's name.
    pub name: &'static str,
    /// Its version.
    pub version: u64,
    /// Its documentation.
    pub documentation: &'static str,
    /// Its methods, in order.
    pub methods: &'static [MethodText],
}

/// A method.
#[derive(Clone, Copy, Debug)]
pub struct MethodText {
    /// Its name.
    pub name: &'static str,
    /// Its documentation.
    pub documentation: &'static str,
    /// Its parameters, those that a portal fills in among them.
    pub parameters: &'static [(&'static str, TypeText)],
    /// Its value.
    pub value: TypeText,
    /// Its error.
    pub error: TypeText,
}

/// A type that crosses portals.
#[derive(Clone, Copy, Debug)]
pub enum TypeText {
    /// One without parts.
    Plain(&'static str),
    /// A struct: its name, documentation, and fields.
    Struct(&'static str, &'static str, &'static [FieldText]),
    /// An enum, or a method's own errors: its name, documentation, and variants.
    Enum(&'static str, &'static str, &'static [VariantText]),
    /// A tuple.
    Tuple(&'static [TypeText]),
}

/// A field of a struct.
#[derive(Clone, Copy, Debug)]
pub struct FieldText {
    /// Its name, or its place.
    pub name: &'static str,
    /// Its documentation.
    pub documentation: &'static str,
    /// Its type.
    pub of: TypeText,
}

/// A variant of an enum.
#[derive(Clone, Copy, Debug)]
pub struct VariantText {
    /// Its name.
    pub name: &'static str,
    /// Its documentation.
    pub documentation: &'static str,
    /// The word that stands for it.
    pub code: i64,
}

/// The lines about several interfaces, and about arguments of the component that are enums, as a component's file has them.
#[repr(C)]
pub struct Texts<const LENGTH: usize> {
    magic: u64,
    length: u64,
    bytes: [u8; LENGTH],
}

impl<const LENGTH: usize> Texts<LENGTH> {
    /// `LENGTH` is [`length`] of the same.
    pub const fn new(interfaces: &[InterfaceText], arguments: &[(&str, TypeText)]) -> Self {
        let mut lines = Lines { bytes: [0; LENGTH], length: 0 };
        lines.all(interfaces, arguments);
        assert!(lines.length == LENGTH);
        Texts { magic: MAGIC, length: LENGTH as u64, bytes: lines.bytes }
    }

    /// The lines.
    pub const fn bytes(&self) -> &[u8; LENGTH] {
        &self.bytes
    }
}

/// Bytes of the lines about these.
pub const fn length(interfaces: &[InterfaceText], arguments: &[(&str, TypeText)]) -> usize {
    let mut lines = Lines { bytes: [], length: 0 };
    lines.all(interfaces, arguments);
    lines.length
}

/// Writes lines; what is behind its end is only counted.
struct Lines<const LENGTH: usize> {
    bytes: [u8; LENGTH],
    length: usize,
}

/// The bodies of `for` in functions that run in the build.
macro_rules! each {
    ($one:ident in $all:expr, $body:block) => {{
        let mut index = 0;
        while index < $all.len() {
            let $one = &$all[index];
            $body
            index += 1;
        }
    }};
}

impl<const LENGTH: usize> Lines<LENGTH> {
    const fn byte(&mut self, byte: u8) {
        if self.length < LENGTH {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    const fn text(&mut self, text: &str) {
        each!(byte in text.as_bytes(), { self.byte(*byte) });
    }

    const fn line(&mut self, word: &str, name: &str) {
        self.text(word);
        self.text(name);
        self.byte(b'\n');
    }

    const fn documentation(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.byte(b'/');
        each!(byte in text.as_bytes(), {
            self.byte(*byte);
            if *byte == b'\n' {
                self.byte(b'/');
            }
        });
        self.byte(b'\n');
    }

    const fn all(&mut self, interfaces: &[InterfaceText], arguments: &[(&str, TypeText)]) {
        each!(interface in interfaces, {
            self.text("interface ");
            self.text(interface.name);
            self.byte(b' ');
            let mut digit = 16;
            while digit > 0 {
                digit -= 1;
                self.byte(b"0123456789abcdef"[(interface.version >> (4 * digit)) as usize & 15]);
            }
            self.byte(b'\n');
            self.documentation(interface.documentation);
            each!(method in interface.methods, { self.method(method) });
        });
        each!(argument in arguments, {
            self.line("argument ", argument.0);
            self.of(&argument.1);
        });
    }

    const fn method(&mut self, method: &MethodText) {
        self.line("method ", method.name);
        self.documentation(method.documentation);
        each!(parameter in method.parameters, {
            self.line("parameter ", parameter.0);
            self.of(&parameter.1);
        });
        self.line("value", "");
        self.of(&method.value);
        self.line("error", "");
        self.of(&method.error);
    }

    const fn of(&mut self, one: &TypeText) {
        match one {
            TypeText::Plain(name) => return self.line("type ", name),
            TypeText::Struct(name, documentation, fields) => {
                self.line("struct ", name);
                self.documentation(documentation);
                each!(field in fields, {
                    self.line("field ", field.name);
                    self.documentation(field.documentation);
                    self.of(&field.of);
                });
            }
            TypeText::Enum(name, documentation, variants) => {
                self.line("enum ", name);
                self.documentation(documentation);
                each!(variant in variants, { self.variant(variant) });
            }
            TypeText::Tuple(parts) => {
                self.line("tuple", "");
                each!(part in parts, { self.of(part) });
            }
        }
        self.line("end", "");
    }

    const fn variant(&mut self, variant: &VariantText) {
        self.text("variant ");
        self.text(variant.name);
        self.text(if variant.code < 0 { " -" } else { " " });
        let code = variant.code.unsigned_abs();
        let mut unit = 1;
        while code / unit > 9 {
            unit *= 10;
        }
        while unit > 0 {
            self.byte(b'0' + (code / unit % 10) as u8);
            unit /= 10;
        }
        self.byte(b'\n');
        self.documentation(variant.documentation);
    }
}
