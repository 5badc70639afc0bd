//! One method of an interface: what it may look like, and the three things made of it.

use crate::documentation::{documentation, plain};
use crate::types::{self, Parameter};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, Ident, Pat, Signature, TraitItemFn, Type};

pub struct Method {
    documentation: Vec<Attribute>,
    pub name: Ident,
    parameters: Vec<(Ident, Parameter)>,
    pub value: Type,
    error: Type,
    /// It waits, so its call may have to be made again when its server is replaced.
    waits: bool,
}

/// The attribute that says so.
const WAITS: &str = "waits";

/// Names that the proxy has for itself.
const RESERVED: [&str; 6] =
    ["at", "at_minimal", "import", "first_portal", "entries", "answered_by"];
/// The registers of a call, and those that are left beside the control word.
const REGISTERS: usize = 8;

impl Method {
    pub fn parse(item: &TraitItemFn) -> Result<Method, Error> {
        let signature = &item.sig;
        check_form(item)?;
        let mut errors: Option<Error> = None;
        let mut note = |error: Error| match &mut errors {
            Some(errors) => errors.combine(error),
            None => errors = Some(error),
        };
        let mut parameters = Vec::new();
        let mut words = 1;
        for argument in signature.inputs.iter().skip(1) {
            match parameter(argument) {
                Ok((name, parameter)) => {
                    words += parameter.least_words();
                    if words > REGISTERS && words - parameter.least_words() <= REGISTERS {
                        note(Error::new_spanned(argument, TOO_MANY));
                    }
                    parameters.push((name, parameter));
                }
                Err(error) => note(error),
            }
        }
        let result = types::result(&signature.output, signature.ident.span());
        let (value, error) = match result {
            Ok(types) => types,
            Err(error) => {
                note(error);
                return Err(errors.expect("just noted"));
            }
        };
        if let Some(errors) = errors {
            return Err(errors);
        }
        check_place(signature, &parameters, &value)?;
        let mut documentation = item.attrs.clone();
        documentation.retain(|attribute| !attribute.path().is_ident(WAITS));
        let waits = documentation.len() < item.attrs.len();
        Ok(Method { documentation, name: signature.ident.clone(), parameters, value, error, waits })
    }

