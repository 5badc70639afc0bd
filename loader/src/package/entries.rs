//! The entries of a package's tables, as they are read when they are checked.

use super::check;
use super::{Fault, Head};
use cairn_abi::descriptor::{LETTERS_SIZE, Name, name_text};
use cairn_abi::package as format;
use cairn_abi::record::{CONTENT_DATA, CONTENT_TEXT};
use cairn_abi::signature;
use core::ops::Range;

/// Whole pages of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First offset in the image.
    pub offset: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// What it is for: `CONTENT_TEXT`, `CONTENT_CONSTANTS` or `CONTENT_DATA` of [`cairn_abi::record`].
    pub content: u16,
    /// First byte of its content in the package, at a page's beginning.
    pub file_offset: u64,
    /// Bytes of content; the others are zero.
    pub file_size: u64,
}

impl Segment {
    pub(super) fn new(segment: &format::Segment, file_offset: u64) -> Segment {
        Segment {
            offset: segment.offset.into(),
            size: segment.size.into(),
            content: segment.content,
            file_offset,
            file_size: segment.file_size.into(),
        }
    }

    /// Its offsets in the image.
    pub fn image(&self) -> Range<u64> {
        self.offset..self.offset + self.size
    }

    /// Its content's bytes in the package.
    pub fn file(&self) -> Range<u64> {
        self.file_offset..self.file_offset + self.file_size
    }

    /// Whether its pages are executed.
    pub fn is_executable(&self) -> bool {
        self.content == CONTENT_TEXT
    }

    /// Whether its pages are written.
    pub fn is_writable(&self) -> bool {
        self.content == CONTENT_DATA
    }
}

/// An interface that the component calls.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    name: Name,
    signature: &'a str,
    /// The interface's version.
    pub version: u64,
    /// Index of the portal of its first method in the component's table.
    pub first_portal: usize,
    /// Who serves it: instance and export; none, if it is left out, as some may be.
    pub server: Option<(&'a str, &'a str)>,
    /// It may be left out.
    pub is_optional: bool,
    /// Its proxy saves all registers itself, so its portals may have minimal state.
    pub is_minimal: bool,
}

impl<'a> Import<'a> {
    pub(super) fn new(head: &Head<'a>, import: &format::Import, first_portal: usize) -> Import<'a> {
        Import {
            name: import.name,
            signature: head.text_of(import.signature),
            version: import.version,
            first_portal,
            server: head.text_of(import.server).split_once('.'),
            is_optional: import.optional != 0,
            is_minimal: import.minimal != 0,
        }
    }

    /// The component's name of it.
    pub fn name(&self) -> &str {
        name_text(&self.name)
    }

    /// The interface's name and the letters of its methods, as [`cairn_abi::signature`] has them.
    pub fn signature(&self) -> &'a str {
        self.signature
    }

    /// The interface's name.
    pub fn interface(&self) -> &'a str {
        self.signature.split_once(' ').map_or("", |(interface, _)| interface)
    }

    /// The letters of each method.
    pub fn methods(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        let letters =
            signature::split(self.signature.as_bytes()).map_or(0, |(name, _)| name.len() + 1);
        self.signature.get(letters..).unwrap_or("").split_terminator(' ')
    }
}

/// An interface that the component serves.
#[derive(Clone, Debug)]
pub struct Export<'a> {
    head: Head<'a>,
    name: Name,
    interface: Name,
    methods: Range<usize>,
    /// The interface's version.
    pub version: u64,
    /// An object interface.
    pub is_object: bool,
    /// Who may open it: `*`, names of instances with a space between each two, or nobody.
    pub policy: &'a str,
    /// Longest execution in nanoseconds, or zero.
    pub longest_execution: u64,
    /// Longest time until a call is back in nanoseconds, or zero.
    pub longest_call: u64,
    /// Nanoseconds that it may keep a thread which was called home, or zero: as the system says.
    pub cancelled_for: u64,
}

impl<'a> Export<'a> {
    pub(super) fn new(
        head: &Head<'a>,
        export: &format::Export,
        methods: Range<usize>,
    ) -> Export<'a> {
        Export {
            head: *head,
            name: export.name,
            interface: export.interface,
            methods,
            version: export.version,
            is_object: export.is_object != 0,
            policy: head.text_of(export.policy),
            longest_execution: export.longest_execution,
            longest_call: export.longest_call,
            cancelled_for: export.cancelled_for,
        }
    }

    /// The component's name of it.
    pub fn name(&self) -> &str {
        name_text(&self.name)
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        name_text(&self.interface)
    }

    /// Its methods, in order.
    pub fn methods(&self) -> impl Iterator<Item = Method<'a>> + Clone + use<'a> {
        let head = self.head;
        let methods =
            super::entries(head.methods).skip(self.methods.start).take(self.methods.len());
        methods.map(move |method: format::Method| Method {
            name: method.name,
            letters: method.letters,
            value: method.value,
            entry: method.entry.into(),
            meanings: head.text_of(method.meanings),
        })
    }
}

/// A method of an export.
#[derive(Clone, Copy, Debug)]
pub struct Method<'a> {
    name: Name,
    /// Its parameters' letters, padded with zeros.
    pub letters: [u8; LETTERS_SIZE],
    /// Kind of value (`VALUE_*` of [`cairn_abi::descriptor`]).
    pub value: u32,
    /// Where in the image it begins.
    pub entry: u64,
    /// What words of it mean ([`cairn_abi::record::Method::meanings`]).
    pub meanings: &'a str,
}

impl Method<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        name_text(&self.name)
    }
}

/// Relocations, each checked when it is read.
pub struct Relocations<'a, Words> {
    head: Head<'a>,
    words: Words,
    number: usize,
    /// Where the next one can be.
    from: u64,
}

impl<'a, Words> Relocations<'a, Words> {
    pub(super) fn new(head: Head<'a>, words: Words) -> Self {
        Relocations { head, words, number: 0, from: 0 }
    }
}

impl<Words: Iterator<Item = u32>> Iterator for Relocations<'_, Words> {
    type Item = Result<u64, Fault>;

    fn next(&mut self) -> Option<Result<u64, Fault>> {
        let offset = self.words.next()?.into();
        let checked = check::relocation(&self.head, self.number, offset, self.from);
        self.number += 1;
        self.from = offset + 8;
        Some(checked.map(|()| offset))
    }
}
