//! The translation lookaside buffer: unbounded, so that every stale translation that hardware may
//! keep is kept, until a fence names it.

use std::collections::HashMap;

/// What the TLB keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// Nothing: every access walks the page table. Hides missing fences.
    Off,
    /// Every valid leaf entry that a walk found.
    Valid,
    /// Invalid entries too, as hardware may: making a page valid needs a fence as well.
    ValidAndInvalid,
}

/// What `sfence.vma` compares with the address-space identifier of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fencing {
    /// Its second operand, as the manual says.
    Operand,
    /// With an address and an identifier: that of `satp`, in place of the operand. XuanTie's C906 and C910 do so.
    AddressBySatp,
    /// Always that of `satp`, whatever the operands: if it is zero, everything goes, else all entries that have it, and
    /// global entries belong to an address space as others do. CVA6 did so until 2020.
    AlwaysBySatp,
}

impl Fencing {
    /// What a fence of these operands drops, while `satp` has the identifier `own`.
    pub fn reach(
        self,
        address: Option<u64>,
        asid: Option<u16>,
        own: u16,
    ) -> (Option<u64>, Option<u16>) {
        match self {
            Fencing::Operand => (address, asid),
            Fencing::AddressBySatp => {
                (address, asid.map(|asid| if address.is_some() { own } else { asid }))
            }
            Fencing::AlwaysBySatp => (None, (own != 0).then_some(own)),
        }
    }
}

/// A leaf page-table entry as the TLB holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The entry; zero for an invalid one.
    pub entry: u64,
    /// log2 of the bytes that it maps.
    pub shift: u32,
    /// It holds in every address space.
    pub global: bool,
}

/// Leaf entries by 4 KiB page and ASID.
#[derive(Clone, Default)]
pub struct Tlb {
    entries: HashMap<u64, Vec<(u16, Leaf)>>,
}

impl Tlb {
    /// The entry for `address` in address space `asid`.
    pub fn find(&self, address: u64, asid: u16) -> Option<Leaf> {
        let entries = self.entries.get(&(address >> 12))?;
        entries.iter().find(|(space, leaf)| leaf.global || *space == asid).map(|(_, leaf)| *leaf)
    }

    /// Keeps `leaf` for the page of `address`, in the place of one found before.
    pub fn keep(&mut self, address: u64, asid: u16, leaf: Leaf) {
        let entries = self.entries.entry(address >> 12).or_default();
        entries.retain(|(space, old)| !(old.global || *space == asid));
        entries.push((asid, leaf));
    }

    /// `sfence.vma`: forgets the entries of `address`, or of all; of address space `asid`, in which
    /// case global entries stay, or of all.
    pub fn fence(&mut self, address: Option<u64>, asid: Option<u16>) {
        self.entries.retain(|page, entries| {
            entries.retain(|(space, leaf)| {
                let same_address = address.is_none_or(|address| {
                    // The fence names a leaf entry, so all 4 KiB pieces of a large page go.
                    address >> leaf.shift == page << 12 >> leaf.shift
                });
                let same_space = asid.is_none_or(|asid| !leaf.global && *space == asid);
                !(same_address && same_space)
            });
            !entries.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Tlb {
        let mut tlb = Tlb::default();
        let leaf = |entry, shift, global| Leaf { entry, shift, global };
        tlb.keep(0x1000, 1, leaf(1, 12, false));
        tlb.keep(0x1000, 2, leaf(2, 12, false));
        tlb.keep(0x5000, 1, leaf(3, 12, true));
        tlb.keep(0x20_3000, 1, leaf(4, 21, false));
        tlb.keep(0x20_4000, 1, leaf(4, 21, false));
        tlb
    }

    #[test]
    fn cores_that_compare_with_satp() {
        let (address, own) = (Some(0x1000), 7);
        let satp = Fencing::AddressBySatp;
        assert_eq!(Fencing::Operand.reach(address, Some(1), own), (address, Some(1)));
        assert_eq!(satp.reach(address, Some(1), own), (address, Some(own)));
        assert_eq!(satp.reach(address, None, own), (address, None));
        assert_eq!(satp.reach(None, Some(1), own), (None, Some(1)));
        let always = Fencing::AlwaysBySatp;
        assert_eq!(always.reach(address, Some(1), own), (None, Some(own)));
        assert_eq!(always.reach(address, None, own), (None, Some(own)));
        assert_eq!(always.reach(address, Some(1), 0), (None, None));
    }

    fn found(tlb: &Tlb) -> Vec<u64> {
        [(0x1fff, 1), (0x1000, 2), (0x5000, 9), (0x20_3000, 1), (0x20_4000, 1)]
            .iter()
            .filter_map(|(address, asid)| Some(tlb.find(*address, *asid)?.entry))
            .collect()
    }

    #[test]
    fn entries_belong_to_an_address_space_unless_global() {
        assert_eq!(found(&filled()), [1, 2, 3, 4, 4]);
        assert_eq!(filled().find(0x1000, 3), None);
        assert_eq!(filled().find(0x20_5000, 1), None);
    }

    #[test]
    fn the_four_fences() {
        let after = |address, asid| {
            let mut tlb = filled();
            tlb.fence(address, asid);
            found(&tlb)
        };
        assert_eq!(after(None, None), []);
        assert_eq!(after(None, Some(1)), [2, 3]);
        assert_eq!(after(Some(0x1000), None), [3, 4, 4]);
        assert_eq!(after(Some(0x1000), Some(2)), [1, 3, 4, 4]);
        assert_eq!(after(Some(0x5000), Some(1)), [1, 2, 3, 4, 4], "global entries stay");
        assert_eq!(after(Some(0x5000), None), [1, 2, 4, 4]);
        assert_eq!(after(Some(0x20_0000), Some(1)), [1, 2, 3], "both pieces of the large page");
    }
}
