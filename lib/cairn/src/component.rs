//! What a component serves and calls, as `#[cairn::interface]` and `cairn::component!` say it.

use crate::call::Portals;
use crate::wire::{HASH_START, hash, hash_word};
use crate::{Error, InstanceId};
use cairn_abi::descriptor::{
    ARGUMENTS_MAXIMUM, ArgumentDescriptor, ComponentDescriptor, EXPORTS_MAXIMUM, EntryPoint,
    ExportDescriptor, IMPORTS_MAXIMUM, ImportDescriptor, InterfaceDescriptor, LETTERS_SIZE, MAGIC,
    METHODS_MAXIMUM, MainFunction, MethodDescriptor, VALUE_OBJECT, name,
};
use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTALS_DESCRIBED};
use cairn_abi::interface_text::{InterfaceText, TypeText};

/// An interface; `#[cairn::interface]` implements it for `dyn Trait`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an interface",
    label = "not an interface",
    note = "write `#[cairn::interface]` before the trait"
)]
pub trait Interface {
    /// What calls the methods.
    type Proxy: Copy;
    /// The trait's name.
    const NAME: &'static str;
    /// Name, version and methods, as the host tool reads them.
    const DESCRIPTOR: InterfaceDescriptor;
    /// What people call its parts, and its documentation.
    const TEXT: InterfaceText;

    /// The proxy for a block of portals.
    fn proxy(portals: Portals) -> Self::Proxy;
}

/// Where a skeleton finds the server that a control word names.
pub trait Provider {
    /// `dyn` and the interface's trait.
    type Interface: ?Sized;

    /// Runs `body` with the server; [`Error::NotFound`] if the control word names none.
    fn with<R>(control: u64, body: impl FnOnce(&Self::Interface) -> R) -> Result<R, Error>;
}

/// Parameter of a server's method (letter `a`): the caller. The client does not pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller(
    /// The instance that calls.
    pub InstanceId,
);

/// Parameter of a server's method (letter `t`): the calling thread. The client does not pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerThread(
    /// Index of the thread; for a component that runs to completion, in the lowest 8 bits, and above them nothing
    /// that means anything.
    pub u32,
);

/// Parameter of a server's method (letter `h`): when it was called. The client does not pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now(
    /// Ticks of the board's time base.
    pub u64,
);

/// Parameter of a server's method (letter `=`): the index of the portal. The client does not pass
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortalIndex(
    /// Index in the caller's portal table.
    pub u32,
);

/// The letters of a method: `parts` are letters with the registers that their words take, `reply` the words of its
/// value. Stops the build when they are more than the argument registers.
pub const fn letters(parts: &[(u8, usize)], reply: usize) -> [u8; LETTERS_SIZE] {
    assert!(
        words(parts) <= crate::call::REGISTERS,
        "a method has at most 7 words of parameters (a slice is 2 words)"
    );
    let mut letters = [0; LETTERS_SIZE];
    letters[0] = b'c';
    let mut used = 1;
    let mut index = 0;
    while index < parts.len() {
        let (letter, count) = parts[index];
        let mut repeat = if letter == b'i' { count } else { 1 };
        while repeat > 0 {
            letters[used] = letter;
            used += 1;
            repeat -= 1;
        }
        index += 1;
    }
    if reply > 1 {
        letters[used] = b'0' + reply as u8;
    }
    letters
}

/// The argument registers that a method with these parts uses, the control word included.
pub const fn words(parts: &[(u8, usize)]) -> usize {
    let mut words = 1;
    let mut index = 0;
    while index < parts.len() {
        words += parts[index].1;
        index += 1;
    }
    words
}

/// One method of a descriptor.
pub const fn method(
    method_name: &str,
    letters: [u8; LETTERS_SIZE],
    value: u32,
) -> MethodDescriptor {
    MethodDescriptor { name: name(method_name), letters, value }
}

/// The version of an interface: a hash over each method's name and the shapes of its parameters,
/// value and error.
pub const fn version(signatures: &[(&str, &[u64])]) -> u64 {
    let mut version = HASH_START;
    let mut index = 0;
    while index < signatures.len() {
        let (method_name, shapes) = signatures[index];
        version = hash(version, method_name.as_bytes());
        version = hash_word(version, shapes.len() as u64);
        let mut shape = 0;
        while shape < shapes.len() {
            version = hash_word(version, shapes[shape]);
            shape += 1;
        }
        index += 1;
    }
    version
}

/// An interface's descriptor.
pub const fn interface(
    interface_name: &str,
    version: u64,
    methods: &[MethodDescriptor],
) -> InterfaceDescriptor {
    assert!(
        methods.len() <= METHODS_MAXIMUM,
        "an interface has more methods than a descriptor has room for"
    );
    let mut descriptor =
        InterfaceDescriptor { name: name(interface_name), version, ..InterfaceDescriptor::EMPTY };
    descriptor.method_count = methods.len() as u32;
    let mut index = 0;
    while index < methods.len() {
        descriptor.methods[index] = methods[index];
        index += 1;
    }
    descriptor
}

