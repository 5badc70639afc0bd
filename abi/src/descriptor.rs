//! The component descriptor, which the host tool reads from the section `.cairn` of a component's file. That section is
//! not loaded.

/// Bytes of a name, padded with zeros.
pub const NAME_SIZE: usize = 32;
/// Most methods of an interface.
pub const METHODS_MAXIMUM: usize = 24;
/// Most imports of a component.
pub const IMPORTS_MAXIMUM: usize = 16;
/// Most exports (and object interfaces) of a component.
pub const EXPORTS_MAXIMUM: usize = 10;
/// Bytes of a method's parameter letters, padded with zeros; the first stands for `a0`.
pub const LETTERS_SIZE: usize = 12;
/// First word of a component descriptor: "CAIRNCMP".
pub const MAGIC: u64 = u64::from_le_bytes(*b"CAIRNCMP");

/// A name padded with zeros.
pub type Name = [u8; NAME_SIZE];

/// What a method's call returns: `a0` is the status, `a1` the value, or the first word of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Reply {
    /// Zero, a positive error code of the method, or a negative [`crate::Error`].
    pub status: i64,
    /// The value of a successful call.
    pub value: u64,
}

/// A server's entry point for one method: the argument registers in order.
pub type EntryPoint = extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64) -> Reply;
/// A component's main function.
pub type MainFunction = fn();

/// One method of an interface.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MethodDescriptor {
    /// The method's name.
    pub name: Name,
    /// The parameter letters of the portal specification, without stack and state letters; behind them the number of the
    /// reply's words if the value has more than one.
    pub letters: [u8; LETTERS_SIZE],
    /// How a shell or a trace shows the value: one of the `VALUE_*` constants.
    pub value: u32,
}

/// The method returns nothing.
pub const VALUE_NONE: u32 = 0;
/// The method returns an unsigned integer.
pub const VALUE_UNSIGNED: u32 = 1;
/// The method returns a signed integer.
pub const VALUE_SIGNED: u32 = 2;
/// The method returns a boolean.
pub const VALUE_BOOL: u32 = 3;
/// The method returns an object: the index of the first of its portals.
pub const VALUE_OBJECT: u32 = 4;
/// The method returns a struct, a tuple, or the code of an enum: as many words as the letters say.
pub const VALUE_WORDS: u32 = 5;

impl MethodDescriptor {
    /// An unused entry.
    pub const EMPTY: MethodDescriptor =
        MethodDescriptor { name: [0; NAME_SIZE], letters: [0; LETTERS_SIZE], value: VALUE_NONE };
}

/// An interface: a name, a version hash over its signatures, its methods in order.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct InterfaceDescriptor {
    /// The trait's name.
    pub name: Name,
    /// Hash over the names and signatures of all methods; client and server must agree.
    pub version: u64,
    /// Number of methods used in `methods`.
    pub method_count: u32,
    /// The methods, in the order of the trait.
    pub methods: [MethodDescriptor; METHODS_MAXIMUM],
}

impl InterfaceDescriptor {
    /// An unused entry.
    pub const EMPTY: InterfaceDescriptor = InterfaceDescriptor {
        name: [0; NAME_SIZE],
        version: 0,
        method_count: 0,
        methods: [MethodDescriptor::EMPTY; METHODS_MAXIMUM],
    };
}

/// An interface that a component calls.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImportDescriptor {
    /// The name that the component gives it.
    pub name: Name,
    /// Index of its first method in the component's portal table.
    pub first_portal: u32,
    /// The interface.
    pub interface: InterfaceDescriptor,
    /// 1: its proxy saves all registers itself, so its portals may have minimal state.
    pub minimal: u16,
    /// 1: a description may leave it out.
    pub optional: u16,
}

impl ImportDescriptor {
    /// An unused entry.
    pub const EMPTY: ImportDescriptor = ImportDescriptor {
        name: [0; NAME_SIZE],
        first_portal: 0,
        minimal: 0,
        optional: 0,
        interface: InterfaceDescriptor::EMPTY,
    };
}

