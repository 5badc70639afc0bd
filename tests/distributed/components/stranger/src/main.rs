//! A node that keeps to no protocol.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::sync::Mutex;
use cairn_interfaces::{Portals, SharedPages};
use cairn_test_distributed_contract::Sayings;

#[repr(align(4096))]
struct Buffer([u8; 8192]);

struct Stranger;
static STRANGER: Stranger = Stranger;
static BUFFER: Mutex<Buffer> = Mutex::new(Buffer([0; 8192]));

cairn::component! {
    name: "distributed-stranger",
    imports: { home: SharedPages, portals: Portals },
    exports: { sayings: Sayings = STRANGER },
}

impl Sayings for Stranger {
    fn join(&self, pages: u64) -> Result<u64, Error> {
        imports::HOME.join(pages)
    }

    fn fetch(&self, membership: u64, page: u64, to_write: bool) -> Result<(u64, u64), Error> {
        let mut buffer = BUFFER.lock()?;
        let (content, _) = buffer.0.split_at_mut(4096);
        let (grant, _) = imports::HOME.fetch(membership, page, to_write, content)?;
        Ok((grant, u64::from_le_bytes(*content.first_chunk().ok_or(Error::Malformed)?)))
    }

    fn give_back(&self, membership: u64, page: u64, grant: u64, word: u64) -> Result<(), Error> {
        let mut buffer = BUFFER.lock()?;
        let (words, _) = buffer.0.as_chunks_mut::<8>();
        words.iter_mut().for_each(|bytes| *bytes = word.to_le_bytes());
        imports::HOME.give_back(membership, page, grant, false, &buffer.0[..4096])
    }

    fn lengths(&self, membership: u64, page: u64, length: u64) -> Result<bool, Error> {
        let mut buffer = BUFFER.lock()?;
        let content = &mut buffer.0[..length as usize];
        let fetched = imports::HOME.fetch(membership, page, false, content);
        let given = imports::HOME.give_back(membership, page, 1, false, content);
        Ok(fetched.is_err() && given.is_err())
    }
}