/// Index of the first portal of the import at `position`, when the imports have these interfaces.
pub const fn first_portal(imports: &[InterfaceDescriptor], position: usize) -> u32 {
    let mut portal = PORTAL_FIRST_IMPORT;
    let mut index = 0;
    while index < position {
        portal += imports[index].method_count as usize;
        index += 1;
    }
    assert!(
        portal + imports[position].method_count as usize <= PORTALS_DESCRIBED,
        "the imports of a component have more methods than there can be portals"
    );
    portal as u32
}

/// One import of a component.
pub const fn import(
    import_name: &str,
    first_portal: u32,
    minimal: bool,
    optional: bool,
    interface: InterfaceDescriptor,
) -> ImportDescriptor {
    ImportDescriptor {
        name: name(import_name),
        first_portal,
        interface,
        minimal: minimal as u16,
        optional: optional as u16,
    }
}

/// An import that a description may leave out: `imports: { log: Option<Log> }`.
#[derive(Clone, Copy, Debug)]
pub struct Optional<P> {
    proxy: P,
    /// Its place among the component's imports.
    position: u32,
}

impl<P: Copy> Optional<P> {
    /// For expansions.
    #[doc(hidden)]
    pub const fn new(proxy: P, position: u32) -> Optional<P> {
        Optional { proxy, position }
    }

    /// Its proxy; `None` if the description leaves it out. Calls by the proxy are those of any import.
    pub fn get(self) -> Option<P> {
        // A test on the host connects them all.
        let left_out = crate::environment::startup().imports_left_out;
        if left_out >> self.position & 1 == 0 { Some(self.proxy) } else { None }
    }
}

/// One argument of a component, of one of the `ARGUMENT_*` kinds.
pub const fn argument(argument_name: &str, kind: u32, default: Option<u64>) -> ArgumentDescriptor {
    let (has_default, default) = match default {
        Some(value) => (1, value),
        None => (0, 0),
    };
    ArgumentDescriptor { name: name(argument_name), kind, has_default, default }
}

/// One export, or one object interface, of a component.
pub const fn export(
    export_name: &str,
    is_object: bool,
    interface: InterfaceDescriptor,
    entries: [Option<EntryPoint>; METHODS_MAXIMUM],
) -> ExportDescriptor {
    ExportDescriptor { name: name(export_name), is_object: is_object as u32, interface, entries }
}

/// Refuses a component that serves an interface whose methods return objects of others than of `objects`, which it makes.
pub const fn makes_objects(
    interface: &InterfaceDescriptor,
    text: &InterfaceText,
    objects: &[&str],
) {
    let mut method = 0;
    while method < text.methods.len() {
        if interface.methods[method].value == VALUE_OBJECT
            && let TypeText::Plain(wanted) = text.methods[method].value
        {
            let mut made = 0;
            while made < objects.len() && !is_same(objects[made], wanted) {
                made += 1;
            }
            assert!(
                made < objects.len(),
                "a method of this interface returns an object of an interface that is not in `objects`, so who calls it finds \
                 `NotFound`: write `objects: {{ NAME: Interface = TABLE }}`, or `objects: {{}}` if the component never makes one"
            );
        }
        method += 1;
    }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// A component's descriptor.
pub const fn component(
    component_name: &str,
    says_ready: bool,
    main: Option<MainFunction>,
    imports: &[ImportDescriptor],
    exports: &[ExportDescriptor],
    arguments: &[ArgumentDescriptor],
) -> ComponentDescriptor {
    assert!(arguments.len() <= ARGUMENTS_MAXIMUM, "a component has at most 16 arguments");
    assert!(imports.len() <= IMPORTS_MAXIMUM, "a component has at most 16 imports");
    assert!(
        exports.len() <= EXPORTS_MAXIMUM,
        "a component has at most 10 exports and object interfaces"
    );
    let mut descriptor = ComponentDescriptor {
        magic: MAGIC,
        abi_version: cairn_abi::VERSION,
        import_count: imports.len() as u32,
        export_count: exports.len() as u32,
        name: name(component_name),
        says_ready: says_ready as u32,
        main,
        imports: [ImportDescriptor::EMPTY; IMPORTS_MAXIMUM],
        exports: [ExportDescriptor::EMPTY; EXPORTS_MAXIMUM],
        arguments: [ArgumentDescriptor::EMPTY; ARGUMENTS_MAXIMUM],
    };
    let mut index = 0;
    while index < arguments.len() {
        descriptor.arguments[index] = arguments[index];
        index += 1;
    }
    let mut index = 0;
    while index < imports.len() {
        descriptor.imports[index] = imports[index];
        index += 1;
    }
    index = 0;
    while index < exports.len() {
        descriptor.exports[index] = exports[index];
        index += 1;
    }
    descriptor
}
