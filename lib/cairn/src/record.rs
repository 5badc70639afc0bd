//! The layout's record (see [`cairn_abi::record`]), for the components that hold a role.

use crate::environment;
use cairn_abi::record::{Header, MAGIC, Table};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// The record of the system.
#[derive(Clone, Copy)]
pub struct Record {
    bytes: &'static [u8],
    /// Its beginning.
    pub header: &'static Header,
}

impl Record {
    /// Finds the record; `None` in a component without a role.
    pub fn find() -> Option<Record> {
        let bytes = environment::section("record")?.record()?;
        let (header, _) = Header::ref_from_prefix(bytes).ok()?;
        (header.magic == MAGIC).then_some(Record { bytes, header })
    }

    /// One of its tables.
    pub fn table<T: FromBytes + Immutable + KnownLayout>(&self, table: Table) -> &'static [T] {
        let rest = self.bytes.get(table.offset as usize..).unwrap_or(&[]);
        <[T]>::ref_from_prefix_with_elems(rest, table.count as usize)
            .map_or(&[], |(entries, _)| entries)
    }
}
