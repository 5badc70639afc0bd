//! What happened, in words.

use cairn_abi::record::Symbol;
use cairn_abi::upcall::{Access, Fault};
use core::fmt;

/// A fault, as a predicate of the component.
pub const fn fault_text(fault: Fault) -> &'static str {
    match fault {
        Fault::Misaligned(Access::Execute, _) => "jumped to a misaligned address",
        Fault::Misaligned(Access::Read, _) => "loaded from a misaligned address",
        Fault::Misaligned(Access::Write, _) => "stored to a misaligned address",
        Fault::Absent(Access::Execute, _) => "fetched an instruction where there is no memory",
        Fault::Absent(Access::Read, _) => "loaded where there is no memory",
        Fault::Absent(Access::Write, _) => "stored where there is no memory",
        Fault::Denied(Access::Execute, _) => "jumped to an address that it may not execute",
        Fault::Denied(Access::Read, _) => "read an address that it may not read",
        Fault::Denied(Access::Write, _) => "wrote to an address that it may not write",
        Fault::Illegal => "executed an illegal or privileged instruction",
        Fault::FloatingPoint => "used floating point, but does not say `float = \"hard\"`,",
        Fault::Breakpoint => "stopped at a breakpoint",
        Fault::Other(_) => "caused an unexpected trap",
    }
}

/// Most bytes that are read of an instance's memory at once.
pub const PIECE: usize = 64;
/// Most bytes of a character whose end is missing.
const UNFINISHED_MAXIMUM: usize = 3;

/// Writes the first bytes of a text, and `...` in the place of what is behind them.
pub struct Shortened<W> {
    to: W,
    left: usize,
    is_cut: bool,
}

impl<W> Shortened<W> {
    /// At most so many bytes.
    pub const fn new(to: W, most: usize) -> Self {
        Shortened { to, left: most, is_cut: false }
    }
}

impl<W: fmt::Write> fmt::Write for Shortened<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_cut {
            return Ok(());
        }
        let shown = text.floor_char_boundary(self.left);
        self.left -= shown;
        self.is_cut = shown < text.len();
        self.to.write_str(&text[..shown])?;
        if self.is_cut { self.to.write_str("...") } else { Ok(()) }
    }
}

/// Writes text in lines of at most so many bytes.
pub struct Wrapped<W> {
    to: W,
    column: usize,
    line: usize,
    next: &'static str,
}

impl<W> Wrapped<W> {
    /// From a column on; each further line begins with what is behind the line feed in `next`, with which it is begun.
    pub const fn new(to: W, column: usize, line: usize, next: &'static str) -> Self {
        Wrapped { to, column, line, next }
    }
}

impl<W: fmt::Write> fmt::Write for Wrapped<W> {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        while !text.is_empty() {
            let (now, rest) =
                text.split_at(text.floor_char_boundary(self.line.saturating_sub(self.column)));
            self.to.write_str(now)?;
            self.column += now.len();
            if !rest.is_empty() {
                self.to.write_str(self.next)?;
                self.column = self.next.len() - 1;
            }
            text = rest;
        }
        Ok(())
    }
}

/// Text that comes in pieces, which may end inside a character: its beginning waits for the rest.
pub struct Pieces {
    bytes: [u8; PIECE + UNFINISHED_MAXIMUM],
    used: usize,
    given: usize,
}

impl Pieces {
    /// Nothing yet.
    pub const fn new() -> Pieces {
        Pieces { bytes: [0; PIECE + UNFINISHED_MAXIMUM], used: 0, given: 0 }
    }

    /// The whole characters of what came, this piece of at most [`PIECE`] bytes included; of the last one everything.
    pub fn add(&mut self, piece: &[u8], is_last: bool) -> &[u8] {
        self.bytes.copy_within(self.given..self.used, 0);
        self.used -= self.given;
        let free = &mut self.bytes[self.used..];
        let count = piece.len().min(free.len());
        free[..count].copy_from_slice(&piece[..count]);
        self.used += count;
        let text = &self.bytes[..self.used];
        self.given = self.used - if is_last { 0 } else { unfinished(text) };
        &text[..self.given]
    }
}

