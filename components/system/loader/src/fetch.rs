//! Where the bytes of a package are: on the shelf of the image, which the build has checked and the loader sees itself, or in another
//! store, from which they are copied and then compared with their hash.

use super::component::{HeadBytes, MEMORY, PACKAGES};
use super::failure::failed;
use cairn::section::Section;
use cairn::{Error, environment};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::package::Head;
use cairn_interfaces::Pages;
use cairn_loader::package::Hasher;
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
    let (offset, size) = PACKAGES.find(package).map_err(|error| match error {
        Error::NotFound => failed(error, format_args!("there is no package `{package}`")),
        error => failed(error, format_args!("cannot find `{package}`: {}", error.text())),
    })?;
    let Some(shelf) = environment::section("shelf") else {
        return copy(buffer, package, offset, size).map(Fetched::Copied);
    };
    // Whoever keeps the shelf cannot make this one read elsewhere.
    let end = offset.checked_add(size).filter(|end| *end <= shelf.size() as u64);
    if end.is_none() || !offset.is_multiple_of(PAGE_SIZE) || size < size_of::<Head>() as u64 {
        let error = Error::Malformed;
        return Err(failed(error, format_args!("`{package}` is not on the shelf")));
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
    let own = offset_of!(Head, hash);
    let is_whole = pages.size() >= own + hash.len()
        && hash.iter().enumerate().all(|(place, byte)| pages.byte(own + place) == *byte);
    match is_whole {
        true => Ok(pages),
        false => Err(failed(
            Error::Malformed,
            format_args!("the package `{package}` has another hash than its content"),
        )),
    }
}
