//! Short texts without an allocator.

use core::fmt::Arguments;

/// Two names and some numbers.
pub type Text = cairn::text::Line<160>;

/// Formats. Panics if it does not fit.
pub fn text(arguments: Arguments) -> Text {
    let text = Text::of(arguments);
    assert!(!text.is_cut(), "the text is short");
    text
}
