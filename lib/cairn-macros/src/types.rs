//! Which types an interface can use, and what to write instead of the others.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, GenericArgument, PathArguments, ReturnType, Type};

/// How a parameter crosses the portal.
pub enum Parameter {
    /// Letter `i`, as often as the type has words.
    Value(Box<Type>),
    /// Letter `r`: `&[u8]`.
    Bytes,
    /// Letter `r`: `&str`.
    Text,
    /// Letter `w`: `&mut [u8]`.
    BytesMut,
    /// Filled in by the portal.
    Context(Context, Box<Type>),
    /// Letters `a` and `i`: where the client wants the object that the method returns.
    Place(Box<Type>),
    /// Letters `a` and `i`: an object, which the client passes on, and its interface.
    Object(Box<Type>, Box<Type>),
}

/// What a portal fills in.
#[derive(Clone, Copy)]
pub enum Context {
    Caller,
    CallerThread,
    Now,
    PortalIndex,
}

impl Context {
    pub fn letter(self) -> u8 {
        match self {
            Context::Caller => b'a',
            Context::CallerThread => b't',
            Context::Now => b'h',
            Context::PortalIndex => b'=',
        }
    }

    /// Its type's name.
    pub fn name(self) -> &'static str {
        match self {
            Context::Caller => "Caller",
            Context::CallerThread => "CallerThread",
            Context::Now => "Now",
            Context::PortalIndex => "PortalIndex",
        }
    }

    /// The function of `cairn::__expansion` that makes it from its register.
    pub fn decoder(self) -> TokenStream {
        match self {
            Context::Caller => quote!(caller),
            Context::CallerThread => quote!(caller_thread),
            Context::Now => quote!(now),
            Context::PortalIndex => quote!(portal_index),
        }
    }
}

impl Parameter {
    /// The words that it takes at least; a struct's are known to the compiler only.
    pub fn least_words(&self) -> usize {
        match self {
            Parameter::Bytes
            | Parameter::Text
            | Parameter::BytesMut
            | Parameter::Place(_)
            | Parameter::Object(..) => 2,
            Parameter::Value(_) | Parameter::Context(..) => 1,
        }
    }
}

/// The parameter that a type stands for.
pub fn parameter(ty: &Type) -> Result<Parameter, Error> {
    match ty {
        Type::Reference(reference) => {
            if let Some(lifetime) = &reference.lifetime {
                return Err(Error::new_spanned(lifetime, LIFETIME));
            }
            let mutable = reference.mutability.is_some();
            match &*reference.elem {
                Type::Slice(slice) if is_name(&slice.elem, "u8") && mutable => {
                    Ok(Parameter::BytesMut)
                }
                Type::Slice(slice) if is_name(&slice.elem, "u8") => Ok(Parameter::Bytes),
                Type::Slice(slice) => Err(Error::new_spanned(
                    slice,
                    "only bytes cross a portal: write `&[u8]` or `&mut [u8]`",
                )),
                inner if is_name(inner, "str") && mutable => Err(Error::new_spanned(
                    ty,
                    "a `&mut str` cannot cross a portal: write `&mut [u8]`",
                )),
                inner if is_name(inner, "str") => Ok(Parameter::Text),
                inner => Err(Error::new_spanned(
                    ty,
                    format!(
                        "a reference to a single value cannot cross a portal: pass `{}` by value (a small struct with \
                         `#[derive(Clone, Copy, Debug, cairn::Wire)]`), or bytes as `&[u8]`",
                        text(inner)
                    ),
                )),
            }
        }
        Type::Path(_) => {
            if let Some(context) = context(ty) {
                return Ok(Parameter::Context(context, Box::new(ty.clone())));
            }
            if cairns_name(ty).as_deref() == Some("Place") {
                return Ok(Parameter::Place(Box::new(ty.clone())));
            }
            if cairns_name(ty).as_deref() == Some("Object") {
                return Ok(Parameter::Object(Box::new(ty.clone()), Box::new(object(ty)?.clone())));
            }
            plain(ty)?;
            Ok(Parameter::Value(Box::new(ty.clone())))
        }
        _ => Err(unsupported(ty)),
    }
}

