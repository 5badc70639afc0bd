//! Where the bytes of a package are: on the shelf of the image, which the build has checked and the loader sees itself, or in another
//! store, from which they are copied and then compared with their hash. What a store brings has to be what was asked for, and signed if the
//! description names keys.

use super::component::{HeadBytes, MEMORY, PACKAGES, keys};
use super::failure::failed;
use cairn::section::Section;
use cairn::{Error, environment};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::{NAME_SIZE, name_text};
use cairn_abi::package::{HASHED, Head};
use cairn_abi::text::Visible;
use cairn_interfaces::Pages;
use cairn_loader::package::{Hasher, Keys};
use core::mem::offset_of;

/// A package that nobody writes any more.
pub enum Fetched {
    /// A part of the shelf.
    Shelved(Section),
    /// Pages of the loader's own.
    Copied(Pages),
}

impl Fetched {
    /// All of its bytes.
    pub fn bytes(&self) -> Section {
        match self {
            Fetched::Shelved(section) => *section,
            Fetched::Copied(pages) => **pages,
        }
    }

    /// Whether its pages can be shared.
    pub fn is_shelved(&self) -> bool {
        matches!(self, Fetched::Shelved(_))
    }
}

/// Finds a package, and has its bytes.
pub fn fetch(buffer: &mut HeadBytes, package: &str) -> Result<Fetched, Error> {
    let shelf = environment::section("shelf");
    let (offset, size) = PACKAGES.find(package).map_err(|error| match error {
        Error::NotFound => {
            let whose =
                if shelf.is_some() { ": `shelf` of the description lists them" } else { "" };
            failed(error, format_args!("there is no package `{package}`{whose}"))
        }
        error => failed(error, format_args!("cannot find `{package}`: {}", error.text())),
    })?;
    let Some(shelf) = shelf else {
        return copy(buffer, package, offset, size).map(Fetched::Copied);
    };
    // Whoever keeps the shelf cannot make this one read elsewhere.
    let end = offset.checked_add(size).filter(|end| *end <= shelf.size() as u64);
    if end.is_none() || !offset.is_multiple_of(PAGE_SIZE) || size < size_of::<Head>() as u64 {
        let error = Error::Malformed;
        return Err(failed(
            error,
            format_args!(
                "`{package}` is not on the shelf: a loader with the role `loader` takes packages from there alone"
            ),
        ));
    }
    Ok(Fetched::Shelved(shelf.part(offset as usize, size as usize)))
}

/// Copies a package from a store that may say what it likes.
fn copy(buffer: &mut HeadBytes, package: &str, offset: u64, size: u64) -> Result<Pages, Error> {
    let unreadable = |error: Error| {
        failed(error, format_args!("the package `{package}` cannot be read: {}", error.text()))
    };
    let pages = MEMORY.pages(size.div_ceil(PAGE_SIZE)).map_err(unreadable)?;
    let mut hasher = Hasher::new();
    let mut done = 0;
    while done < size {
        let wanted = (size - done).min(buffer.0.len() as u64) as usize;
        let at = offset.checked_add(done).ok_or(Error::Malformed).map_err(unreadable)?;
        let got = PACKAGES.read(at, &mut buffer.0[..wanted]).map_err(unreadable)?;
        if got != wanted {
            return Err(unreadable(Error::Malformed));
        }
        hasher.update(&buffer.0[..wanted]);
        for (place, byte) in (done as usize..).zip(&buffer.0[..wanted]) {
            pages.set_byte(place, *byte);
        }
        done += wanted as u64;
    }
    let hash = hasher.finish();
    if pages.size() < size_of::<Head>() {
        return Err(unreadable(Error::Malformed));
    }
    if taken(&pages, offset_of!(Head, hash)) != hash {
        return Err(failed(
            Error::Malformed,
            format_args!("the package `{package}` has another hash than its content"),
        ));
    }
    // What another name's maker has signed is signed, too.
    let name = taken::<NAME_SIZE>(&pages, offset_of!(Head, name));
    if name_text(&name) != package {
        let other = Visible::text(name_text(&name));
        return Err(failed(
            Error::Malformed,
            format_args!("asked for the package `{package}`, the store has given `{other}`"),
        ));
    }
    check_signature(package, &pages)?;
    Ok(pages)
}

/// Bytes of a package.
fn taken<const COUNT: usize>(pages: &Pages, from: usize) -> [u8; COUNT] {
    core::array::from_fn(|place| pages.byte(from + place))
}

/// Refuses what none of the keys has signed, if there are keys.
fn check_signature(package: &str, pages: &Pages) -> Result<(), Error> {
    let keys = Keys(keys());
    if keys.is_empty() {
        return Ok(());
    }
    let begin = taken::<HASHED>(pages, 0);
    keys.check(&begin).map_err(|unsigned| {
        let why = unsigned.text();
        failed(Error::NotAllowed, format_args!("the package `{package}` is refused: {why}"))
    })
}