    /// The method in the trait that a server implements.
    pub fn in_trait(&self) -> TokenStream {
        let Method { documentation, name, value, error, .. } = self;
        let parameters = self.parameters.iter().map(|(name, parameter)| match parameter {
            Parameter::Value(ty) | Parameter::Context(_, ty) | Parameter::Place(ty) => {
                quote!(#name: #ty)
            }
            Parameter::Bytes | Parameter::Text => {
                quote!(#name: ::cairn::window::ReadWindow<'_>)
            }
            Parameter::BytesMut => quote!(#name: ::cairn::window::WriteWindow<'_>),
            Parameter::Object(_, interface) => quote!(#name: ::cairn::object::Passed<#interface>),
        });
        quote! {
            #(#documentation)*
            fn #name(&self, #(#parameters),*) -> ::core::result::Result<#value, #error>;
        }
    }

    /// Of the mock: its field, how a test fills that, and what the trait's method does.
    pub fn in_mock(&self) -> (TokenStream, TokenStream, TokenStream) {
        let Method { name, value, error, .. } = self;
        let types: Vec<TokenStream> = (self.parameters.iter())
            .map(|(_, parameter)| match parameter {
                Parameter::Value(ty) | Parameter::Context(_, ty) | Parameter::Place(ty) => {
                    quote!(#ty)
                }
                Parameter::Bytes | Parameter::Text => quote!(::cairn::window::ReadWindow<'_>),
                Parameter::BytesMut => quote!(::cairn::window::WriteWindow<'_>),
                Parameter::Object(_, interface) => quote!(::cairn::object::Passed<#interface>),
            })
            .collect();
        let names = self.parameters.iter().map(|(name, _)| name);
        let parameters =
            self.parameters.iter().zip(&types).map(|((name, _), ty)| quote!(#name: #ty));
        let result = quote!(::core::result::Result<#value, #error>);
        let body = Ident::new("body", Span::mixed_site());
        let documentation = format!("What `{name}` does.");
        let not_supported = quote_spanned! {error.span()=>
            <#error as ::core::convert::From<::cairn::Error>>::from(::cairn::Error::NotSupported)
        };
        (
            quote!(#name: ::core::option::Option<::cairn::mock::Box<dyn Fn(#(#types),*) -> #result>>,),
            quote! {
                #[doc = #documentation]
                pub fn #name(mut self, #body: impl Fn(#(#types),*) -> #result + 'static) -> Self {
                    self.#name = ::core::option::Option::Some(::cairn::mock::Box::new(#body));
                    self
                }
            },
            quote! {
                fn #name(&self, #(#parameters),*) -> #result {
                    match &self.#name {
                        ::core::option::Option::Some(#body) => #body(#(#names),*),
                        ::core::option::Option::None => {
                            ::core::result::Result::Err(#not_supported)
                        }
                    }
                }
            },
        )
    }

    /// The method of the proxy, which calls portal `number` of the block.
    pub fn in_proxy(&self, number: u32) -> TokenStream {
        let Method { documentation, name, value, error, .. } = self;
        let call = Ident::new("call", Span::mixed_site());
        let word = Ident::new("word", Span::mixed_site());
        let staging = Ident::new("staging", Span::mixed_site());
        let parameters = self.parameters.iter().filter_map(|(name, parameter)| match parameter {
            Parameter::Value(ty) => Some(quote!(#name: #ty)),
            Parameter::Bytes => Some(quote!(#name: &[u8])),
            Parameter::Text => Some(quote!(#name: &str)),
            Parameter::BytesMut => Some(quote!(#name: &mut [u8])),
            Parameter::Place(_) => Some(quote!(#name: impl ::cairn::object::Places)),
            Parameter::Object(_, interface) => {
                Some(quote!(#name: ::cairn::object::Grant<#interface>))
            }
            Parameter::Context(..) => None,
        });
        let arguments = self.parameters.iter().map(|(name, parameter)| match parameter {
            Parameter::Value(_) => quote!(#call.value(#name);),
            Parameter::Bytes => quote!(#call.bytes(&mut #staging, #name);),
            Parameter::Text => quote!(#call.bytes(&mut #staging, #name.as_bytes());),
            Parameter::BytesMut => quote!(#call.bytes_mut(&mut #staging, #name);),
            Parameter::Place(_) => quote!(#call.skip(); #call.word(#word);),
            Parameter::Object(..) => quote!(#call.skip(); #call.word(#name.word());),
            Parameter::Context(..) => quote!(#call.skip();),
        });
        let has_buffers = self.parameters.iter().any(|(_, parameter)| {
            matches!(parameter, Parameter::Bytes | Parameter::Text | Parameter::BytesMut)
        });
        let new_staging =
            has_buffers.then(|| quote!(let mut #staging = ::cairn::__expansion::Staging::new();));
        let parts = self.parts();
        // What comes back of an object is where the client wanted it.
        let place = self.place();
        let decoded = if place.is_some() { quote!(()) } else { quote!(#value) };
        let by = if self.waits { quote!(call_again) } else { quote!(call) };
        let body = quote! {
            #new_staging
            #[allow(unused_mut)]
            let mut #call = ::cairn::__expansion::Arguments::new();
            #(#arguments)*
            self.portals.#by::<WORDS, #decoded, #error>(#number, #call)
        };
        let body = match place {
            Some(place) => {
                quote!(::cairn::__expansion::with_place(#place, self.portals, |#word| { #body }))
            }
            None => body,
        };
        quote! {
            #(#documentation)*
            #[inline(always)]
            pub fn #name(&self, #(#parameters),*) -> ::core::result::Result<#value, #error> {
                const WORDS: usize = ::cairn::__expansion::words(&[#parts]);
                #body
            }
        }
    }

    /// The server's entry point, generic over the provider.
    pub fn skeleton(&self, interface: &Ident) -> TokenStream {
        let Method { name, value, error, .. } = self;
        let registers = Ident::new("registers", Span::mixed_site());
        let control = Ident::new("control", Span::mixed_site());
        let server = Ident::new("server", Span::mixed_site());
        let rest = Ident::new("rest", Span::mixed_site());
        let words_of_call = Ident::new("words", Span::mixed_site());
        let serve = format_ident!("serve_{}", plain(name));
        let words: Vec<Ident> = (0..REGISTERS).map(|number| format_ident!("a{number}")).collect();
        let decoders = self.parameters.iter().map(|(name, parameter)| match parameter {
            Parameter::Value(ty) => quote!(let #name = #registers.value::<#ty>()?;),
            Parameter::Bytes | Parameter::Text => {
                quote!(let #name = ::cairn::__expansion::read_window(&mut #registers);)
            }
            Parameter::BytesMut => quote!(let #name = ::cairn::__expansion::write_window(&mut #registers);),
            Parameter::Place(ty) => {
                quote_spanned!(ty.span()=> let #name = ::cairn::__expansion::place::<#ty>(&mut #registers);)
            }
            Parameter::Object(_, interface) => {
                quote!(let #name = ::cairn::__expansion::passed::<#interface>(&mut #registers);)
            }
            Parameter::Context(context, ty) => {
                let decoder = context.decoder();
                quote_spanned!(ty.span()=> let #name = ::cairn::__expansion::#decoder::<#ty>(&mut #registers);)
            }
        });
        let arguments = self.parameters.iter().map(|(name, _)| name);
        // At the types that they demand something of.
        let narrow = quote_spanned!(error.span()=> ::cairn::__expansion::reply);
        let wide = quote_spanned!(error.span()=> ::cairn::__expansion::wide_reply);
        let provider = quote! {
            P: ::cairn::component::Provider<Interface = dyn #interface + 'static>
        };
        quote! {
            // The two forms of the entry point, of which the compiler keeps the one that fits the value.
            extern "C" fn #name<P>(#(#words: u64),*) -> ::cairn::__expansion::Reply
            where
                #provider,
            {
                #narrow(#serve::<P>([#(#words),*]))
            }

            #[allow(non_camel_case_types)]
            struct #name<P> {
                provider: ::core::marker::PhantomData<P>,
            }

            impl<P> ::cairn::__expansion::Wide for #name<P>
            where
                #provider,
            {
                extern "C" fn serve(
                    #(#words: u64,)*
                    #rest: &mut ::cairn::__expansion::Rest,
                ) -> ::cairn::__expansion::Reply {
                    #wide(#serve::<P>([#(#words),*]), #rest)
                }
            }

            #[inline(always)]
            fn #serve<P>(#words_of_call: [u64; 8]) -> ::core::result::Result<#value, #error>
            where
                #provider,
            {
                let mut #registers = ::cairn::__expansion::Registers::new(#words_of_call);
                let #control = #registers.word();
                #(#decoders)*
                P::with(#control, |#server| <dyn #interface as #interface>::#name(#server, #(#arguments),*))?
            }
        }
    }

    /// The method's entry in the descriptor.
    pub fn descriptor(&self) -> TokenStream {
        let Method { name, value, .. } = self;
        let text = plain(name);
        let parts = self.parts();
        // At the parameters, so that an error about their words is shown there.
        let letters = quote_spanned!(name.span()=>
            ::cairn::__expansion::letters(&[#parts], <#value as ::cairn::wire::Value>::WORDS));
        let kind = quote_spanned!(value.span()=> {
            ::cairn::__expansion::check_value(<#value as ::cairn::wire::Value>::WORDS);
            <#value as ::cairn::wire::Value>::KIND
        });
        quote!(::cairn::__expansion::method(#text, #letters, #kind))
    }

    /// The method's contribution to the version.
    pub fn signature(&self) -> TokenStream {
        let Method { name, value, error, .. } = self;
        let text = plain(name);
        let shapes = self.parameters.iter().map(|(_, parameter)| match parameter {
            Parameter::Value(ty) => quote!(<#ty as ::cairn::wire::Wire>::SHAPE),
            Parameter::Bytes => shape("&[u8]"),
            Parameter::Text => shape("&str"),
            Parameter::BytesMut => shape("&mut [u8]"),
            Parameter::Place(_) => shape("Place"),
            Parameter::Object(ty, _) => {
                let shape = quote_spanned!(ty.span()=> <#ty as ::cairn::wire::Value>::SHAPE);
                quote!(::cairn::__expansion::passed_shape(#shape))
            }
            Parameter::Context(context, _) => shape(&char::from(context.letter()).to_string()),
        });
        let value = quote_spanned!(value.span()=> <#value as ::cairn::wire::Value>::SHAPE);
        let error = quote_spanned!(error.span()=> <#error as ::cairn::wire::MethodError>::SHAPE);
        quote!((#text, &[#(#shapes,)* #value, #error]))
    }

    /// What people call its parts.
    pub fn text(&self) -> TokenStream {
        let Method { name, value, error, .. } = self;
        let name = plain(name);
        let documentation = documentation(&self.documentation);
        let named = |text: &str| quote!(::cairn::__expansion::TypeText::Plain(#text));
        let parameters = self.parameters.iter().map(|(name, parameter)| {
            let name = plain(name);
            let of = match parameter {
                Parameter::Value(ty) => quote!(<#ty as ::cairn::wire::Wire>::TEXT),
                Parameter::Bytes => named("&[u8]"),
                Parameter::Text => named("&str"),
                Parameter::BytesMut => named("&mut [u8]"),
                Parameter::Place(_) => named("Place"),
                Parameter::Object(..) => named("Passed"),
                Parameter::Context(context, _) => named(context.name()),
            };
            quote!((#name, #of))
        });
        quote!(::cairn::__expansion::MethodText {
            name: #name,
            documentation: #documentation,
            parameters: &[#(#parameters),*],
            value: <#value as ::cairn::wire::Value>::TEXT,
            error: <#error as ::cairn::wire::MethodError>::TEXT,
        })
    }

    /// The letters with their words, for the functions of `cairn::__expansion`.
    fn parts(&self) -> TokenStream {
        let parts = self.parameters.iter().map(|(_, parameter)| match parameter {
            Parameter::Value(ty) => {
                quote_spanned!(ty.span()=> (b'i', <#ty as ::cairn::wire::Wire>::WORDS))
            }
            Parameter::Bytes | Parameter::Text => quote!((b'r', 2)),
            Parameter::BytesMut => quote!((b'w', 2)),
            Parameter::Place(_) | Parameter::Object(..) => quote!((b'a', 1), (b'i', 1)),
            Parameter::Context(context, _) => {
                let letter = context.letter();
                quote!((#letter, 1))
            }
        });
        quote!(#(#parts),*)
    }

    /// The name of its parameter of the type `Place`.
    fn place(&self) -> Option<&Ident> {
        let mut places = self.parameters.iter();
        places.find(|(_, parameter)| matches!(parameter, Parameter::Place(_))).map(|(name, _)| name)
    }
}

/// A method that returns an object has one place for it, first, where C headers and shells expect it.
fn check_place(
    signature: &Signature,
    parameters: &[(Ident, Parameter)],
    value: &Type,
) -> Result<(), Error> {
    let is_place = |(_, parameter): &&(Ident, Parameter)| matches!(parameter, Parameter::Place(_));
    let places = parameters.iter().filter(is_place).count();
    let is_first = parameters.first().is_some_and(|first| is_place(&first));
    match (types::is_object(value), places) {
        (false, 0) => Ok(()),
        (true, 1) if is_first => Ok(()),
        (true, 0) => Err(Error::new_spanned(value, NO_PLACE)),
        (false, _) => Err(Error::new_spanned(&signature.inputs, PLACE_WITHOUT_OBJECT)),
        (true, _) => Err(Error::new_spanned(&signature.inputs, ONE_PLACE)),
    }
}

const NO_PLACE: &str = "a client reserves the portals of an object before it calls: make `place: cairn::Place` the first \
                        parameter (a client passes its import `Portals` there)";
const ONE_PLACE: &str =
    "a method that returns an object has one `cairn::Place`, as the first parameter behind `&self`";
const PLACE_WITHOUT_OBJECT: &str = "a `Place` is where an object goes: return `Result<Object<dyn Interface>, cairn::Error>`, or \
                                    leave it out";

fn shape(text: &str) -> TokenStream {
    let bytes = proc_macro2::Literal::byte_string(text.as_bytes());
    quote!(::cairn::__expansion::hash(::cairn::__expansion::HASH_START, #bytes))
}

const TOO_MANY: &str = "too many parameters: a call has 7 words beside the control word (a slice takes 2, a struct one \
                        for each field); put the rest into a `&[u8]`, or split the method";

/// Checks everything about a method but its types.
fn check_form(item: &TraitItemFn) -> Result<(), Error> {
    let signature = &item.sig;
    for attribute in &item.attrs {
        let is_waits =
            attribute.path().is_ident(WAITS) && attribute.meta.require_path_only().is_ok();
        if !is_waits && !attribute.path().is_ident("doc") {
            return Err(Error::new_spanned(
                attribute,
                "a method of an interface has only documentation comments as attributes, and `#[waits]`",
            ));
        }
    }
    if let Some(asyncness) = signature.asyncness {
        return Err(Error::new_spanned(
            asyncness,
            "a portal call is not async: the thread itself goes to the server; leave `async` out",
        ));
    }
    if let Some(constness) = signature.constness {
        return Err(Error::new_spanned(constness, "a portal call is not const: leave `const` out"));
    }
    if let Some(unsafety) = signature.unsafety {
        return Err(Error::new_spanned(
            unsafety,
            "a server checks what it is given, so its methods are safe: leave `unsafe` out",
        ));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(
            abi,
            "the macro chooses the calling convention: leave `extern` out",
        ));
    }
    if let Some(lifetime) = signature.generics.lifetimes().next() {
        return Err(Error::new_spanned(
            lifetime,
            "an interface has no lifetimes: a window is there only until the call returns; leave the lifetime out",
        ));
    }
    if !signature.generics.params.is_empty() || signature.generics.where_clause.is_some() {
        return Err(Error::new_spanned(
            &signature.generics,
            "a method of an interface is not generic: a portal is made for one signature; write the type, or one method for each type",
        ));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new_spanned(variadic, "a method has a fixed number of parameters"));
    }
    if let Some(default) = &item.default {
        return Err(Error::new_spanned(
            default,
            "a method has no default body: every server implements it; end the method with `;`",
        ));
    }
    if RESERVED.iter().any(|reserved| signature.ident == reserved) {
        return Err(Error::new(
            signature.ident.span(),
            "the proxy has a function of this name (`at`, `at_minimal`, `import`, `first_portal`, `entries`): choose another",
        ));
    }
    check_receiver(item)
}

fn check_receiver(item: &TraitItemFn) -> Result<(), Error> {
    let Some(FnArg::Receiver(receiver)) = item.sig.inputs.first() else {
        return Err(Error::new(
            item.sig.ident.span(),
            "a method is called on a server: its first parameter is `&self`",
        ));
    };
    if receiver.colon_token.is_some() {
        return Err(Error::new_spanned(receiver, "write the first parameter as `&self`"));
    }
    let Some((_, lifetime)) = &receiver.reference else {
        return Err(Error::new_spanned(
            receiver,
            "a server stays when it was called: write `&self`",
        ));
    };
    if let Some(lifetime) = lifetime {
        return Err(Error::new_spanned(lifetime, "an interface has no lifetimes: write `&self`"));
    }
    if receiver.mutability.is_some() {
        return Err(Error::new_spanned(
            receiver,
            "several threads can be in a server at a time: write `&self`, and keep what changes in atomics or behind a lock",
        ));
    }
    Ok(())
}

fn parameter(argument: &FnArg) -> Result<(Ident, Parameter), Error> {
    let FnArg::Typed(argument) = argument else {
        return Err(Error::new(argument.span(), "`self` is the first parameter"));
    };
    if let Some(attribute) = argument.attrs.first() {
        return Err(Error::new_spanned(attribute, "a parameter has no attributes"));
    }
    let Pat::Ident(pattern) = &*argument.pat else {
        return Err(Error::new_spanned(
            &argument.pat,
            "a parameter of an interface is a plain name",
        ));
    };
    if pattern.by_ref.is_some() || pattern.mutability.is_some() || pattern.subpat.is_some() {
        return Err(Error::new_spanned(pattern, "a parameter of an interface is a plain name"));
    }
    Ok((pattern.ident.clone(), types::parameter(&argument.ty)?))
}
