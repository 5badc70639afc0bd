//! Names and documentation comments, which become part of what C headers say.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// A name as other languages and people have it: without what lets Rust's own words be names.
pub fn plain(name: &impl ToString) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

/// The text of the documentation comments among these, without the space behind the slashes.
pub fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned()).collect();
    lines.join("\n")
}
