//! What the expansions of the macros call. Not for people: a component's source that names this
//! module can make a window of any address of its own domain.

pub use crate::call::{Arguments, Portals, Registers, Staging};
pub use crate::component::{
    argument, component, export, first_portal, import, interface, letters, makes_objects, method,
    version, words,
};
pub use crate::object::grant::passed_shape;
pub use crate::ready::serves;
pub use crate::wire::{HASH_START, WORDS, hash, hash_word};
pub use cairn_abi::descriptor::{
    ARGUMENT_BOOL, ARGUMENT_BYTES, ARGUMENT_DURATION, ARGUMENT_ENUM, ARGUMENT_KEYS,
    ARGUMENT_SIGNED, ARGUMENT_TEXT, ARGUMENT_UNSIGNED, ArgumentDescriptor, ComponentDescriptor,
    EntryPoint, ExportDescriptor, ImportDescriptor, InterfaceDescriptor, METHODS_MAXIMUM, Reply,
};
pub use cairn_abi::interface_text::{
    FieldText, InterfaceText, MethodText, Texts, TypeText, VariantText, length,
};
pub use wide::{Rest, Wide, entry};

use crate::call::REPLY_WORDS;
use crate::component::{Caller, CallerThread, Interface, Now, PortalIndex};
use crate::failure::Ended;
use crate::log::Console;
use crate::object::{Grant, Object, Passed, Place, Places};
use crate::window::{ReadWindow, WriteWindow};
use crate::wire::{MethodError, Value, Wire};
use crate::{Error, InstanceId};

mod wide;

/// An import, which may be a console: then its own `print` comes before that of [`NoConsole`].
pub struct Printing<T>(pub T);

impl<T: Console> Printing<T> {
    /// Whether there is a console that has the text.
    #[inline(always)]
    pub fn print(&self, text: core::fmt::Arguments) -> bool {
        self.0.print(text)
    }
}

/// An import that is no console.
pub trait NoConsole {
    /// There is none.
    #[inline(always)]
    fn print(&self, _text: core::fmt::Arguments) -> bool {
        false
    }
}

impl<T> NoConsole for Printing<T> {}

/// What a skeleton answers.
#[inline(always)]
pub fn reply<T: Value, E: MethodError>(result: Result<T, E>) -> Reply {
    match result {
        Ok(value) => Reply { status: 0, value: value.into_words()[0] },
        Err(error) => Reply { status: error.into_status(), value: 0 },
    }
}

/// What the skeleton of a method with a value of several words answers: the words behind the first go to `rest`.
#[inline(always)]
pub fn wide_reply<T: Value, E: MethodError>(result: Result<T, E>, rest: &mut Rest) -> Reply {
    let (status, [value, words @ ..]) = match result {
        Ok(value) => (0, value.into_words()),
        Err(error) => (error.into_status(), [0; REPLY_WORDS]),
    };
    *rest = words;
    Reply { status, value }
}

/// The window of a parameter with the letter `r`.
#[inline(always)]
pub fn read_window<'call>(registers: &mut Registers) -> ReadWindow<'call> {
    let address = registers.word();
    ReadWindow::open(address, registers.word())
}

/// The window of a parameter with the letter `w`.
#[inline(always)]
pub fn write_window<'call>(registers: &mut Registers) -> WriteWindow<'call> {
    let address = registers.word();
    WriteWindow::open(address, registers.word())
}

/// The type of a parameter that is called as one of Cairn's: that one.
#[diagnostic::on_unimplemented(
    message = "in an interface this name is that of Cairn's `{Type}`, and it leads to another type",
    label = "not Cairn's `{Type}`",
    note = "of a type of your own write the path, as `crate::Place`, or call it otherwise: without one, `Caller`, `CallerThread`, `Now`, `PortalIndex`, `Place` and `Object` are Cairn's"
)]
pub trait Named<Type> {
    /// The same.
    fn named(value: Type) -> Self;
}

