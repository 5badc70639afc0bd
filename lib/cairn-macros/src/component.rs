//! `cairn::component!`.

use crate::argument::{self, Argument};
use crate::documentation::plain;
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, GenericArgument, Ident, LitStr, Path, PathArguments, PathSegment,
    Token, Type, braced,
};

/// Most exports and object interfaces of a component, as in the descriptor.
const EXPORTS_MAXIMUM: usize = 10;

struct Component {
    name: LitStr,
    imports: Vec<Import>,
    exports: Vec<Export>,
    objects: Vec<Export>,
    /// It says that it makes none, whatever its exports' methods return.
    makes_none: bool,
    arguments: Vec<Argument>,
    /// What comes before it serves.
    init: Option<Path>,
    main: Option<Path>,
}

struct Import {
    minimal: bool,
    /// A description may leave it out.
    optional: bool,
    name: Ident,
    interface: Path,
}

struct Export {
    name: Ident,
    interface: Path,
    server: Expr,
}

pub fn expand(input: TokenStream) -> Result<TokenStream, Error> {
    let component: Component = syn::parse2(input)?;
    let name = &component.name;
    let says_ready = component.init.is_some();
    // Where the function stands here is the place that an error of its is told with.
    let run = |function: &Path, key: &str| {
        let how = format!("`{key}` has ended");
        quote_spanned!(function.span()=> ::cairn::__expansion::run(#function, #how);)
    };
    let main = component.main.as_ref().map(|main| run(main, "main"));
    let main = match component.init.as_ref().map(|init| run(init, "init")) {
        Some(init) => quote!({ #init ::cairn::ready(); #main }),
        None => quote!({ #main }),
    };
    let main = match says_ready || component.main.is_some() {
        true => quote!(::core::option::Option::Some((|| #main) as fn())),
        false => quote!(::core::option::Option::None),
    };
    let (import_items, imports) = expand_imports(&component.imports);
    let mut export_items = TokenStream::new();
    let mut exports = Vec::new();
    for (export, is_object) in component
        .exports
        .iter()
        .map(|export| (export, false))
        .chain(component.objects.iter().map(|object| (object, true)))
    {
        let (items, descriptor) = expand_export(export, is_object, says_ready);
        export_items.extend(items);
        exports.push(descriptor);
    }
    let made = component.made_objects();
    let (argument_items, arguments) = argument::expand(&component.arguments);
    let print = expand_print(&component.imports);
    let enums = argument::enums(&component.arguments);
    let texts: Vec<TokenStream> = (component.exports.iter().chain(&component.objects))
        .map(|Export { interface, .. }| quote_spanned!(interface.span()=> <dyn #interface as ::cairn::component::Interface>::TEXT))
        .collect();
    Ok(quote! {
        #import_items
        #export_items
        #argument_items
        #made
        #print

        // The linker keeps it in a section of its own, which the host tool reads; it is not loaded.
        #[doc(hidden)]
        #[used]
        static CAIRN_COMPONENT: ::cairn::__expansion::ComponentDescriptor =
            ::cairn::__expansion::component(#name, #says_ready, #main, &[#(#imports),*], &[#(#exports),*], &[#(#arguments),*]);

        // What people call the parts of what it serves, in the same section.
        #[doc(hidden)]
        #[used]
        static CAIRN_TEXTS: ::cairn::__expansion::Texts<{
            ::cairn::__expansion::length(&[#(#texts),*], #enums)
        }> = ::cairn::__expansion::Texts::new(&[#(#texts),*], #enums);
    })
}

/// The module `imports`, and the descriptors.
fn expand_imports(imports: &[Import]) -> (TokenStream, Vec<TokenStream>) {
    let descriptors: Vec<TokenStream> = imports
        .iter()
        .map(|Import { interface, .. }| {
            quote_spanned!(interface.span()=> <dyn #interface as ::cairn::component::Interface>::DESCRIPTOR)
        })
        .collect();
    let mut aliases = TokenStream::new();
    let mut constants = TokenStream::new();
    let mut entries = Vec::new();
    for (position, Import { minimal, optional, name, interface }) in imports.iter().enumerate() {
        // The interface's path is resolved where the macro stands, not in the module.
        let alias = format_ident!("CairnImport{position}");
        let constant = Ident::new(&plain(name).to_uppercase(), name.span());
        let documentation = format!("The import `{name}`.");
        let text = plain(name);
        aliases.extend(quote_spanned! {interface.span()=>
            #[doc(hidden)]
            type #alias = <dyn #interface as ::cairn::component::Interface>::Proxy;
        });
        let proxy = quote! {
            super::#alias::import(::cairn::__expansion::Portals::imported::<
                { super::CAIRN_IMPORTS[#position].first_portal },
                { super::CAIRN_IMPORTS[#position].interface.method_count },
            >(#minimal))
        };
        let place = position as u32;
        let (kind, value) = match optional {
            false => (quote!(super::#alias), proxy),
            true => (
                quote!(::cairn::component::Optional<super::#alias>),
                quote!(::cairn::component::Optional::new(#proxy, #place)),
            ),
        };
        constants.extend(quote! {
            #[doc = #documentation]
            #[allow(dead_code)]
            pub const #constant: #kind = #value;
        });
        let descriptor = &descriptors[position];
        entries.push(quote! {
            ::cairn::__expansion::import(
                #text,
                ::cairn::__expansion::first_portal(&[#(#descriptors),*], #position),
                #minimal,
                #optional,
                #descriptor,
            )
        });
    }
    let count = imports.len();
    let items = quote! {
        #aliases
        const CAIRN_IMPORTS: [::cairn::__expansion::ImportDescriptor; #count] = [#(#entries),*];
        /// What this component calls: a proxy for each import.
        mod imports {
            #constants
        }
    };
    if imports.is_empty() {
        return (TokenStream::new(), Vec::new());
    }
    let used = (0..count).map(|position| quote!(CAIRN_IMPORTS[#position])).collect();
    (items, used)
}

/// What `cairn::print!` calls. Which import is the console its type says, since other interfaces may be called so.
fn expand_print(imports: &[Import]) -> TokenStream {
    let constants = imports.iter().map(|import| {
        let constant = Ident::new(&plain(&import.name).to_uppercase(), import.name.span());
        quote!(imports::#constant)
    });
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused_imports)]
        fn cairn_print(text: ::core::fmt::Arguments<'_>) {
            use ::cairn::__expansion::NoConsole as _;
            #(if ::cairn::__expansion::Printing(#constants).print(text) {
                return;
            })*
            ::cairn::log::print(text)
        }
    }
}

/// The provider of an export or an object interface, and its descriptor.
fn expand_export(
    Export { name, interface, server }: &Export,
    is_object: bool,
    says_ready: bool,
) -> (TokenStream, TokenStream) {
    let kind = if is_object { "Object" } else { "Export" };
    let provider = format_ident!("Cairn{kind}_{name}");
    let text = plain(name);
    // At the server, so that "does not implement" is shown there.
    let with = if is_object {
        quote_spanned!(server.span()=> #server.with(control, |object| body(object)))
    } else {
        quote_spanned!(server.span()=> { let _ = control; ::core::result::Result::Ok(body(&#server)) })
    };
    // Nobody has an object of who has not served yet.
    let serves = (says_ready && !is_object).then(|| quote!(::cairn::__expansion::serves()?;));
    let items = quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        struct #provider;
        impl ::cairn::component::Provider for #provider {
            type Interface = dyn #interface + 'static;
            #[inline(always)]
            fn with<R>(
                control: u64,
                body: impl ::core::ops::FnOnce(&(dyn #interface + 'static)) -> R,
            ) -> ::core::result::Result<R, ::cairn::Error> {
                #serves
                #with
            }
        }
    };
    let descriptor = quote_spanned! {interface.span()=>
        ::cairn::__expansion::export(
            #text,
            #is_object,
            <dyn #interface as ::cairn::component::Interface>::DESCRIPTOR,
            <<dyn #interface as ::cairn::component::Interface>::Proxy>::entries::<#provider>(),
        )
    };
    (items, descriptor)
}

impl Parse for Component {
    fn parse(input: ParseStream) -> Result<Self, Error> {
        let mut name = None;
        let (mut init, mut main) = (None, None);
        let (mut imports, mut exports, mut objects, mut arguments) = (None, None, None, None);
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![:]>()?;
            let new = match key.to_string().as_str() {
                "name" => name.replace(parse_name(input)?).is_none(),
                "imports" => imports.replace(list::<Import>(input)?).is_none(),
                "exports" => exports.replace(list::<Export>(input)?).is_none(),
                "objects" => objects.replace(list::<Export>(input)?).is_none(),
                "arguments" => arguments.replace(list::<Argument>(input)?).is_none(),
                "init" => init.replace(input.parse::<Path>()?).is_none(),
                "main" => main.replace(input.parse::<Path>()?).is_none(),
                _ => {
                    return Err(Error::new(
                        key.span(),
                        "expected one of `name`, `imports`, `exports`, `objects`, `arguments`, `init`, `main`",
                    ));
                }
            };
            if !new {
                return Err(Error::new(key.span(), format!("`{key}` is there twice")));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let name =
            name.ok_or_else(|| input.error("a component has a name: write `name: \"greeter\",`"))?;
        let makes_none = objects.as_ref().is_some_and(Vec::is_empty);
        let component = Component {
            name,
            imports: imports.unwrap_or_default(),
            exports: exports.unwrap_or_default(),
            objects: objects.unwrap_or_default(),
            makes_none,
            arguments: arguments.unwrap_or_default(),
            init,
            main,
        };
        component.check()?;
        Ok(component)
    }
}

impl Component {
    /// What refuses an interface whose methods return objects that the component does not make.
    fn made_objects(&self) -> TokenStream {
        if self.makes_none {
            return TokenStream::new();
        }
        let objects = self.objects.iter().map(|object| &object.interface);
        let names = quote!(&[#(<dyn #objects as ::cairn::component::Interface>::NAME),*]);
        let served = self.exports.iter().chain(&self.objects).map(|export| &export.interface);
        let checks = served.map(|interface| {
            let of = quote!(<dyn #interface as ::cairn::component::Interface>);
            quote_spanned! {interface.span()=>
                const _: () = ::cairn::__expansion::makes_objects(&#of::DESCRIPTOR, &#of::TEXT, #names);
            }
        });
        checks.collect()
    }

    fn check(&self) -> Result<(), Error> {
        unique(self.imports.iter().map(|import| &import.name))?;
        unique(self.exports.iter().chain(&self.objects).map(|export| &export.name))?;
        unique(self.arguments.iter().map(|argument| &argument.name))?;
        if let Some(argument) = self.arguments.get(16) {
            return Err(Error::new(argument.name.span(), "a component has at most 16 arguments"));
        }
        if let Some(import) = self.imports.get(16) {
            return Err(Error::new(import.name.span(), "a component has at most 16 imports"));
        }
        if let Some(export) = self.exports.iter().chain(&self.objects).nth(EXPORTS_MAXIMUM) {
            return Err(Error::new(
                export.name.span(),
                "a component has at most 10 exports and object interfaces",
            ));
        }
        Ok(())
    }
}

fn parse_name(input: ParseStream) -> Result<LitStr, Error> {
    let name: LitStr = input.parse()?;
    let text = name.value();
    if text.is_empty() || text.len() > 31 {
        return Err(Error::new(name.span(), "a component's name has 1 to 31 bytes"));
    }
    Ok(name)
}

fn list<T: Parse>(input: ParseStream) -> Result<Vec<T>, Error> {
    let content;
    braced!(content in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

fn unique<'a>(names: impl Iterator<Item = &'a Ident>) -> Result<(), Error> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if name.to_string().len() > 31 {
            return Err(Error::new(name.span(), "a name has at most 31 bytes"));
        }
        if !seen.insert(name.to_string().to_uppercase()) {
            return Err(Error::new(name.span(), format!("the name `{name}` is there twice")));
        }
    }
    Ok(())
}

impl Parse for Import {
    fn parse(input: ParseStream) -> Result<Self, Error> {
        let mut minimal = false;
        for attribute in input.call(Attribute::parse_outer)? {
            if !attribute.path().is_ident("minimal") || attribute.meta.require_path_only().is_err()
            {
                return Err(Error::new_spanned(
                    attribute,
                    "only `#[minimal]` is known before an import",
                ));
            }
            minimal = true;
        }
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let (optional, interface) = optional(input.parse()?);
        Ok(Import { minimal, optional, name, interface })
    }
}

/// Whether a path is `Option<Interface>`, and the interface.
fn optional(path: Path) -> (bool, Path) {
    if let Some(PathSegment { ident, arguments: PathArguments::AngleBracketed(of) }) =
        path.segments.last()
        && ident == "Option"
        && let [GenericArgument::Type(Type::Path(interface))] = &*of.args.iter().collect::<Vec<_>>()
    {
        return (true, interface.path.clone());
    }
    (false, path)
}

impl Parse for Export {
    fn parse(input: ParseStream) -> Result<Self, Error> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let interface = input.parse()?;
        if !input.peek(Token![=]) {
            return Err(input.error("expected `= SERVER`, the static that serves the interface"));
        }
        input.parse::<Token![=]>()?;
        Ok(Export { name, interface, server: input.parse()? })
    }
}
