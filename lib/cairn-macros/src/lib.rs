//! The macros of `cairn`: an interface is a trait, a component is one declaration.
//!
//! Expansions call safe functions of the `cairn` crate and contain no `unsafe`, so they pass
//! `#![forbid(unsafe_code)]`. What a macro does not support is an error at the offending word that
//! says what to write instead.
#![forbid(unsafe_code)]

mod argument;
mod component;
mod derive;
mod documentation;
mod interface;
mod method;
mod types;

use proc_macro::TokenStream;

/// Makes an interface of a trait: the server's trait, the client's proxy, the skeleton and the
/// descriptor.
///
/// ```ignore
/// #[cairn::interface]
/// pub trait Echo {
///     /// The sum.
///     fn add(&self, left: u64, right: u64) -> Result<u64, cairn::Error>;
///     /// Fills the buffer, returns how many bytes.
///     fn fill(&self, caller: cairn::Caller, buffer: &mut [u8]) -> Result<usize, cairn::Error>;
/// }
/// ```
///
/// - The trait `Echo` is what a server implements. In it `&[u8]` and `&str` are
///   `cairn::window::ReadWindow<'_>` and `&mut [u8]` is `cairn::window::WriteWindow<'_>`.
/// - `EchoProxy` is what a client calls, with plain slices. `Caller`, `CallerThread`, `Now` and
///   `PortalIndex` are not parameters there: the portal fills them in.
/// - `#[waits]` before a method says that its calls can wait inside of the server for as long as they like, for input perhaps: a server
///   that is replaced (live replacement) sends them back by `Error::Moved`, and the proxy makes the call again.
/// - `EchoProxy::DESCRIPTOR` and `EchoProxy::METHODS` describe it.
#[proc_macro_attribute]
pub fn interface(attribute: TokenStream, item: TokenStream) -> TokenStream {
    interface::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Declares the component that a crate is.
///
/// ```ignore
/// cairn::component! {
///     name: "greeter",
///     imports: { console: Console },
///     exports: { echo: Echo = GREETER },
///     objects: { timer: Timer = TIMERS },
///     main: main,
/// }
/// ```
///
/// Everything but the name is optional. An import becomes a constant in the module `imports`
/// (`imports::CONSOLE`). An export is served by a static that implements the interface, an object
/// interface by a static `cairn::object::ObjectTable`; `objects: {}` says that it makes none, though methods return some. `#[minimal]` before an import says that its
/// portals may have the state letter `m`.
#[proc_macro]
pub fn component(input: TokenStream) -> TokenStream {
    component::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Lets a small `Copy` struct, or an enum without fields, travel through portals.
///
/// A struct takes a register for each word of its fields, at most four, as a parameter and as a method's value.
#[proc_macro_derive(Wire)]
pub fn wire(input: TokenStream) -> TokenStream {
    derive::wire(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an enum the error type of a method: variants without fields are the method's own codes, in
/// order from 1 (or as their discriminants say), and one variant `Portal(cairn::Error)`, or another
/// marked `#[portal]`, holds what can happen to any call.
#[proc_macro_derive(MethodError, attributes(portal))]
pub fn method_error(input: TokenStream) -> TokenStream {
    derive::method_error(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
