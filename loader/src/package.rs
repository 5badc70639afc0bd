//! Reads a component package ([`cairn_abi::package`]), which is hostile. Everything in it is checked once, in the order in which it
//! lies; what passed is read by accessors that cannot fail. Nothing is allocated.
//!
//! The head with its tables is a [`Head`], for which the rest of the package need not be there. [`Package`] is all of it.

mod check;
mod entries;
mod fault;
#[cfg(feature = "hash")]
mod hash;
#[cfg(feature = "signature")]
mod signature;
#[cfg(feature = "file")]
mod write;

pub use entries::{Export, Import, Method, Relocations, Segment};
pub use fault::{Expected, Fault, Part, Problem};
#[cfg(feature = "hash")]
pub use hash::{Hasher, hash};
#[cfg(feature = "signature")]
pub use signature::{Keys, SIGNED, Unsigned, sign};
#[cfg(feature = "file")]
pub use write::Writer;

use crate::placement::Wanted;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::name_text;
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_abi::package::{self as format, Text};
use cairn_abi::record::CONTENT_TEXT;
use core::ops::Range;
use zerocopy::FromBytes;

/// The head of a package with its tables, checked.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    numbers: format::Head,
    segments: &'a [u8],
    imports: &'a [u8],
    exports: &'a [u8],
    methods: &'a [u8],
    values: &'a [u8],
    texts: &'a [u8],
}

impl<'a> Head<'a> {
    /// Reads the head that `bytes` begin with. What is behind it is not looked at.
    pub fn read(bytes: &'a [u8]) -> Result<Head<'a>, Fault> {
        let head = Head::split(bytes)?;
        check::check(&head)?;
        Ok(head)
    }

    /// Its numbers, all in their ranges.
    pub fn numbers(&self) -> &format::Head {
        &self.numbers
    }

    /// What it asks for that takes addresses, with so many stacks for calls.
    pub fn wanted(&self, call_stacks: u64) -> Wanted {
        let format::Head { image_size, heap, stack, call_stack, paged, .. } = self.numbers;
        Wanted { image: image_size.into(), heap, stack, call_stack, call_stacks, paged }
    }

    /// Who provides its range that has a pager: instance and export.
    pub fn pager(&self) -> Option<(&'a str, &'a str)> {
        self.text_of(self.numbers.pager).split_once('.')
    }

    /// What the package is called.
    pub fn name(&self) -> &str {
        name_text(&self.numbers.name)
    }

    /// What its component is called.
    pub fn component(&self) -> &str {
        name_text(&self.numbers.component)
    }

    /// Its parts of the image, by address. None overlaps another.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + Clone + use<'a> {
        let mut file = self.content_start();
        entries(self.segments).map(move |segment: format::Segment| {
            let start = file;
            file += u64::from(segment.file_size).next_multiple_of(PAGE_SIZE);
            Segment::new(&segment, start)
        })
    }

    /// What it calls, in its order.
    pub fn imports(&self) -> impl Iterator<Item = Import<'a>> + Clone + use<'a> {
        let head = *self;
        let mut portal = PORTAL_FIRST_IMPORT + usize::from(self.numbers().portals_before);
        entries(self.imports).map(move |import: format::Import| {
            let first = portal;
            let import = Import::new(&head, &import, first);
            portal += import.methods().count();
            import
        })
    }

    /// What it serves, in its order.
    pub fn exports(&self) -> impl Iterator<Item = Export<'a>> + Clone + use<'a> {
        let head = *self;
        let mut methods = 0;
        entries(self.exports).map(move |export: format::Export| {
            let first = methods;
            methods += export.method_count as usize;
            Export::new(&head, &export, first..methods)
        })
    }

