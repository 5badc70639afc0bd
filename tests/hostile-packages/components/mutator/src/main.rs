//! A store of one package, which it changes: some bytes, anywhere or in the head, with a hash that is right again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::package::{HASHED, Head};
use cairn::exclusive::Exclusive;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Packages;
use cairn_loader::package;
use cairn_random::Random;
use cairn_test_hostile_packages_contract::Mutator;
use core::mem::offset_of;

const SIZE: usize = 128 << 10;

/// The package, in whole pages.
#[repr(align(4096))]
struct Bytes([u8; SIZE]);

static BYTES: Exclusive<(Bytes, usize)> = Exclusive::new((Bytes([0; SIZE]), 0));

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "mutator",
    imports: { shelf: Packages },
    exports: { packages: Packages = SERVER, mutator: Mutator = SERVER },
}

impl Mutator for Server {
    fn mutate(&self, number: u64) -> Result<(), Error> {
        let (offset, size) = imports::SHELF.find("guest")?;
        let size = size as usize;
        BYTES.with(|(bytes, length)| {
            let bytes = bytes.0.get_mut(..size).ok_or(Error::TooLarge)?;
            for (place, part) in (0..).step_by(8192).zip(bytes.chunks_mut(8192)) {
                imports::SHELF.read(offset + place, part)?;
            }
            *length = size;
            if number == 0 {
                return Ok(());
            }
            let mut random = Random::new(number);
            let head = u32::from_le_bytes(
                *bytes[offset_of!(Head, head_size)..].first_chunk().ok_or(Error::Malformed)?,
            );
            // Every second one in the head, where most is said.
            let range = if number.is_multiple_of(2) { HASHED..head as usize } else { HASHED..size };
            for _ in 0..1 + random.next() % 4 {
                let place = range.start + random.next() as usize % range.len();
                bytes[place] = match random.next() % 4 {
                    0 => 0,
                    1 => 0xff,
                    2 => bytes[place] ^ 1 << (random.next() % 8),
                    _ => random.next() as u8,
                };
            }
            let hash = package::hash(bytes);
            bytes[offset_of!(Head, hash)..][..hash.len()].copy_from_slice(&hash);
            Ok(())
        })
    }
}

impl Packages for Server {
    fn find(&self, _name: ReadWindow<'_>) -> Result<(u64, u64), Error> {
        Ok((0, BYTES.with(|(_, length)| *length as u64)))
    }

    fn read(&self, offset: u64, to: WriteWindow<'_>) -> Result<usize, Error> {
        BYTES.with(|(bytes, length)| {
            let from = usize::try_from(offset).ok().filter(|from| from <= length);
            to.write(0, &bytes.0[from.ok_or(Error::BadArgument)?..*length])
        })
    }

    fn list(&self, _number: u64, _text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        Err(Error::NotFound)
    }
}
