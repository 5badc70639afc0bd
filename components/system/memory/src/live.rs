//! The layout's record as the memory manager sees it, who alone changes it: as words of physical memory, which others may be reading.
//! Where nothing is loaded, nothing is ever written.

use cairn_abi::descriptor::{NAME_SIZE, Name};
use cairn_abi::loadable::{Entries, Slot};
use cairn_abi::record::{
    Activation, Device, Export, Header, Instance, Interrupt, Method, PagedRange, Portal, Segment,
    Thread,
};
use cairn_abi::{DomainId, InstanceId, RegionId, Space, record};
use core::marker::PhantomData;
use core::mem::offset_of;
// Relaxed: whoever reads an entry was told of its number, or reads one that does not change.
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The tables of the record.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// By number from 1.
    pub instances: Table<'a, Instance>,
    pub segments: Table<'a, Segment>,
    pub activations: Table<'a, Activation>,
    pub exports: Table<'a, Export>,
    pub methods: Table<'a, Method>,
    pub portals: Table<'a, Portal>,
    pub threads: Table<'a, Thread>,
    pub devices: Table<'a, Device>,
    pub interrupts: Table<'a, Interrupt>,
    /// By number from 0.
    pub ranges: Table<'a, PagedRange>,
    /// By number from 1, if components can be loaded.
    pub slots: Table<'a, Slot>,
    /// The names of symbols and what words mean.
    pub text: &'a [AtomicI64],
}

impl<'a> Record<'a> {
    /// The record that lies in these words.
    pub fn new(header: &Header, words: &'a [AtomicI64]) -> Record<'a> {
        let text = header.symbol_names;
        Record {
            instances: Table::of(words, header.instances),
            segments: Table::of(words, header.segments),
            activations: Table::of(words, header.activations),
            exports: Table::of(words, header.exports),
            methods: Table::of(words, header.methods),
            portals: Table::of(words, header.portals),
            threads: Table::of(words, header.threads),
            devices: Table::of(words, header.devices),
            interrupts: Table::of(words, header.interrupts),
            ranges: Table::of(words, header.ranges),
            slots: Table::of(words, header.slots),
            text: part(words, text.offset as usize, text.count as usize),
        }
    }
}

/// The words that hold some bytes, which begin with a word; none, if they are not all there.
fn part(words: &[AtomicI64], from: usize, size: usize) -> &[AtomicI64] {
    words.get(from / 8..(from + size).div_ceil(8)).unwrap_or(&[])
}

/// What is an entry of a table: so many words, so that no field has to be looked for at run time.
pub trait Fixed: Sized {
    /// Its words.
    type Words: AsRef<[AtomicI64]> + 'static;

    /// The first of them in a row of words; none, if these are fewer.
    fn of(words: &[AtomicI64]) -> Option<&Self::Words>;
}

/// A table of the record.
pub struct Table<'a, T> {
    words: &'a [AtomicI64],
    entries: PhantomData<T>,
}

impl<T> Clone for Table<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<'_, T> {}

impl<'a, T: Fixed> Table<'a, T> {
    const WORDS: usize = {
        assert!(size_of::<T>().is_multiple_of(8));
        size_of::<T>() / 8
    };

    fn of(words: &'a [AtomicI64], table: record::Table) -> Table<'a, T> {
        let size = table.count as usize * size_of::<T>();
        Table { words: part(words, table.offset as usize, size), entries: PhantomData }
    }

    /// An entry.
    pub fn get(self, place: usize) -> Option<Entry<'a, T>> {
        let first = place.checked_mul(Self::WORDS)?;
        Some(Entry { words: T::of(self.words.get(first..)?)? })
    }

    /// All entries.
    pub fn iter(self) -> impl Iterator<Item = Entry<'a, T>> + use<'a, T> {
        all_of(self.words)
    }

    /// Those of a slot.
    pub fn part(self, entries: Entries) -> impl Iterator<Item = Entry<'a, T>> + use<'a, T> {
        let range = entries.range();
        let range = range.start * Self::WORDS..range.end * Self::WORDS;
        all_of(self.words.get(range).unwrap_or(&[]))
    }
}

fn all_of<'a, T: Fixed>(words: &'a [AtomicI64]) -> impl Iterator<Item = Entry<'a, T>> + use<'a, T> {
    let words = words.chunks_exact(Table::<T>::WORDS).filter_map(T::of);
    words.map(|words| Entry { words })
}