    /// The arguments that its component declares, as [`cairn_abi::startup::Startup::values`] has them.
    pub fn values(&self) -> impl Iterator<Item = u64> + Clone + use<'a> {
        entries(self.values)
    }

    /// The argument string, and behind it the arguments that are text.
    pub fn argument(&self) -> &'a [u8] {
        self.bytes_of(self.numbers.argument)
    }

    /// Where in the package its relocations lie. [`Head::relocations`] checks them.
    pub fn relocation_bytes(&self) -> Range<u64> {
        let last = self.segments().last();
        let start =
            last.map_or(self.content_start(), |last| last.file().end.next_multiple_of(PAGE_SIZE));
        start..start + u64::from(self.numbers.counts.relocations) * 4
    }

    /// Checks relocations, which are all those of the package, in order: each is the offset in the image of a word to which the
    /// image's begin has to be added.
    pub fn relocations<Words: Iterator<Item = u32>>(&self, words: Words) -> Relocations<'a, Words> {
        Relocations::new(*self, words)
    }

    /// Whether the image has machine code there.
    pub(crate) fn has_code(&self, offset: u32) -> bool {
        let is_in = |segment: Segment| segment.image().contains(&offset.into());
        self.segments().any(|segment| segment.content == CONTENT_TEXT && is_in(segment))
    }

    /// Where the content begins.
    fn content_start(&self) -> u64 {
        u64::from(self.numbers.head_size).next_multiple_of(PAGE_SIZE)
    }

    /// Splits it into its tables, if it is as long as they are.
    fn split(bytes: &'a [u8]) -> Result<Head<'a>, Fault> {
        let (numbers, rest) =
            format::Head::read_from_prefix(bytes).map_err(|_| check::too_short(bytes))?;
        let [segments, imports, exports, methods, values, texts] =
            check::table_sizes(&numbers, bytes.len())?;
        // They are as long as the bytes, together.
        let (segments, rest) = rest.split_at(segments);
        let (imports, rest) = rest.split_at(imports);
        let (exports, rest) = rest.split_at(exports);
        let (methods, rest) = rest.split_at(methods);
        let (values, rest) = rest.split_at(values);
        let texts = &rest[..texts];
        Ok(Head { numbers, segments, imports, exports, methods, values, texts })
    }

    fn bytes_of(&self, text: Text) -> &'a [u8] {
        self.try_bytes_of(text).unwrap_or_default()
    }

    fn try_bytes_of(&self, text: Text) -> Option<&'a [u8]> {
        self.texts.get(text.offset as usize..)?.get(..text.length as usize)
    }

    fn text_of(&self, text: Text) -> &'a str {
        core::str::from_utf8(self.bytes_of(text)).unwrap_or_default()
    }
}

/// The entries of a table.
fn entries<T: FromBytes>(table: &[u8]) -> impl Iterator<Item = T> + Clone + use<'_, T> {
    table.chunks_exact(size_of::<T>()).filter_map(|entry| T::read_from_bytes(entry).ok())
}

/// A package, checked. Whether its hash is that of its content it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Package<'a> {
    head: Head<'a>,
    bytes: &'a [u8],
}

impl<'a> Package<'a> {
    /// Reads a package, which is all of `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Package<'a>, Fault> {
        let head = Head::read(bytes)?;
        check::size(&head, bytes.len() as u64)?;
        let package = Package { head, bytes };
        head.relocations(package.relocation_words()).try_for_each(|word| word.map(drop))?;
        Ok(package)
    }

    /// Its head.
    pub fn head(&self) -> &Head<'a> {
        &self.head
    }

    /// What a segment begins with; the rest of it is zero.
    pub fn content(&self, segment: &Segment) -> &'a [u8] {
        self.part(segment.file())
    }

    /// The offsets in the image of the words to which the image's begin has to be added.
    pub fn relocations(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.relocation_words().map(u64::from)
    }

    /// Whether its hash is that of its content.
    #[cfg(feature = "hash")]
    pub fn is_whole(&self) -> bool {
        self.head.numbers.hash == hash(self.bytes)
    }

    fn relocation_words(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (words, _) = self.part(self.head.relocation_bytes()).as_chunks();
        words.iter().map(|word| u32::from_le_bytes(*word))
    }

    fn part(&self, range: Range<u64>) -> &'a [u8] {
        self.bytes.get(range.start as usize..range.end as usize).unwrap_or_default()
    }
}
