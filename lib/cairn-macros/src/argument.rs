//! `arguments` of `cairn::component!`.

use crate::documentation::plain;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, Path, Token, Type};

/// An argument of the component's instances.
pub struct Argument {
    pub name: Ident,
    kind: Kind,
    default: Option<Expr>,
}

/// What an argument can be.
enum Kind {
    Unsigned,
    Signed,
    Bool,
    Duration,
    Text,
    /// Text, of which the description's check knows what it has to be.
    Keys,
    Bytes,
    /// One with `#[derive(cairn::Wire)]`.
    Enum(Path),
}

/// The module `arguments`, a function for each, and the descriptors.
pub fn expand(arguments: &[Argument]) -> (TokenStream, Vec<TokenStream>) {
    let mut functions = TokenStream::new();
    let mut aliases = TokenStream::new();
    let mut descriptors = Vec::new();
    for (place, Argument { name, kind, default }) in arguments.iter().enumerate() {
        let word = quote!(::cairn::__expansion::argument_value(#place));
        let default = default.as_ref();
        let (number, kind, value, default) = match kind {
            Kind::Unsigned => {
                (quote!(ARGUMENT_UNSIGNED), quote!(u64), word, default.map(|one| quote!(#one)))
            }
            Kind::Signed => (
                quote!(ARGUMENT_SIGNED),
                quote!(i64),
                quote!(#word as i64),
                default.map(|one| quote!({ let value: i64 = #one; value as u64 })),
            ),
            Kind::Bool => (
                quote!(ARGUMENT_BOOL),
                quote!(bool),
                quote!(#word != 0),
                default.map(|one| quote!({ let value: bool = #one; value as u64 })),
            ),
            Kind::Duration => (
                quote!(ARGUMENT_DURATION),
                quote!(::core::time::Duration),
                quote!(::core::time::Duration::from_nanos(#word)),
                default.map(|one| {
                    quote!({ let value: ::core::time::Duration = #one; value.as_nanos() as u64 })
                }),
            ),
            Kind::Bytes => (
                quote!(ARGUMENT_BYTES),
                quote!(usize),
                quote!(#word as usize),
                default.map(|one| quote!({ let value: usize = #one; value as u64 })),
            ),
            Kind::Enum(path) => {
                // The path is resolved where the macro stands, not in the module.
                let alias = format_ident!("CairnArgument{place}");
                aliases.extend(quote_spanned! {path.span()=>
                    #[doc(hidden)]
                    type #alias = #path;
                });
                (
                    quote!(ARGUMENT_ENUM),
                    quote!(super::#alias),
                    quote!(::cairn::__expansion::argument_enum(#place)),
                    default.map(|one| quote!({ let value: #path = #one; value as u64 })),
                )
            }
            Kind::Text | Kind::Keys => (
                match kind {
                    Kind::Keys => quote!(ARGUMENT_KEYS),
                    _ => quote!(ARGUMENT_TEXT),
                },
                quote!(&'static str),
                quote!(::cairn::__expansion::argument_text(#place)),
                default.map(|one| {
                    quote!({ let text: &str = #one; assert!(text.is_empty(), "the default of a text is \"\""); 0 })
                }),
            ),
        };
        let default = match default {
            Some(default) => quote!(::core::option::Option::Some(#default)),
            None => quote!(::core::option::Option::None),
        };
        let documentation = format!("The argument `{name}`, as the description says.");
        functions.extend(quote! {
            #[doc = #documentation]
            #[allow(dead_code)]
            pub fn #name() -> #kind {
                #value
            }
        });
        let text = plain(name);
        descriptors.push(quote! {
            ::cairn::__expansion::argument(#text, ::cairn::__expansion::#number, #default)
        });
    }
    if arguments.is_empty() {
        return (TokenStream::new(), Vec::new());
    }
    let items = quote! {
        #aliases
        /// What the description gives this instance.
        mod arguments {
            #functions
        }
    };
    (items, descriptors)
}

/// Those that are enums, with what people call their variants.
pub fn enums(arguments: &[Argument]) -> TokenStream {
    let enums = arguments.iter().filter_map(|Argument { name, kind, .. }| match kind {
        Kind::Enum(path) => {
            let text = plain(name);
            Some(quote_spanned!(path.span()=> (#text, ::cairn::__expansion::argument_type(<#path as ::cairn::wire::Wire>::TEXT))))
        }
        _ => None,
    });
    quote!(&[#(#enums),*])
}

/// If a path is but a name, or leads into a module `time`: others of the same name have other paths.
fn is_of_time(of: &Type) -> bool {
    let Type::Path(path) = of else { return false };
    path.path.segments.iter().nth_back(1).is_none_or(|module| module.ident == "time")
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> Result<Self, Error> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let of: Type = input.parse()?;
        let last = |of: &Type| match of {
            Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            Type::Reference(text) => match &*text.elem {
                Type::Path(path) => path.path.get_ident().map(|name| format!("&{name}")),
                _ => None,
            },
            _ => None,
        };
        let kind = match last(&of).as_deref() {
            Some("u64") => Kind::Unsigned,
            Some("i64") => Kind::Signed,
            Some("bool") => Kind::Bool,
            Some("Duration") if is_of_time(&of) => Kind::Duration,
            Some("&str") => Kind::Text,
            Some("PublicKeys") => Kind::Keys,
            Some("usize") => Kind::Bytes,
            Some(name) if name.starts_with(char::is_uppercase) && name != "String" => {
                Kind::Enum(syn::parse2(of.to_token_stream())?)
            }
            _ => {
                return Err(Error::new_spanned(
                    of,
                    "an argument is a `u64`, an `i64`, a `bool`, a `Duration`, a `&str`, `PublicKeys`, a `usize` for a size, or an enum with `#[derive(cairn::Wire)]`",
                ));
            }
        };
        let default = match input.peek(Token![=]) {
            true => {
                input.parse::<Token![=]>()?;
                Some(input.parse()?)
            }
            false => None,
        };
        Ok(Argument { name, kind, default })
    }
}
