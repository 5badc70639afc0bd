//! What a core's translation fences do, and what follows from it for portals and nucleus: the host tool places what
//! is said here, the tests too.

/// How the addresses of one domain are kept from serving another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fences {
    /// Address-space identifiers tell domains apart, and a fence of an address and an identifier does what the manual
    /// says.
    ByAsid,
    /// They tell domains apart, but the core may compare the identifier of `satp` in place of the fence's.
    BySatp,
    /// They do not: all domains have the identifier 0, and portals fence when they enter one.
    WithoutAsids,
}

/// Bytes of a change: an address, an instruction.
const CHANGE_SIZE: usize = 16;

impl Fences {
    /// The symbol of the nucleus' service table whose services close windows so.
    pub const fn service_table(self) -> &'static str {
        match self {
            Fences::ByAsid => "service_table_by_asid",
            Fences::BySatp => "service_table_by_satp",
            Fences::WithoutAsids => "service_table_without_asids",
        }
    }

    /// Whether identifiers tell domains apart.
    pub const fn asids(self) -> bool {
        !matches!(self, Fences::WithoutAsids)
    }

    /// The symbols between which the nucleus lists what is different in it ([`changes`]).
    pub const fn changes(self) -> Option<[&'static str; 2]> {
        match self {
            Fences::WithoutAsids => Some(["changes_without_asids", "changes_without_asids_end"]),
            _ => None,
        }
    }
}

/// The changes of such a list: addresses, and the instructions that are to be there.
pub fn changes(list: &[u8]) -> impl Iterator<Item = (u64, u32)> {
    list.chunks_exact(CHANGE_SIZE).map(|change| {
        let (address, instruction) = change.split_at(8);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        (word(address), word(instruction) as u32)
    })
}
