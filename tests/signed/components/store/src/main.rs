//! A store that signs the packages of the shelf, and lies about some. What it does with one its name says; what it does not know it signs.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::package::{HASHED, Head};
use cairn::exclusive::Exclusive;
use cairn::text::Line;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Packages;
use cairn_loader::package::{SIGNED, hash, sign};
use core::mem::offset_of;
use ed25519_compact::{KeyPair, Seed};

const SIZE: usize = 128 << 10;

/// A package, and its name.
struct Store {
    bytes: [u8; SIZE],
    length: usize,
    name: Line<32>,
    /// Up to where it has been read.
    read: usize,
}

static STORE: Exclusive<Store> =
    Exclusive::new(Store { bytes: [0; SIZE], length: 0, name: Line::new(), read: 0 });

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "store",
    imports: { shelf: Packages },
    exports: { packages: Packages = SERVER },
}

/// The secret keys are no secrets.
fn signed(bytes: &mut [u8], key: u8) {
    sign(bytes, &KeyPair::from_seed(Seed::new([key; 32])).sk);
}

/// Takes a package from the shelf.
fn take(bytes: &mut [u8; SIZE], name: &str) -> Result<usize, Error> {
    let (offset, size) = imports::SHELF.find(name)?;
    let package = bytes.get_mut(..size as usize).ok_or(Error::TooLarge)?;
    for (place, part) in (offset..).step_by(8192).zip(package.chunks_mut(8192)) {
        imports::SHELF.read(place, part)?;
    }
    Ok(size as usize)
}

/// Makes of a package what its name says; how many bytes of it there are.
fn make(store: &mut Store, name: &str) -> Result<usize, Error> {
    let bytes = &mut store.bytes;
    let length = take(bytes, name)?;
    let package = &mut bytes[..length];
    let content = package.len() - 100;
    match name {
        "unsigned" => {}
        "stranger" => signed(package, 3),
        "second" => signed(package, 2),
        "signature" => {
            signed(package, 1);
            package[SIGNED + 9] ^= 4;
        }
        "content" => {
            signed(package, 1);
            package[content] ^= 1;
        }
        // As the last, with a hash that is right again.
        "hash" => {
            signed(package, 1);
            package[content] ^= 1;
            let hash = hash(package);
            package[offset_of!(Head, hash)..][..hash.len()].copy_from_slice(&hash);
        }
        // The neutral point for R, and zero for S: a key of small order has signed so whatever there is.
        "weak" => {
            package[SIGNED..HASHED].fill(0);
            package[SIGNED] = 1;
        }
        "another" => {
            let mut signature = [0; HASHED - SIGNED];
            let length = take(bytes, "good")?;
            signed(&mut bytes[..length], 1);
            signature.copy_from_slice(&bytes[SIGNED..HASHED]);
            let length = take(bytes, name)?;
            bytes[SIGNED..HASHED].copy_from_slice(&signature);
            return Ok(length);
        }
        "renamed" => {
            let length = take(bytes, "good")?;
            signed(&mut bytes[..length], 1);
            return Ok(length);
        }
        "truncated" => {
            signed(package, 1);
            return Ok(length - 4096);
        }
        "short" => return Ok(SIGNED + 5),
        // Of this name, signed as such. From the first read on it is another one.
        "swapped" => signed(package, 1),
        // More than was signed.
        "grows" => {
            signed(package, 1);
            let end = length + 8192;
            bytes.get_mut(length..end).ok_or(Error::TooLarge)?.fill(0);
            return Ok(end);
        }
        _ => signed(package, 1),
    }
    Ok(length)
}

impl Packages for Server {
    fn find(&self, name: ReadWindow<'_>) -> Result<(u64, u64), Error> {
        let mut buffer = [0; 32];
        let name = name.text(&mut buffer)?;
        STORE.with(|store| {
            if store.name.text() != name {
                store.name.clear();
                store.length = make(store, name)?;
                store.name = Line::of(format_args!("{name}"));
            }
            store.read = 0;
            Ok(match name {
                "endless" => (0, u64::MAX),
                "beyond" => (u64::MAX - 4096, store.length as u64),
                _ => (0, store.length as u64),
            })
        })
    }

    fn read(&self, offset: u64, to: WriteWindow<'_>) -> Result<usize, Error> {
        STORE.with(|store| {
            let from = usize::try_from(offset).map_err(|_| Error::BadArgument)?;
            let count =
                to.write(0, store.bytes.get(from..store.length).ok_or(Error::BadArgument)?)?;
            let is_again = from < store.read;
            store.read = from + count;
            // Whoever reads a byte for a second time, to use it, finds another one than he has checked.
            match store.name.text() {
                "twice" if is_again => {
                    (0..count).try_for_each(|place| to.write(place, &[0xff]).map(drop))?;
                }
                "later" if !is_again => {
                    to.write(count - 1, &[store.bytes[from + count - 1] ^ 1])?;
                }
                "swapped" if from == 0 => {
                    store.bytes[store.length - 100] ^= 1;
                    signed(&mut store.bytes[..store.length], 1);
                }
                "shrinks" if from > 0 => return Ok(count / 2),
                _ => {}
            }
            Ok(count)
        })
    }

    fn list(&self, _number: u64, _text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        Err(Error::NotFound)
    }
}
