//! Entries of a tar archive: ustar, with paths as pax says.

use alloc::vec::Vec;

/// Bytes of a header, and of what content is rounded to.
pub const BLOCK: usize = 512;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// What the next entry has instead.
    Extension,
    /// Another one, which is passed over.
    Other,
}

/// A header, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub path: Vec<u8>,
    /// Where a link leads.
    pub target: Vec<u8>,
    /// Bytes of the content behind it.
    pub size: u64,
    /// Permissions.
    pub mode: u32,
}

impl Header {
    /// Reads one; `None`: there is no further one, or it is none.
    pub fn read(block: &[u8; BLOCK]) -> Option<Header> {
        let field = |from: usize, size: usize| {
            let field = &block[from..from + size];
            field.split(|byte| *byte == 0).next().unwrap_or(field)
        };
        let number = |from: usize, size: usize| {
            let digits = core::str::from_utf8(field(from, size)).ok()?;
            u64::from_str_radix(digits.trim_matches(' '), 8).ok()
        };
        if &block[257..262] != b"ustar" {
            return None;
        }
        let (name, prefix) = (field(0, 100), field(345, 155));
        let mut path = prefix.to_vec();
        if !prefix.is_empty() {
            path.push(b'/');
        }
        path.extend(name);
        let kind = match block[156] {
            b'0' | 0 => Kind::File,
            b'5' => Kind::Folder,
            b'2' => Kind::Link,
            b'x' => Kind::Extension,
            _ => Kind::Other,
        };
        let target = field(157, 100).to_vec();
        Some(Header { kind, path, target, size: number(124, 12)?, mode: number(100, 8)? as u32 })
    }

    /// Puts in what an extension before it says.
    pub fn extend(&mut self, mut records: &[u8]) {
        // Each is "LENGTH KEY=VALUE\n", with the length of all that.
        while let Some(space) = records.iter().position(|byte| *byte == b' ') {
            let length = core::str::from_utf8(&records[..space]).ok();
            let length = length.and_then(|digits| digits.parse::<usize>().ok());
            let Some(record) = length.and_then(|length| records.get(space + 1..length)) else {
                return;
            };
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            if let Some(path) = record.strip_prefix(b"path=") {
                self.path = path.to_vec();
            } else if let Some(target) = record.strip_prefix(b"linkpath=") {
                self.target = target.to_vec();
            }
            records = &records[length.unwrap_or(records.len())..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: &[u8], prefix: &[u8], kind: u8, size: &[u8]) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, name);
        put(100, b"0000755\0");
        put(124, size);
        put(156, &[kind]);
        put(157, b"target");
        put(257, b"ustar\x0000");
        put(345, prefix);
        block
    }

    #[test]
    fn a_header_has_its_fields() {
        let header = Header::read(&block(b"name", b"a/folder", b'0', b"00000000017\0")).unwrap();
        assert_eq!((header.path.as_slice(), header.size), (&b"a/folder/name"[..], 15));
        assert_eq!((header.kind, header.mode), (Kind::File, 0o755));
        let full = Header::read(&block(&[b'n'; 100], &[b'p'; 155], b'2', b"0\0")).unwrap();
        assert_eq!((full.path.len(), full.kind), (256, Kind::Link));
        assert_eq!(full.target, b"target");
        assert_eq!(Header::read(&[0; BLOCK]), None);
        assert_eq!(Header::read(&block(b"name", b"", b'0', b"9\0")), None, "no octal digits");
        assert_eq!(Header::read(&block(b"n", b"", b'7', b"0\0")).unwrap().kind, Kind::Other);
    }

    #[test]
    fn long_names_stand_before_it() {
        let mut header = Header::read(&block(b"cut", b"", b'2', b"0\0")).unwrap();
        header.extend(b"13 path=long\n11 mtime=1\n15 linkpath=to\n");
        assert_eq!((header.path.as_slice(), header.target.as_slice()), (&b"long"[..], &b"to"[..]));
        for wrong in [&b"999 path=x\n"[..], b"x path=x\n", b"3 path=x\n", b"", b"0 path=x\n", b" "]
        {
            let before = header.clone();
            header.extend(wrong);
            assert_eq!(header, before);
        }
    }
}