/// The types of a method's `Result<T, E>`.
pub fn result(output: &ReturnType, method: Span) -> Result<(Type, Type), Error> {
    let ReturnType::Type(_, ty) = output else {
        return Err(Error::new(
            method,
            "a method returns a `Result`, because every call can fail (the server may die): write `-> Result<(), cairn::Error>`",
        ));
    };
    let wrong = || {
        Error::new_spanned(
            ty,
            format!(
                "every call can fail (the server may die), so a method returns a `Result`: write `-> Result<{}, cairn::Error>`",
                text(ty)
            ),
        )
    };
    let Type::Path(path) = &**ty else {
        return Err(wrong());
    };
    let Some(last) = path.path.segments.last() else {
        return Err(wrong());
    };
    if last.ident != "Result" {
        return Err(wrong());
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Err(Error::new_spanned(ty, "write both types: `Result<T, cairn::Error>`"));
    };
    let types: Vec<&GenericArgument> = arguments.args.iter().collect();
    let [GenericArgument::Type(value), GenericArgument::Type(error)] = types[..] else {
        return Err(Error::new_spanned(ty, "write both types: `Result<T, cairn::Error>`"));
    };
    check_value(value)?;
    plain(error)?;
    Ok((value.clone(), error.clone()))
}

fn check_value(ty: &Type) -> Result<(), Error> {
    match ty {
        Type::Tuple(tuple) if tuple.elems.is_empty() => Ok(()),
        // Whether its words fit is known to the compiler only.
        Type::Tuple(tuple) if (2..=REPLY_WORDS).contains(&tuple.elems.len()) => {
            tuple.elems.iter().try_for_each(plain)
        }
        Type::Tuple(tuple) if tuple.elems.len() > REPLY_WORDS => Err(Error::new_spanned(
            &tuple.elems[REPLY_WORDS],
            "a method's value has at most 4 words: take a `&mut [u8]` parameter for the rest",
        )),
        Type::Path(path) => {
            let last = path.path.segments.last().expect("a path has a segment");
            if is_object(ty) || cairns_name(ty).as_deref() == Some("Grant") {
                return object(ty).map(drop);
            }
            if matches!(last.ident.to_string().as_str(), "String" | "Vec" | "Box") {
                return Err(Error::new_spanned(ty, RETURNS_BYTES));
            }
            plain(ty)
        }
        Type::Reference(_) | Type::Slice(_) | Type::Array(_) => {
            Err(Error::new_spanned(ty, RETURNS_BYTES))
        }
        _ => Err(unsupported(ty)),
    }
}

/// Whether a method with this value returns an object.
pub fn is_object(value: &Type) -> bool {
    cairns_name(value).as_deref() == Some("Object")
}

/// The interface in `Object<dyn Interface>`.
fn object(ty: &Type) -> Result<&Type, Error> {
    if let Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
        && let PathArguments::AngleBracketed(arguments) = &last.arguments
        && let [GenericArgument::Type(interface @ Type::TraitObject(_))] =
            arguments.args.iter().collect::<Vec<_>>()[..]
    {
        return Ok(interface);
    }
    Err(Error::new_spanned(ty, "write the object's interface as `Object<dyn Interface>`"))
}

/// The words of a method's value.
const REPLY_WORDS: usize = 4;
const RETURNS_BYTES: &str = "a method's value is up to four words: take a `&mut [u8]` parameter, fill it, and return the number of bytes as `usize`";
const LIFETIME: &str = "an interface has no lifetimes: a window is there only until the call returns; leave the lifetime out";

