//! The hash of a package.

use cairn_abi::package::{HASH_SIZE, HASHED, Head, SIGNATURE_SIZE};
use core::mem::offset_of;
use sha2::{Digest, Sha256};

/// A hash that grows with a package, from its first byte to its last, in pieces of any size.
#[derive(Clone, Default)]
pub struct Hasher {
    /// Bytes that are not hashed: the mark, the hash itself and its signature.
    passed: usize,
    digest: Sha256,
}

const _: () = assert!(offset_of!(Head, signature) + SIGNATURE_SIZE == HASHED);

impl Hasher {
    /// Nothing yet.
    pub fn new() -> Hasher {
        Hasher::default()
    }

    /// The next bytes of the package.
    pub fn update(&mut self, bytes: &[u8]) {
        let before = (HASHED - self.passed).min(bytes.len());
        self.passed += before;
        self.digest.update(&bytes[before..]);
    }

    /// What the package has to say, if those were all of its bytes.
    pub fn finish(self) -> [u8; HASH_SIZE] {
        self.digest.finalize().into()
    }
}

/// The same of a whole package.
pub fn hash(package: &[u8]) -> [u8; HASH_SIZE] {
    let mut hasher = Hasher::new();
    hasher.update(package);
    hasher.finish()
}