/// An entry of a table.
pub struct Entry<'a, T: Fixed> {
    words: &'a T::Words,
}

impl<T: Fixed> Clone for Entry<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Fixed> Copy for Entry<'_, T> {}

impl<T: Fixed> Entry<'_, T> {
    /// A field of it, at an offset in bytes; it lies in one word.
    #[inline(always)]
    fn field<F: FromBytes>(self, offset: usize) -> F {
        let word = self.words.as_ref().get(offset / 8).map_or(0, |word| word.load(Relaxed));
        let bytes = word.to_le_bytes();
        let field = bytes.get(offset % 8..).and_then(|from| F::read_from_prefix(from).ok());
        field.map_or_else(F::new_zeroed, |(field, _)| field)
    }

    /// Changes a field.
    pub fn set<F: IntoBytes + Immutable>(self, offset: usize, field: F) {
        let Some(word) = self.words.as_ref().get(offset / 8) else { return };
        let mut bytes = word.load(Relaxed).to_le_bytes();
        if let Some(place) = bytes.get_mut(offset % 8..)
            && field.write_to_prefix(place).is_ok()
        {
            word.store(i64::from_le_bytes(bytes), Relaxed);
        }
    }
}

impl<T: Fixed + FromBytes + IntoBytes + Immutable> Entry<'_, T> {
    /// All of it.
    pub fn read(self) -> T {
        let mut entry = T::new_zeroed();
        for (bytes, word) in entry.as_mut_bytes().chunks_exact_mut(8).zip(self.words.as_ref()) {
            bytes.copy_from_slice(&word.load(Relaxed).to_le_bytes());
        }
        entry
    }

    /// Changes all of it.
    pub fn write(self, entry: &T) {
        for (bytes, word) in entry.as_bytes().as_chunks::<8>().0.iter().zip(self.words.as_ref()) {
            word.store(i64::from_le_bytes(*bytes), Relaxed);
        }
    }
}

macro_rules! fields {
    ($($of:ident: $($field:ident: $type:ty),*;)*) => { $(
        impl Fixed for $of {
            type Words = [AtomicI64; size_of::<$of>() / 8];

            #[inline(always)]
            fn of(words: &[AtomicI64]) -> Option<&Self::Words> {
                words.first_chunk()
            }
        }

        impl Entry<'_, $of> { $(
            #[doc = concat!("The field `", stringify!($field), "`.")]
            #[inline(always)]
            pub fn $field(self) -> $type {
                self.field(offset_of!($of, $field))
            }
        )* }
    )* };
}

fields! {
    Instance: number: InstanceId, domain: DomainId, region: RegionId, leader: InstanceId, parent: InstanceId, next_fellow: InstanceId, successor_of: InstanceId,
        other_place: InstanceId, host: InstanceId, has_guests: u8, is_away: u8, package: u64,
        in_kernel: u8, callers_wait: u8, on_demand: u8, run_to_completion: u8, essential: u32, children: u32, recovery_priority: u32,
        start_address: u64, entries: u64, entries_span: u64, memory: u64, memory_used: u64, sections: u64, log: u64, log_size: u64,
        space: Space;
    Activation: instance: InstanceId, client: InstanceId, index: u32, windows: u64;
    Segment: instance: InstanceId, content: u16, flags: u32, address: u64, size: u64, physical: u64, initial: u64;
    Export: instance: InstanceId, is_added: u32;
    Method: entry: u64;
    Slot:;
    Portal: client: InstanceId, index: u32, export: u32;
    Thread: instance: InstanceId, idle: u32;
    Device: instance: InstanceId;
    Interrupt: instance: InstanceId;
    PagedRange: client: InstanceId, pager: InstanceId, section: u16, address: u64, size: u64, entries: u64;
}

impl Entry<'_, Instance> {
    /// Its name.
    pub fn name(self) -> Name {
        let place = offset_of!(Instance, name);
        let words: [u64; NAME_SIZE / 8] = core::array::from_fn(|word| self.field(place + word * 8));
        zerocopy::transmute!(words)
    }

    /// Whether no other is in its domain.
    pub fn is_alone(self) -> bool {
        self.leader() == self.number() && self.next_fellow() == InstanceId(0)
    }

    /// Whether others can be in its page table, or it in that of another.
    pub fn shares_pages(self) -> bool {
        self.host() != InstanceId(0) || self.has_guests() != 0
    }

    /// Whether there is an instance at this place.
    pub fn is_there(self) -> bool {
        self.number() != InstanceId(0)
    }
}