/// Accepts a path that may be a type with `Wire`, and refuses what is known not to be.
fn plain(ty: &Type) -> Result<(), Error> {
    let Type::Path(path) = ty else {
        return Err(unsupported(ty));
    };
    if path.qself.is_some() {
        return Err(Error::new_spanned(ty, "write the type itself, not an associated type"));
    }
    let last = path.path.segments.last().expect("a path has a segment");
    let message = match last.ident.to_string().as_str() {
        "String" => "a `String` cannot cross a portal: write `&str`",
        "Vec" | "Box" => "an owned buffer cannot cross a portal: write `&[u8]` or `&mut [u8]`",
        "Rc" | "Arc" | "Cell" | "RefCell" => {
            "shared state cannot cross a portal: pass its bytes as `&[u8]`"
        }
        "Option" => {
            "an `Option` cannot cross a portal: use an error for its absence, or an enum with `#[derive(cairn::Wire)]`"
        }
        "f32" => {
            "a portal carries no floating-point registers: pass the bits as `u32` (`f32::to_bits`)"
        }
        "f64" => {
            "a portal carries no floating-point registers: pass the bits as `u64` (`f64::to_bits`)"
        }
        "u128" | "i128" => "a register has 64 bits: pass two `u64`",
        "char" => "a `char` is not every 32-bit number: pass a `u32`, or text as `&str`",
        "str" => "write `&str`",
        "Self" => "an interface has no `Self` type: write a type with `#[derive(cairn::Wire)]`",
        "Result" => "a `Result` cannot be a parameter or be nested",
        _ if !last.arguments.is_none() => {
            "a generic type cannot cross a portal: write a small struct of its own with `#[derive(Clone, Copy, Debug, cairn::Wire)]`"
        }
        _ => return Ok(()),
    };
    Err(Error::new_spanned(ty, message))
}

fn unsupported(ty: &Type) -> Error {
    let message = match ty {
        Type::Tuple(_) => {
            "a tuple is no parameter: write several, or a small struct with `#[derive(Clone, Copy, Debug, cairn::Wire)]`"
        }
        Type::Array(_) | Type::Slice(_) => "pass bytes as `&[u8]` or `&mut [u8]`",
        Type::Ptr(_) => {
            "a raw pointer means nothing in another domain: pass the bytes as `&[u8]` or `&mut [u8]`"
        }
        Type::BareFn(_) => {
            "a function cannot cross a portal: export an interface of your own and let the other side import it"
        }
        Type::ImplTrait(_) => {
            "`impl Trait` has no fixed layout: write a type with `#[derive(cairn::Wire)]`, `&[u8]` or `&str`"
        }
        Type::TraitObject(_) => "an object is passed on, or comes back, as `Object<dyn Interface>`",
        Type::Never(_) => "a portal returns: write `Result<(), cairn::Error>`",
        _ => {
            "this type cannot cross a portal: use integers, `bool`, `&[u8]`, `&mut [u8]`, `&str`, or a type with `#[derive(cairn::Wire)]`"
        }
    };
    Error::new_spanned(ty, message)
}

fn context(ty: &Type) -> Option<Context> {
    match cairns_name(ty)?.as_str() {
        "Caller" => Some(Context::Caller),
        "CallerThread" => Some(Context::CallerThread),
        "Now" => Some(Context::Now),
        "PortalIndex" => Some(Context::PortalIndex),
        _ => None,
    }
}

/// What a type is called in Cairn, if its path leads there or is but a name: types of others with the same name have paths.
fn cairns_name(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let segments = &path.path.segments;
    let is_cairns = segments.len() == 1 || segments.first()?.ident == "cairn";
    is_cairns.then(|| segments.last().map(|last| last.ident.to_string()))?
}

fn is_name(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// A type as a person writes it.
fn text(ty: &Type) -> String {
    quote!(#ty).to_string().replace(' ', "").replace("&mut", "&mut ").replace("dyn", "dyn ")
}
