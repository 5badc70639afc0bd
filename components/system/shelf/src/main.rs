//! The packages of the image: it reads them to who asks. It has no state, and no thread: whoever reads runs in it.
//!
//! What is on the shelf the build made and checked, so it is taken as it is; what is asked for is not.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::descriptor::{NAME_SIZE, is_name, name_text};
use cairn::abi::package::{Head, SHELF_MAGIC, Shelf, Shelved};
use cairn::environment::section;
use cairn::section::Section;
use cairn::text::Line;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Packages;
use core::fmt;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// Longest line about a package: two names, its size, its hash.
const LINE: usize = 192;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "shelf",
    exports: { packages: Packages = SERVER },
}

/// The shelf, and how many packages it has; an image may have none.
fn shelf() -> Option<(Section, u64)> {
    let shelf = section("shelf")?;
    let head: Shelf = at(&shelf, 0);
    (head.magic == SHELF_MAGIC).then_some((shelf, head.count))
}

/// A structure, whole words, at an offset of the shelf.
fn at<T: FromBytes + FromZeros + IntoBytes>(shelf: &Section, offset: usize) -> T {
    let mut read = T::new_zeroed();
    for (place, bytes) in read.as_mut_bytes().as_chunks_mut().0.iter_mut().enumerate() {
        *bytes = shelf.load(offset + place * 8).to_le_bytes();
    }
    read
}

/// The package at a place of the directory.
fn shelved(shelf: &Section, place: u64) -> Shelved {
    at(shelf, size_of::<Shelf>() + place as usize * size_of::<Shelved>())
}

/// Bytes as digits.
struct Hexadecimal<'a>(&'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl Packages for Server {
    fn find(&self, name: ReadWindow<'_>) -> Result<(u64, u64), Error> {
        let (shelf, count) = shelf().ok_or(Error::NotFound)?;
        let mut buffer = [0; NAME_SIZE];
        // What is longer is no package's name.
        let name = name.copy(&mut buffer).map_err(|error| match error {
            Error::TooLarge => Error::NotFound,
            other => other,
        })?;
        let mut all = (0..count).map(|place| shelved(&shelf, place));
        let found = all.find(|shelved| is_name(&shelved.name, name)).ok_or(Error::NotFound)?;
        Ok((found.offset, found.size))
    }

    fn read(&self, offset: u64, bytes: WriteWindow<'_>) -> Result<usize, Error> {
        let (shelf, _) = shelf().ok_or(Error::NotFound)?;
        let left = (shelf.size() as u64).saturating_sub(offset);
        let count = left.min(bytes.len() as u64) as usize;
        if count > 0 {
            bytes.write_from(0, &shelf, offset as usize, count)?;
        }
        Ok(count)
    }

    fn list(&self, number: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let (shelf, _) = shelf().filter(|(_, count)| number < *count).ok_or(Error::NotFound)?;
        let Shelved { name, offset, size } = shelved(&shelf, number);
        let head: Head = at(&shelf, offset as usize);
        let line = Line::<LINE>::of(format_args!(
            "{} {size} {} {}",
            name_text(&name),
            name_text(&head.component),
            Hexadecimal(&head.hash)
        ));
        Ok((text.write(0, line.bytes())?, number + 1))
    }
}
