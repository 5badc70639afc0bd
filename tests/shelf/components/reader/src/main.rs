//! Reads all packages of the shelf as who loads them would, and asks for what is not there.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::address::PAGE_SIZE;
use cairn::abi::package::HEAD_MAXIMUM;
use cairn_interfaces as interfaces;
use cairn_loader::package::{Hasher, Head};
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;

cairn::component! {
    name: "shelf-reader",
    imports: { console: interfaces::Console, packages: interfaces::Packages },
    main: main,
}

use imports::{CONSOLE, PACKAGES};

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// Its head, in which a hash stands, and the hash of what is there.
fn hashes(offset: u64, size: u64, head: &[u8]) -> Result<([u8; 32], [u8; 32]), Error> {
    let mut hasher = Hasher::new();
    for place in (0..size).step_by(PAGE_SIZE as usize) {
        let mut page = [0; PAGE_SIZE as usize];
        expect_page(PACKAGES.read(offset + place, &mut page)?);
        hasher.update(&page);
    }
    let head = Head::read(head).map_err(|_| Error::Malformed)?;
    Ok((head.numbers().hash, hasher.finish()))
}

fn expect_page(count: usize) {
    assert_eq!(count as u64, PAGE_SIZE, "a package is whole pages");
}

fn read(name: &str, component: &str) -> Result<u64, Error> {
    let (offset, size) = PACKAGES.find(name)?;
    let mut bytes = [0; HEAD_MAXIMUM];
    let count = PACKAGES.read(offset, &mut bytes)?;
    let head = Head::read(&bytes[..count]).map_err(|_| Error::Malformed)?;
    expect("its names", (head.name(), head.component()), (name, component));
    expect("its size", head.numbers().size, size);
    let (said, found) = hashes(offset, size, &bytes[..count])?;
    for (said, found) in said.chunks(8).zip(found.chunks(8)) {
        expect("a word of its hash", said, found);
    }
    Ok(offset + size)
}

fn main() {
    let all = [("console2", "console"), ("hello", "clients-client"), ("valve", "greeter")];
    let ends = all.map(|(name, component)| {
        say!("{name}");
        read(name, component)
    });
    let end = ends.into_iter().filter_map(Result::ok).max().unwrap_or_default();
    expect("all are there", ends.iter().all(Result::is_ok), true);
    let mut page = [0xaa; PAGE_SIZE as usize];
    for offset in [end, end + 1, u64::MAX, 1 << 63] {
        expect("nothing is behind the shelf", PACKAGES.read(offset, &mut page), Ok(0));
    }
    expect("its last bytes", PACKAGES.read(end - 3, &mut page), Ok(3));
    expect("no more than that is written", page[3], 0xaa);
    expect("an odd place", PACKAGES.read(1, &mut page[..7]), Ok(7));
    expect("nothing is asked for", PACKAGES.read(0, &mut []), Ok(0));
    for name in ["", "valv", "valve2", "a name that is longer than any name can be"] {
        expect("no such package", PACKAGES.find(name), Err(Error::NotFound));
    }
    let mut text = [0; 8];
    expect("as much of a line as fits", PACKAGES.list(2, &mut text), Ok((8, 3)));
    expect("it begins with the name", &text[..6], b"valve ");
    expect("three packages", PACKAGES.list(3, &mut text), Err(Error::NotFound));
    expect("and no more", PACKAGES.list(u64::MAX, &mut text), Err(Error::NotFound));
    say!("shelf: done");
}
