//! The shelf: the packages of an image behind a directory of them.

use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::name;
use cairn_abi::package::{SHELF_MAGIC, Shelf, Shelved};
use zerocopy::IntoBytes;

/// A shelf with these packages, by their names; without any it takes no memory.
pub fn shelf(mut packages: Vec<(String, Vec<u8>)>) -> Vec<u8> {
    if packages.is_empty() {
        return Vec::new();
    }
    packages.sort();
    let directory = size_of::<Shelf>() + packages.len() * size_of::<Shelved>();
    let mut next = pages(directory);
    let head = Shelf { magic: SHELF_MAGIC, count: packages.len() as u64 };
    let mut bytes = head.as_bytes().to_vec();
    for (called, package) in &packages {
        let (offset, size) = (next as u64, package.len() as u64);
        let shelved = Shelved { name: name(called), offset, size };
        bytes.extend_from_slice(shelved.as_bytes());
        next += pages(package.len());
    }
    for (_, package) in &packages {
        bytes.resize(pages(bytes.len()), 0);
        bytes.extend_from_slice(package);
    }
    bytes.resize(pages(bytes.len()), 0);
    bytes
}

fn pages(size: usize) -> usize {
    size.next_multiple_of(PAGE_SIZE as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::descriptor::name_text;
    use zerocopy::FromBytes;

    #[test]
    fn packages_lie_by_name_each_from_a_page_on() {
        let packages = [("pump", 5000), ("echo", 4096), ("valve", 1)];
        let content = |called: &str, size| vec![called.as_bytes()[0]; size];
        let made = packages.map(|(called, size)| (called.to_owned(), content(called, size)));
        let bytes = shelf(made.to_vec());
        assert_eq!(bytes.len(), 5 * 4096);
        let (head, rest) = Shelf::read_from_prefix(&bytes).unwrap();
        assert_eq!((head.magic, head.count), (SHELF_MAGIC, 3));
        let mut rest = rest;
        for (called, offset, size) in [("echo", 1, 4096), ("pump", 2, 5000), ("valve", 4, 1)] {
            let (shelved, behind) = Shelved::read_from_prefix(rest).unwrap();
            rest = behind;
            assert_eq!((name_text(&shelved.name), shelved.offset), (called, offset * 4096));
            let at = shelved.offset as usize;
            assert_eq!(bytes[at..at + shelved.size as usize], content(called, size));
        }
        assert!(shelf(Vec::new()).is_empty());
    }
}