impl<T> Named<T> for T {
    #[inline(always)]
    fn named(value: T) -> T {
        value
    }
}

/// A parameter with the letter `a`.
#[inline(always)]
pub fn caller<T: Named<Caller>>(registers: &mut Registers) -> T {
    T::named(Caller(InstanceId(registers.word() as u16)))
}

/// A parameter with the letter `t`.
#[inline(always)]
pub fn caller_thread<T: Named<CallerThread>>(registers: &mut Registers) -> T {
    T::named(CallerThread(registers.word() as u32))
}

/// A parameter with the letter `h`.
#[inline(always)]
pub fn now<T: Named<Now>>(registers: &mut Registers) -> T {
    T::named(Now(registers.word()))
}

/// A parameter with the letters `a` and `i`: the client, and what it reserved.
#[inline(always)]
pub fn place<T: Named<Place>>(registers: &mut Registers) -> T {
    let client = caller(registers);
    T::named(Place::new(client, registers.word()))
}

/// A parameter with the letters `a` and `i`: the client, and what it granted.
#[inline(always)]
pub fn passed<I: ?Sized>(registers: &mut Registers) -> Passed<I> {
    let client = caller(registers);
    Passed::new(client, Grant::from_word(registers.word()))
}

/// Calls a method that returns an object: reserves a place for it in this component's portal table, for the
/// server that `server` leads to, and gives that back if the call fails.
#[inline(always)]
pub fn with_place<I: ?Sized + Interface, E: MethodError>(
    places: impl Places,
    server: Portals,
    call: impl FnOnce(u64) -> Result<(), E>,
) -> Result<Object<I>, E> {
    let word = places.reserve_for::<I>(server.first())?;
    let object = Object::from_first_portal(Place::index(word));
    match call(word) {
        Ok(()) => Ok(object),
        Err(error) => {
            // The error that counts is the call's.
            let _ = places.give_back(object.first_portal());
            Err(error)
        }
    }
}

/// A parameter with the letter `=`.
#[inline(always)]
pub fn portal_index<T: Named<PortalIndex>>(registers: &mut Registers) -> T {
    T::named(PortalIndex(registers.word() as u32))
}

/// Stops the build when a method's value does not fit into the registers of a reply.
pub const fn check_value(words: usize) {
    assert!(
        words <= REPLY_WORDS,
        "a method's value has at most 4 words; return more through a `&mut [u8]` parameter"
    );
}

/// The status of an error without fields: an expansion numbers them from 1.
pub const fn check_code(code: i64) -> i64 {
    assert!(code >= 1 && code <= 0xffff, "an error code is 1 to 65535");
    code
}

/// The [`Error`] of a status that is none of the method's own codes.
#[inline(always)]
pub fn portal_error(status: i64) -> Error {
    Error::from_status(status)
}

/// The first thread does its work. It is called as nobody knows which function, so that it stays a function with a name, which
/// reports and profiles show.
#[inline(always)]
#[track_caller]
pub fn run<T: Ended>(main: fn() -> T, how: &str) {
    #[cfg(feature = "log")]
    crate::log::attach();
    core::hint::black_box(main)().ended(how);
}

/// The value of an argument by its place. In a test on the host nobody gives any.
pub fn argument_value(place: usize) -> u64 {
    crate::environment::startup().values.get(place).copied().unwrap_or(0)
}

/// The same of text.
pub fn argument_text(place: usize) -> &'static str {
    crate::environment::text_of(argument_value(place))
}

/// The same of an enum, which the host tool has checked.
pub fn argument_enum<T: Wire>(place: usize) -> T {
    let mut words = [0; 8];
    words[0] = argument_value(place);
    T::load(&mut Registers::new(words)).expect("an argument is a variant of its enum")
}

/// What people call an argument that is an enum; stops the build if it is something else.
pub const fn argument_type(text: TypeText) -> TypeText {
    assert!(matches!(text, TypeText::Enum(..)), "an argument of a type of one's own is an enum");
    text
}