/// An interface that a component serves.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ExportDescriptor {
    /// The name that the component gives it.
    pub name: Name,
    /// 0: a service, opened by name. 1: an object interface, made by a method's return.
    pub is_object: u32,
    /// The interface.
    pub interface: InterfaceDescriptor,
    /// The entry point of each method.
    pub entries: [Option<EntryPoint>; METHODS_MAXIMUM],
}

impl ExportDescriptor {
    /// An unused entry.
    pub const EMPTY: ExportDescriptor = ExportDescriptor {
        name: [0; NAME_SIZE],
        is_object: 0,
        interface: InterfaceDescriptor::EMPTY,
        entries: [None; METHODS_MAXIMUM],
    };
}

/// Kind of an argument: a number from 0 on, or a size.
pub const ARGUMENT_UNSIGNED: u32 = 1;
/// Kind of an argument: a number with a sign.
pub const ARGUMENT_SIGNED: u32 = 2;
/// Kind of an argument: 0 or 1.
pub const ARGUMENT_BOOL: u32 = 3;
/// Kind of an argument: a duration, in nanoseconds.
pub const ARGUMENT_DURATION: u32 = 4;
/// Kind of an argument: text in UTF-8.
pub const ARGUMENT_TEXT: u32 = 5;
/// Kind of an argument: a size in bytes.
pub const ARGUMENT_BYTES: u32 = 6;
/// Kind of an argument: a variant of an enum, whose names stand in [the texts](crate::interface_text).
pub const ARGUMENT_ENUM: u32 = 7;
/// Kind of an argument: text, public keys of 64 hexadecimal digits each, with space between them.
pub const ARGUMENT_KEYS: u32 = 8;
/// Most arguments of a component.
pub const ARGUMENTS_MAXIMUM: usize = 16;

/// An argument of a component's instances, which a description gives (DREAMS, the constructor arguments of its component
/// language).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArgumentDescriptor {
    /// Its name.
    pub name: Name,
    /// One of the `ARGUMENT_*` kinds.
    pub kind: u32,
    /// 1: the description may leave it out.
    pub has_default: u32,
    /// What it is then; of text always the empty one.
    pub default: u64,
}

impl ArgumentDescriptor {
    /// An unused entry.
    pub const EMPTY: ArgumentDescriptor =
        ArgumentDescriptor { name: [0; NAME_SIZE], kind: 0, has_default: 0, default: 0 };
}

/// A component.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ComponentDescriptor {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`crate::VERSION`].
    pub abi_version: u32,
    /// Used entries of `imports`.
    pub import_count: u32,
    /// Used entries of `exports`.
    pub export_count: u32,
    /// The component's name.
    pub name: Name,
    /// 1: it does not serve from its first instruction on, but from when its first thread says so.
    pub says_ready: u32,
    /// Where its first thread begins; `None`: it has no thread of its own.
    pub main: Option<MainFunction>,
    /// What it calls.
    pub imports: [ImportDescriptor; IMPORTS_MAXIMUM],
    /// What it serves.
    pub exports: [ExportDescriptor; EXPORTS_MAXIMUM],
    /// Its arguments; an entry of kind 0 ends them.
    pub arguments: [ArgumentDescriptor; ARGUMENTS_MAXIMUM],
}

/// `text` as a [`Name`]; a compile-time error if it is too long.
pub const fn name(text: &str) -> Name {
    let bytes = text.as_bytes();
    assert!(bytes.len() < NAME_SIZE, "a name has at most 31 bytes");
    let mut name = [0; NAME_SIZE];
    let mut index = 0;
    while index < bytes.len() {
        name[index] = bytes[index];
        index += 1;
    }
    name
}

/// Whether a [`Name`] is this text. Quicker than [`name_text`], which looks at every byte.
pub fn is_name(name: &Name, text: &[u8]) -> bool {
    // Most names that are compared differ in the first byte.
    name.get(text.len()) == Some(&0) && text.iter().zip(name).all(|(byte, other)| byte == other)
}

/// The text of a [`Name`].
pub fn name_text(name: &Name) -> &str {
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(NAME_SIZE);
    core::str::from_utf8(&name[..length]).unwrap_or("?")
}
