//! `#[derive(cairn::Wire)]` and `#[derive(cairn::MethodError)]`.

use crate::documentation::{documentation, plain};
use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Error, Fields, Ident, Index, Variant};

/// Most fields of a struct that travels in registers.
const FIELDS_MAXIMUM: usize = 4;

pub fn wire(input: TokenStream) -> Result<TokenStream, Error> {
    let input: DeriveInput = syn::parse2(input)?;
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a type that crosses portals is not generic: write the types of its fields",
        ));
    }
    match &input.data {
        Data::Struct(data) => wire_struct(&input, data),
        Data::Enum(data) => wire_enum(&input, data),
        Data::Union(data) => Err(Error::new_spanned(
            data.union_token,
            "a union has no checked decoding: write a struct, or an enum without fields",
        )),
    }
}

fn wire_struct(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream, Error> {
    let name = &input.ident;
    if data.fields.is_empty() {
        return Err(Error::new(
            name.span(),
            "a struct without fields carries nothing: leave it out, or use `()` as a method's value",
        ));
    }
    if let Some(field) = data.fields.iter().nth(FIELDS_MAXIMUM) {
        return Err(Error::new_spanned(
            field,
            "a struct that travels in registers has at most 4 fields: pass larger data as `&[u8]`",
        ));
    }
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let members: Vec<TokenStream> = data
        .fields
        .iter()
        .enumerate()
        .map(|(number, field)| match &field.ident {
            Some(name) => quote!(#name),
            None => {
                let index = Index::from(number);
                quote!(#index)
            }
        })
        .collect();
    let traits: Vec<TokenStream> =
        types.iter().map(|ty| quote_spanned!(ty.span()=> <#ty as ::cairn::wire::Wire>)).collect();
    let shape = Literal::byte_string(format!("struct {}", types.len()).as_bytes());
    let (text, about) = (plain(name), documentation(&input.attrs));
    let fields = data.fields.iter().zip(&members).zip(&traits).map(|((field, member), of)| {
        let (name, about) = (plain(member), documentation(&field.attrs));
        quote!(::cairn::__expansion::FieldText { name: #name, documentation: #about, of: #of::TEXT })
    });
    Ok(quote! {
        impl ::cairn::wire::Wire for #name {
            const WORDS: usize = {
                let words = 0 #(+ #traits::WORDS)*;
                assert!(words <= #FIELDS_MAXIMUM, "a struct that travels in registers has at most 4 words");
                words
            };
            const KIND: u32 = ::cairn::__expansion::WORDS;
            const SHAPE: u64 = {
                let hash = ::cairn::__expansion::hash(::cairn::__expansion::HASH_START, #shape);
                #(let hash = ::cairn::__expansion::hash_word(hash, #traits::SHAPE);)*
                hash
            };
            const TEXT: ::cairn::__expansion::TypeText =
                ::cairn::__expansion::TypeText::Struct(#text, #about, &[#(#fields),*]);

            #[inline(always)]
            fn store(self, arguments: &mut ::cairn::__expansion::Arguments) {
                #(arguments.value(self.#members);)*
            }
            #[inline(always)]
            fn load(registers: &mut ::cairn::__expansion::Registers) -> ::core::result::Result<Self, ::cairn::Error> {
                ::core::result::Result::Ok(Self { #(#members: registers.value()?),* })
            }
        }
        // Checked here, not where it is first used.
        const _: usize = <#name as ::cairn::wire::Wire>::WORDS;
    })
}

fn wire_enum(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream, Error> {
    let name = &input.ident;
    if data.variants.is_empty() {
        return Err(Error::new(name.span(), "an enum without variants has no values"));
    }
    for variant in &data.variants {
        if !variant.fields.is_empty() {
            return Err(Error::new_spanned(
                variant,
                "only enums without fields travel in a register: use a struct, or several methods",
            ));
        }
    }
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    let text =
        enum_text(input, data.variants.iter(), variants.iter().map(|one| quote!(#name::#one)));
    let names: Vec<Literal> =
        variants.iter().map(|variant| Literal::byte_string(plain(variant).as_bytes())).collect();
    Ok(quote! {
        impl ::cairn::wire::Wire for #name {
            const WORDS: usize = 1;
            const KIND: u32 = ::cairn::__expansion::WORDS;
            const SHAPE: u64 = {
                let hash = ::cairn::__expansion::hash(::cairn::__expansion::HASH_START, b"enum");
                #(
                    let hash = ::cairn::__expansion::hash(hash, #names);
                    let hash = ::cairn::__expansion::hash_word(hash, #name::#variants as u64);
                )*
                hash
            };
            const TEXT: ::cairn::__expansion::TypeText = #text;

            #[inline(always)]
            fn store(self, arguments: &mut ::cairn::__expansion::Arguments) {
                arguments.word(self as u64);
            }
            #[inline(always)]
            fn load(registers: &mut ::cairn::__expansion::Registers) -> ::core::result::Result<Self, ::cairn::Error> {
                let word = registers.word();
                #(
                    if word == #name::#variants as u64 {
                        return ::core::result::Result::Ok(#name::#variants);
                    }
                )*
                ::core::result::Result::Err(::cairn::Error::Malformed)
            }
        }
    })
}

/// What people call an enum and these variants of it, with the words that stand for them.
fn enum_text<'a>(
    input: &DeriveInput,
    variants: impl Iterator<Item = &'a Variant>,
    codes: impl Iterator<Item = TokenStream>,
) -> TokenStream {
    let (name, about) = (plain(&input.ident), documentation(&input.attrs));
    let variants = variants.zip(codes).map(|(variant, code)| {
        let (name, about) = (plain(&variant.ident), documentation(&variant.attrs));
        quote!(::cairn::__expansion::VariantText { name: #name, documentation: #about, code: #code as i64 })
    });
    quote!(::cairn::__expansion::TypeText::Enum(#name, #about, &[#(#variants),*]))
}

pub fn method_error(input: TokenStream) -> Result<TokenStream, Error> {
    let input: DeriveInput = syn::parse2(input)?;
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "an error that crosses portals is not generic",
        ));
    }
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(name.span(), "the error of a method is an enum"));
    };
    let portal = portal_variant(name, data)?;
    let portal_name = &portal.ident;
    let field = portal.fields.iter().next().expect("it has one field");
    let member = match &field.ident {
        Some(name) => quote!(#name),
        None => quote!(0),
    };
    let mut codes = TokenStream::new();
    let mut constants = Vec::new();
    let mut variants = Vec::new();
    let mut previous = quote!(0);
    for variant in data.variants.iter().filter(|variant| variant.ident != *portal_name) {
        if !variant.fields.is_empty() {
            return Err(Error::new_spanned(
                variant,
                "a variant is a code without fields, but for the one `Portal(cairn::Error)`",
            ));
        }
        let constant = quote::format_ident!("CODE_{}", constants.len());
        let code = match &variant.discriminant {
            Some((_, code)) => quote!((#code) as i64),
            None => quote!(#previous + 1),
        };
        codes.extend(quote_spanned! {variant.span()=>
            const #constant: i64 = ::cairn::__expansion::check_code(#code);
        });
        previous = quote!(#constant);
        constants.push(constant);
        variants.push(variant);
    }
    let text =
        enum_text(&input, variants.iter().copied(), constants.iter().map(|one| quote!(#one)));
    let variants: Vec<&Ident> = variants.iter().map(|variant| &variant.ident).collect();
    let names: Vec<Literal> =
        variants.iter().map(|variant| Literal::byte_string(plain(variant).as_bytes())).collect();
    Ok(quote! {
        const _: () = {
            #codes

            impl ::core::convert::From<::cairn::Error> for #name {
                #[inline(always)]
                fn from(error: ::cairn::Error) -> Self {
                    #name::#portal_name { #member: error }
                }
            }

            impl ::cairn::wire::MethodError for #name {
                const SHAPE: u64 = {
                    let hash = ::cairn::__expansion::hash(::cairn::__expansion::HASH_START, b"error");
                    #(
                        let hash = ::cairn::__expansion::hash(hash, #names);
                        let hash = ::cairn::__expansion::hash_word(hash, #constants as u64);
                    )*
                    hash
                };
                const TEXT: ::cairn::__expansion::TypeText = #text;

                #[inline(always)]
                fn into_status(self) -> i64 {
                    match self {
                        #(#name::#variants => #constants,)*
                        #name::#portal_name { #member: error } => error.status(),
                    }
                }
                #[inline(always)]
                fn from_status(status: i64) -> Self {
                    match status {
                        #(#constants => #name::#variants,)*
                        _ => #name::#portal_name { #member: ::cairn::__expansion::portal_error(status) },
                    }
                }
            }
        };
    })
}

/// The variant that holds a `cairn::Error`.
fn portal_variant<'a>(name: &Ident, data: &'a DataEnum) -> Result<&'a Variant, Error> {
    let marked = |variant: &&Variant| {
        variant.attrs.iter().any(|attribute| attribute.path().is_ident("portal"))
    };
    let mut candidates = data.variants.iter().filter(marked);
    let found = match candidates.next() {
        Some(variant) => Some(variant),
        None => data.variants.iter().find(|variant| variant.ident == "Portal"),
    };
    if let Some(second) = candidates.next() {
        return Err(Error::new(second.span(), "only one variant is `#[portal]`"));
    }
    let variant = found.ok_or_else(|| {
        Error::new(name.span(), "every call can fail: add the variant `Portal(cairn::Error)`, or mark one like it `#[portal]`")
    })?;
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(variant),
        Fields::Named(fields) if fields.named.len() == 1 => Ok(variant),
        _ => Err(Error::new_spanned(
            variant,
            "this variant holds one `cairn::Error`: write `Portal(cairn::Error)`",
        )),
    }
}