impl Default for Pieces {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes at the end of a text that begin a character which is not complete.
fn unfinished(text: &[u8]) -> usize {
    let last = text.iter().rev().take(UNFINISHED_MAXIMUM);
    let first = last.copied().enumerate().find(|(_, byte)| !(0x80..0xc0).contains(byte));
    match first {
        Some((behind, 0xc0..=0xdf)) if behind < 1 => behind + 1,
        Some((behind, 0xe0..=0xef)) if behind < 2 => behind + 1,
        Some((behind, 0xf0..)) => behind + 1,
        _ => 0,
    }
}

/// The function that `address` is in, and the offset in it. `symbols` are sorted by address.
pub fn nearest_symbol(symbols: &[Symbol], address: u64) -> Option<(&Symbol, u64)> {
    let behind = symbols.partition_point(|symbol| symbol.address <= address);
    let symbol = symbols.get(behind.checked_sub(1)?)?;
    let offset = address - symbol.address;
    (offset < u64::from(symbol.size)).then_some((symbol, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::text::Visible;

    fn symbol(address: u64, size: u32) -> Symbol {
        Symbol { address, size, name: 0, name_length: 0, reserved: 0 }
    }

    #[test]
    fn finds_the_function_around_an_address() {
        let symbols = [symbol(0x100, 0x10), symbol(0x200, 0x20)];
        let found = |address| {
            nearest_symbol(&symbols, address).map(|(symbol, offset)| (symbol.address, offset))
        };
        assert_eq!(found(0xff), None);
        assert_eq!(found(0x100), Some((0x100, 0)));
        assert_eq!(found(0x10f), Some((0x100, 15)));
        assert_eq!(found(0x110), None);
        assert_eq!(found(0x21f), Some((0x200, 0x1f)));
        assert_eq!(found(0x220), None);
    }

    #[test]
    fn characters_are_whole_in_whatever_pieces_they_come() {
        let text = "eins, zwei – drei: \u{1f980} größer \u{1b}[2J".as_bytes();
        for size in 1..=8 {
            let mut pieces = Pieces::new();
            let mut shown = String::new();
            let count = text.len().div_ceil(size);
            for (index, piece) in text.chunks(size).enumerate() {
                shown += &Visible(pieces.add(piece, index + 1 == count)).to_string();
            }
            assert_eq!(shown, Visible(text).to_string(), "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_shown_is_no_longer_than_it_may_be() {
        use core::fmt::Write;
        let shown = |text: &[u8], most| {
            let mut shown = String::new();
            let mut out = Shortened::new(&mut shown, most);
            text.chunks(7).for_each(|piece| write!(out, "{}", Visible(piece)).unwrap());
            shown
        };
        let controls = [0x1b; 1024];
        assert_eq!(shown(&controls, 1024).len(), 1024 + "...".len());
        assert_eq!(shown(&controls[..2], 12), r"\u{1b}\u{1b}");
        assert_eq!(shown(&controls[..3], 12), r"\u{1b}\u{1b}...");
        assert_eq!(shown(b"a message", 9), "a message");
    }

    #[test]
    fn long_text_goes_on_in_further_lines() {
        use core::fmt::Write;
        for piece in 1..30 {
            let mut shown = String::from("name: ");
            let column = shown.len();
            let mut out = Wrapped::new(&mut shown, column, 12, "\n  ...");
            let text = "größer als eine Zeile";
            let pieces: Vec<char> = text.chars().collect();
            pieces.chunks(piece).for_each(|piece| {
                write!(out, "{}", piece.iter().collect::<String>()).unwrap();
            });
            assert!(shown.lines().all(|line| line.len() <= 12), "{shown}");
            assert_eq!(shown.replace("\n  ...", ""), format!("name: {text}"));
        }
        let mut shown = String::new();
        write!(Wrapped::new(&mut shown, 20, 12, "\n  ..."), "behind a long line").unwrap();
        assert_eq!(shown, "\n  ...behind \n  ...a long \n  ...line");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_all_the_same() {
        let mut pieces = Pieces::new();
        let mut shown = String::new();
        for (index, piece) in [0xff, 0xe2, b'a', 0x80, 0xc3].chunks(1).enumerate() {
            shown += &Visible(pieces.add(piece, index == 4)).to_string();
        }
        assert_eq!(shown, r"\xff\xe2a\x80\xc3");
        assert_eq!(pieces.add(&[b'x'; PIECE], false).len(), PIECE);
    }
}
