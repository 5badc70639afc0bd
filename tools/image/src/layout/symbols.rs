//! The functions of components, by which messages name addresses.

use super::Layout;
use cairn_abi::record::Symbol;

/// Longest name of a function that is kept for messages.
const SYMBOL_NAME_MAXIMUM: usize = 48;

/// The functions of all components, by address, and their names.
pub(super) fn symbols(layout: &Layout) -> (Vec<Symbol>, Vec<u8>) {
    let (mut symbols, mut names) = (Vec::new(), Vec::new());
    for index in layout.with_pages() {
        for symbol in &layout.components[index].symbols {
            let text = shortened(&symbol.name);
            symbols.push(Symbol {
                address: layout.placed[index].image + symbol.offset,
                size: symbol.size as u32,
                name: names.len() as u32,
                name_length: text.len() as u32,
                reserved: 0,
            });
            names.extend_from_slice(text.as_bytes());
        }
    }
    symbols.sort_by_key(|symbol| symbol.address);
    (symbols, names)
}

/// A function's name in at most [`SYMBOL_NAME_MAXIMUM`] bytes. Of a longer path the end is kept: it says more.
fn shortened(mut name: &str) -> &str {
    while name.len() > SYMBOL_NAME_MAXIMUM {
        name = name.split_once("::").map_or_else(
            || {
                let fits = |end: &usize| name.is_char_boundary(*end);
                &name[..(0..=SYMBOL_NAME_MAXIMUM).rev().find(fits).unwrap_or(0)]
            },
            |(_, rest)| rest,
        );
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_functions_lose_their_beginning() {
        assert_eq!(shortened("a::b::main"), "a::b::main");
        let long = "x".repeat(30);
        assert_eq!(shortened(&format!("{long}::{long}::main")), format!("{long}::main"));
        assert_eq!(shortened(&"x".repeat(49)), "x".repeat(48));
    }

    #[test]
    fn a_name_is_not_cut_inside_a_character() {
        for length in 40..60 {
            for character in ['\u{e9}', '\u{20ac}', '\u{1f600}'] {
                let name = "x".repeat(length) + &character.to_string().repeat(10);
                let shown = shortened(&name);
                assert!(name.starts_with(shown));
                assert!((45..=48).contains(&shown.len()), "{}", shown.len());
            }
        }
    }
}
