//! `#[cairn::interface]`.

use crate::documentation::{documentation, plain};
use crate::method::Method;
use cairn_abi::descriptor::METHODS_MAXIMUM;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, ItemTrait, TraitItem};

/// Longest name of an interface or a method, as in the descriptor.
const NAME_MAXIMUM: usize = 31;

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(attribute, "`#[cairn::interface]` takes no arguments"));
    }
    let item: ItemTrait = syn::parse2(item).map_err(|error| {
        Error::new(error.span(), "`#[cairn::interface]` stands before a trait: `pub trait Name { fn method(&self) -> Result<(), cairn::Error>; }`")
    })?;
    check_form(&item)?;
    let methods = methods(&item)?;
    let ItemTrait { attrs, vis, ident: name, .. } = &item;
    let text = plain(name);
    let proxy = format_ident!("{name}Proxy");
    let proxy_documentation =
        format!("Calls the methods of [`{name}`] through a block of portals.");
    let in_trait = methods.iter().map(Method::in_trait);
    let in_proxy = methods.iter().zip(0..).map(|(method, number)| method.in_proxy(number));
    let skeletons = methods.iter().map(|method| method.skeleton(name));
    let entries = methods.iter().zip(0usize..).map(|(method, number)| {
        let name = &method.name;
        let value = &method.value;
        quote!(entries[#number] = ::core::option::Option::Some(::cairn::__expansion::entry::<#name<P>>(
            <#value as ::cairn::wire::Value>::WORDS,
            #name::<P>,
        ));)
    });
    let descriptors = methods.iter().map(Method::descriptor);
    let signatures = methods.iter().map(Method::signature);
    let documentation = documentation(attrs);
    let mock = format_ident!("{name}Mock");
    let mock_documentation =
        format!("Stands in for a [`{name}`] in tests on the host; see `cairn::mock`.");
    let mut mocked = (Vec::new(), Vec::new(), Vec::new());
    mocked.extend(methods.iter().map(Method::in_mock));
    let (mock_fields, mock_setters, mock_methods) = mocked;
    let empty =
        methods.iter().map(|Method { name, .. }| quote!(#name: ::core::option::Option::None,));
    let texts = methods.iter().map(Method::text);
    Ok(quote! {
        #(#attrs)*
        // A call has room for seven parameters, and the control word.
        #[allow(clippy::too_many_arguments)]
        #vis trait #name {
            #(#in_trait)*
        }

        #[doc = #proxy_documentation]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #vis struct #proxy {
            portals: ::cairn::__expansion::Portals,
        }

        #[allow(dead_code, clippy::too_many_arguments)]
        impl #proxy {
            /// The interface's name, version and methods.
            pub const DESCRIPTOR: ::cairn::__expansion::InterfaceDescriptor = ::cairn::__expansion::interface(
                #text,
                ::cairn::__expansion::version(&[#(#signatures),*]),
                &[#(#descriptors),*],
            );
            /// What people call its parts, and its documentation.
            pub const TEXT: ::cairn::__expansion::InterfaceText = ::cairn::__expansion::InterfaceText {
                name: #text,
                version: Self::DESCRIPTOR.version,
                documentation: #documentation,
                methods: &[#(#texts),*],
            };
            /// The number of methods, each of which takes one portal.
            pub const METHODS: u32 = Self::DESCRIPTOR.method_count;

            /// The block of portals that begins at index `first_portal`.
            pub const fn at(first_portal: u32) -> Self {
                Self { portals: ::cairn::__expansion::Portals::at(first_portal) }
            }

            /// The same, for portals with the state letter `m`, whose failed calls destroy every
            /// register.
            pub const fn at_minimal(first_portal: u32) -> Self {
                Self { portals: ::cairn::__expansion::Portals::at_minimal(first_portal) }
            }

            /// An import, for `cairn::component!`.
            #[doc(hidden)]
            pub const fn import(portals: ::cairn::__expansion::Portals) -> Self {
                Self { portals }
            }

            /// The portals.
            pub const fn portals(&self) -> ::cairn::__expansion::Portals {
                self.portals
            }

            /// Index of the first portal.
            pub fn first_portal(&self) -> u32 {
                self.portals.first()
            }

            /// The entry points of a server, for `cairn::component!`.
            #[doc(hidden)]
            pub const fn entries<P>() -> [::core::option::Option<::cairn::__expansion::EntryPoint>; ::cairn::__expansion::METHODS_MAXIMUM]
            where
                P: ::cairn::component::Provider<Interface = dyn #name + 'static>,
            {
                #(#skeletons)*
                #[allow(unused_mut)]
                let mut entries = [::core::option::Option::None; ::cairn::__expansion::METHODS_MAXIMUM];
                #(#entries)*
                entries
            }

            /// Calls of these portals by this thread are calls of `server`, in a test.
            #[cfg(not(target_os = "none"))]
            pub fn answered_by(&self, server: impl #name + 'static) {
                ::cairn::mock::answer::<dyn #name>(
                    self.portals,
                    Self::entries::<::cairn::mock::Mocked<dyn #name>>(),
                    ::cairn::mock::Box::new(server),
                );
            }

            #(#in_proxy)*
        }

        #[doc = #mock_documentation]
        #[cfg(not(target_os = "none"))]
        #[allow(dead_code)]
        #vis struct #mock {
            #(#mock_fields)*
        }

        #[cfg(not(target_os = "none"))]
        impl ::core::default::Default for #mock {
            fn default() -> Self {
                #mock { #(#empty)* }
            }
        }

        #[cfg(not(target_os = "none"))]
        #[allow(dead_code, clippy::too_many_arguments)]
        impl #mock {
            #(#mock_setters)*
        }

        // Most methods' error is what it is made from.
        #[cfg(not(target_os = "none"))]
        #[allow(clippy::useless_conversion)]
        impl #name for #mock {
            #(#mock_methods)*
        }

        impl ::cairn::component::Interface for dyn #name + 'static {
            type Proxy = #proxy;
            const NAME: &'static str = #text;
            const DESCRIPTOR: ::cairn::__expansion::InterfaceDescriptor = #proxy::DESCRIPTOR;
            const TEXT: ::cairn::__expansion::InterfaceText = #proxy::TEXT;

            fn proxy(portals: ::cairn::__expansion::Portals) -> #proxy {
                #proxy { portals }
            }
        }

        // What `cairn` reads from the compiled crate; no component has it. The interface is checked when it is compiled, too, not
        // when it is first used.
        const _: () = {
            #[used]
            static CAIRN_INTERFACE_DESCRIPTOR: ::cairn::__expansion::InterfaceDescriptor = #proxy::DESCRIPTOR;
            #[used]
            static CAIRN_INTERFACE_TEXT: ::cairn::__expansion::Texts<{
                ::cairn::__expansion::length(&[#proxy::TEXT], &[])
            }> = ::cairn::__expansion::Texts::new(&[#proxy::TEXT], &[]);
        };
    })
}

/// Checks everything about the trait but its methods.
fn check_form(item: &ItemTrait) -> Result<(), Error> {
    if let Some(unsafety) = item.unsafety {
        return Err(Error::new_spanned(
            unsafety,
            "an interface is a safe trait: leave `unsafe` out",
        ));
    }
    if let Some(auto) = item.auto_token {
        return Err(Error::new_spanned(
            auto,
            "an interface is not an auto trait: leave `auto` out",
        ));
    }
    if let Some(lifetime) = item.generics.lifetimes().next() {
        return Err(Error::new_spanned(lifetime, "an interface has no lifetimes: leave it out"));
    }
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        return Err(Error::new_spanned(
            &item.generics,
            "an interface is not generic: a portal is made for one signature; write one interface for each type",
        ));
    }
    if !item.supertraits.is_empty() {
        return Err(Error::new_spanned(
            &item.supertraits,
            "an interface has no supertraits: export both interfaces",
        ));
    }
    check_length(&item.ident)
}

