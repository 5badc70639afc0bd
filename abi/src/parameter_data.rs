//! Private data of parameter types: words in the kernel's half, which the portal manager sets for the server that registered a type, and
//! which the type's code in portals reads.

use crate::grant::{GRANTS_MAXIMUM, limits};

/// Words of all types together: a page.
pub const DATA_WORDS: usize = 512;
/// Most words of one type.
pub const DATA_OF_TYPE: usize = 64;

/// Address of one of them, behind the limits of grants.
pub const fn data_word(place: usize) -> u64 {
    limits(GRANTS_MAXIMUM) + place as u64 * 8
}
