//! `shelf`: what can be loaded.

use crate::imports;
use crate::listing::{each, report};
use crate::screen::Screen;
use cairn_shell::table::Column::{Number, Text};
use cairn_shell::table::{Column, Row};
use cairn_shell::words::Word;
use core::convert::identity;
use core::fmt::{Result, Write};

const COLUMNS: &[Column] = &[Text(15), Number(9), Text(15)];
/// Digits of a hash that are shown: they tell one from another.
const DIGITS: usize = 16;

pub fn run(_words: &[Word], screen: &mut Screen) -> Result {
    let Some(packages) = imports::PACKAGES.get() else {
        return writeln!(
            screen,
            "error: the shell of this system is connected to no store of packages; write under `[instance.shell.imports]`: packages = \"shelf.packages\""
        );
    };
    let mut result =
        writeln!(screen, "{}", Row { columns: COLUMNS, text: "package bytes component sha256" });
    let listed = each(
        |number, text| packages.list(number, text),
        identity,
        |_, text| {
            let hash = text.rfind(' ').map_or(text.len(), |space| space + 1);
            // It is printable ASCII, as `each` hands it over.
            let text = text.get(..hash + DIGITS).unwrap_or(text);
            result = result.and_then(|()| writeln!(screen, "{}", Row { columns: COLUMNS, text }));
        },
    );
    result?;
    report(listed, screen)
}
