//! Writes a package.

use alloc::vec::Vec;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::package::{
    Counts, Export, HASH_SIZE, HEAD_MAXIMUM, Head, Import, MAGIC, Method, Segment, Text,
};
use zerocopy::{Immutable, IntoBytes};

/// What a package is made of.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// The head; what follows from the rest of this is put in.
    pub numbers: Head,
    /// Parts of the image with their content, by address.
    pub segments: Vec<(Segment, Vec<u8>)>,
    /// What the component calls.
    pub imports: Vec<Import>,
    /// What it serves.
    pub exports: Vec<Export>,
    /// The exports' methods.
    pub methods: Vec<Method>,
    /// Its arguments.
    pub values: Vec<u64>,
    /// Its relocations, ascending.
    pub relocations: Vec<u32>,
    texts: Vec<u8>,
}

impl Writer {
    /// Puts a text to the others.
    pub fn text(&mut self, text: &[u8]) -> Text {
        let offset = self.texts.len() as u32;
        self.texts.extend_from_slice(text);
        Text { offset, length: text.len() as u32 }
    }

    /// Bytes of the head with its tables, of which there can be [`HEAD_MAXIMUM`].
    fn head_size(&self) -> usize {
        size_of::<Head>()
            + size_of_val(&*self.imports)
            + size_of_val(&*self.exports)
            + size_of_val(&*self.methods)
            + size_of_val(&*self.values)
            + self.segments.len() * size_of::<Segment>()
            + self.texts.len()
    }

    /// The package; `Err`: the bytes of its head, if they are too many.
    pub fn finish(mut self) -> Result<Vec<u8>, usize> {
        let head_size = self.head_size();
        if head_size > HEAD_MAXIMUM {
            return Err(head_size);
        }
        for (segment, content) in &mut self.segments {
            segment.file_size = content.len() as u32;
        }
        let mut bytes = Vec::new();
        let segments: Vec<Segment> = self.segments.iter().map(|(segment, _)| *segment).collect();
        put(&mut bytes, &[self.numbers]);
        put(&mut bytes, &segments);
        put(&mut bytes, &self.imports);
        put(&mut bytes, &self.exports);
        put(&mut bytes, &self.methods);
        put(&mut bytes, &self.values);
        put(&mut bytes, &self.texts);
        for (_, content) in &self.segments {
            fill_page(&mut bytes);
            put(&mut bytes, content);
        }
        fill_page(&mut bytes);
        put(&mut bytes, &self.relocations);
        fill_page(&mut bytes);
        let mut head = Head {
            magic: MAGIC,
            hash: [0; HASH_SIZE],
            signature: Default::default(),
            abi_version: cairn_abi::VERSION,
            head_size: head_size as u32,
            size: bytes.len() as u64,
            counts: Counts {
                segments: self.segments.len() as u32,
                imports: self.imports.len() as u32,
                exports: self.exports.len() as u32,
                methods: self.methods.len() as u32,
                values: self.values.len() as u32,
                texts: self.texts.len() as u32,
                relocations: self.relocations.len() as u32,
            },
            ..self.numbers
        };
        bytes[..size_of::<Head>()].copy_from_slice(head.as_bytes());
        head.hash = super::hash(&bytes);
        bytes[..size_of::<Head>()].copy_from_slice(head.as_bytes());
        Ok(bytes)
    }
}

fn put<T: IntoBytes + Immutable>(bytes: &mut Vec<u8>, entries: &[T]) {
    bytes.extend_from_slice(entries.as_bytes());
}

fn fill_page(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(PAGE_SIZE as usize), 0);
}
