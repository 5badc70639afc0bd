//! How far an index of a portal table may go, which the nucleus compares with an immediate of an instruction: the host tool
//! writes it.

use super::fences;
use cairn_abi::domain::Tables;

/// The symbols between which the nucleus lists these instructions, each with zero for the number of entries.
pub const LIST: [&str; 2] = ["portal_bounds", "portal_bounds_end"];
/// Where in an instruction (`sltiu`) the immediate begins.
const IMMEDIATE: u32 = 20;

/// The instructions of such a list for tables of this size: addresses, and what is to be there.
pub fn changes(list: &[u8], tables: Tables) -> impl Iterator<Item = (u64, u32)> {
    let entries = (tables.entries() as u32) << IMMEDIATE;
    fences::changes(list).map(move |(address, instruction)| (address, instruction | entries))
}