fn methods(item: &ItemTrait) -> Result<Vec<Method>, Error> {
    let mut methods = Vec::new();
    let mut errors: Option<Error> = None;
    for entry in &item.items {
        let method = match entry {
            TraitItem::Fn(method) => {
                check_length(&method.sig.ident).and_then(|()| Method::parse(method))
            }
            TraitItem::Type(entry) => Err(Error::new_spanned(
                entry,
                "an interface has no associated types: write the type in the methods",
            )),
            TraitItem::Const(entry) => Err(Error::new_spanned(
                entry,
                "an interface has no constants: put it beside the trait, or return it from a method",
            )),
            other => {
                Err(Error::new_spanned(other, "an interface consists of methods: write them out"))
            }
        };
        match (method, &mut errors) {
            (Ok(method), _) => methods.push(method),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), none) => *none = Some(error),
        }
    }
    if let Some(errors) = errors {
        return Err(errors);
    }
    if methods.len() > METHODS_MAXIMUM {
        let extra = &methods[METHODS_MAXIMUM].name;
        let message = format!("an interface has at most {METHODS_MAXIMUM} methods: split it");
        return Err(Error::new(extra.span(), message));
    }
    if methods.is_empty() {
        return Err(Error::new(item.ident.span(), "an interface has at least one method"));
    }
    Ok(methods)
}

fn check_length(name: &syn::Ident) -> Result<(), Error> {
    if name.to_string().len() > NAME_MAXIMUM {
        return Err(Error::new(
            name.span(),
            "the name of an interface or a method has at most 31 bytes",
        ));
    }
    Ok(())
}
