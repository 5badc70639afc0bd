//! A call of an interface, by its declaration, with values written down.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use syn::{
    Fields, FnArg, GenericArgument, Item, ItemTrait, PathArguments, ReturnType, TraitItem, Type,
    TypeReference, Visibility,
};

/// Structs in structs: a parameter has at most 7 words, but a type that names itself has no end.
const DEPTH_MAXIMUM: usize = 7;

/// The public items of a crate, whose interfaces and types are all named at its root.
pub(super) struct Items(BTreeMap<String, (String, Item)>);

/// How an interface is called once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The method's name.
    pub(super) method: String,
    /// Its arguments.
    pub(super) arguments: String,
    /// Types that the arguments name.
    pub(super) types: Vec<String>,
    /// The arguments have the import `Portals` among them, since the method answers an object.
    pub(super) needs_portals: bool,
    /// How many parameters the method has.
    pub(super) parameters: usize,
    /// What it could answer, and the types that this names; none if it cannot be written down.
    pub(super) reply: Option<(String, Vec<String>)>,
}

impl Items {
    /// Those of a crate's folder `src`, a path from `root`.
    pub(super) fn read(root: &Path, source: &str) -> Result<Items> {
        let mut items = Items(BTreeMap::new());
        let folder = root.join(source);
        for entry in std::fs::read_dir(&folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .flatten()
        {
            let file = format!("{source}/{}", entry.file_name().to_string_lossy());
            if file.ends_with(".rs") {
                let text = std::fs::read_to_string(entry.path())
                    .with_context(|| format!("cannot read {file}"))?;
                items.add(&file, &text)?;
            }
        }
        Ok(items)
    }

    fn add(&mut self, file: &str, text: &str) -> Result<()> {
        let parsed = syn::parse_file(text).with_context(|| format!("{file} is no Rust source"))?;
        for item in parsed.items {
            let name = match &item {
                Item::Trait(one) if is_public(&one.vis) => &one.ident,
                Item::Struct(one) if is_public(&one.vis) => &one.ident,
                Item::Enum(one) if is_public(&one.vis) => &one.ident,
                _ => continue,
            };
            self.0.insert(name.to_string(), (file.to_owned(), item));
        }
        Ok(())
    }

    /// The file that declares an interface.
    pub(super) fn file(&self, interface: &str) -> Option<&str> {
        self.interface(interface).map(|(file, _)| file)
    }

    fn interface(&self, name: &str) -> Option<(&str, &ItemTrait)> {
        match self.0.get(name) {
            Some((file, Item::Trait(item))) => Some((file, item)),
            _ => None,
        }
    }

    /// The first method of an interface that can be called with values written down; one that answers an object if
    /// there is no other.
    pub(super) fn call(&self, interface: &str) -> Result<Call> {
        let (file, item) = self
            .interface(interface)
            .with_context(|| format!("no file declares `pub trait {interface}`"))?;
        let calls: Vec<Call> = item
            .items
            .iter()
            .filter_map(|method| match method {
                TraitItem::Fn(method) => self.call_of(&method.sig),
                _ => None,
            })
            .collect();
        let plain = calls.iter().position(|call| !call.needs_portals);
        match calls.into_iter().nth(plain.unwrap_or(0)) {
            Some(call) => Ok(call),
            None => bail!(
                "no method of `{interface}` ({file}) takes only numbers, texts, bytes, and structs and enums whose fields \
                 are public; write a client as docs/components.md shows"
            ),
        }
    }

    fn call_of(&self, signature: &syn::Signature) -> Option<Call> {
        let mut call = Call {
            method: signature.ident.to_string(),
            arguments: String::new(),
            types: Vec::new(),
            needs_portals: false,
            parameters: 0,
            reply: None,
        };
        let mut number = 1;
        let mut arguments = Vec::new();
        for parameter in &signature.inputs {
            let FnArg::Typed(parameter) = parameter else { continue };
            call.parameters += 1;
            match cairns_name(&parameter.ty).as_deref() {
                // The portal fills these in.
                Some("Caller" | "CallerThread" | "Now" | "PortalIndex") => {}
                Some("Place") => {
                    call.needs_portals = true;
                    arguments.push("imports::PORTALS".to_owned());
                }
                _ => arguments.push(self.value(
                    &parameter.ty,
                    &mut number,
                    &mut call.types,
                    DEPTH_MAXIMUM,
                )?),
            }
        }
        call.arguments = arguments.join(", ");
        let mut types = Vec::new();
        let reply = answered(&signature.output)
            .and_then(|kind| self.value(kind, &mut number, &mut types, DEPTH_MAXIMUM));
        call.reply = reply.filter(|_| !call.needs_portals).map(|reply| (reply, types));
        Some(call)
    }

    /// A value of a type; `number` is the last that was used, and `types` are those that are named.
    fn value(
        &self,
        kind: &Type,
        number: &mut u64,
        types: &mut Vec<String>,
        depth: usize,
    ) -> Option<String> {
        if let Type::Reference(TypeReference { mutability, elem, .. }) = kind {
            return Some(match (&**elem, mutability) {
                (Type::Slice(_), Some(_)) => "&mut [0; 64]".to_owned(),
                (Type::Slice(_), None) => "b\"hello\\n\"".to_owned(),
                _ => "\"hello\"".to_owned(),
            });
        }
        if let Type::Tuple(tuple) = kind {
            let elements = tuple.elems.iter();
            let values = elements.map(|kind| self.value(kind, number, types, depth));
            return Some(format!("({})", values.collect::<Option<Vec<_>>>()?.join(", ")));
        }
        let name = name(kind)?;
        match name.as_str() {
            "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
                *number += 1;
                return Some(number.to_string());
            }
            "bool" => return Some("false".to_owned()),
            // Every instance has one; the first of a system is 1.
            "DomainId" | "InstanceId" => return Some(format!("cairn::{name}(1)")),
            _ => {}
        }
        let (_, item) = self.0.get(&name)?;
        let value = match item {
            Item::Enum(item) => format!("{name}::{}", item.variants.first()?.ident),
            Item::Struct(item) => {
                let depth = depth.checked_sub(1)?;
                let mut fields = Vec::new();
                for field in &item.fields {
                    if !is_public(&field.vis) {
                        return None;
                    }
                    let value = self.value(&field.ty, number, types, depth)?;
                    fields.push(match &field.ident {
                        Some(name) => format!("{name}: {value}"),
                        None => value,
                    });
                }
                let fields = fields.join(", ");
                match item.fields {
                    Fields::Named(_) => format!("{name} {{ {fields} }}"),
                    _ => format!("{name}({fields})"),
                }
            }
            _ => return None,
        };
        if !types.contains(&name) {
            types.push(name);
        }
        Some(value)
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// `T` of a method that returns `Result<T, E>`.
fn answered(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, kind) = output else { return None };
    let Type::Path(path) = &**kind else { return None };
    let PathArguments::AngleBracketed(of) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match of.args.first()? {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    }
}

/// The last word of a type's path.
fn name(kind: &Type) -> Option<String> {
    match kind {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

/// The same of a type of Cairn's, as `#[cairn::interface]` tells them from others.
fn cairns_name(kind: &Type) -> Option<String> {
    let Type::Path(path) = kind else { return None };
    let segments = &path.path.segments;
    let is_cairns = segments.len() == 1 || segments.first()?.ident == "cairn";
    is_cairns.then(|| name(kind))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str, interface: &str) -> Result<Call> {
        let mut items = Items(BTreeMap::new());
        items.add("lib.rs", text)?;
        items.call(interface)
    }

    #[test]
    fn the_first_method_that_takes_plain_values_is_called() {
        let source = "
            pub trait Other { fn no(&self) -> R; }
            pub trait Echo {
                /// Opens; a comment.
                fn open(&self, place: Place) -> R;
                fn hidden(&self, hidden: Hidden, other: Unknown) -> R;
                fn add(&self, caller: Caller, left: u64, text: &str) -> R;
                fn fill(&self, buffer: &mut [u8]) -> R;
            }
            pub struct Hidden { word: u64 }";
        let found = call(source, "Echo").unwrap();
        assert_eq!((found.method.as_str(), found.arguments.as_str()), ("add", "2, \"hello\""));
        assert!(!found.needs_portals);
        assert!(call(source, "Nothing").is_err());
        assert!(call(source, "Hidden").is_err());
        let none = "pub trait Echo { fn a(&self, hidden: Hidden) -> R; }\npub struct Hidden(u64);";
        let error = call(none, "Echo").unwrap_err().to_string();
        assert!(error.contains("no method of `Echo` (lib.rs)"), "{error}");
    }

    #[test]
    fn structs_enums_and_objects_are_written_down() {
        let source = "
            pub trait Echo { fn put(&self, now: Now, point: Point, bytes: &[u8]) -> R; }
            pub struct Point { pub at: Pair, pub on: bool, pub mode: crate::Mode }
            pub struct Pair(pub i16, pub u8);
            pub enum Mode { Slow = 3, Fast }
            pub trait Opens { fn open(&self, place: Place, first: u64) -> R; }
            pub trait Endless { fn put(&self, endless: Endless2) -> R; }
            pub struct Endless2 { pub again: Endless2 }";
        let found = call(source, "Echo").unwrap();
        let expected =
            "Point { at: Pair(2, 3), on: false, mode: Mode::Slow }, b\"hello\\n\"".to_owned();
        assert_eq!((found.arguments, found.types.join(" ")), (expected, "Pair Mode Point".into()));
        let found = call(source, "Opens").unwrap();
        assert_eq!((found.arguments.as_str(), found.needs_portals), ("imports::PORTALS, 2", true));
        assert!(call(source, "Endless").is_err());
    }
}
