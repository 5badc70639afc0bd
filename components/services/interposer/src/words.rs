//! Text in words that several threads may read and write.

// Relaxed: whoever uses these says by a mark of its own that they are complete.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// At most `8 * WORDS` bytes of text, without zeros; behind its end are zeros.
pub struct Words<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Words<WORDS> {
    /// No text.
    pub const fn empty() -> Words<WORDS> {
        Words([const { AtomicU64::new(0) }; WORDS])
    }

    /// Keeps the beginning of a text.
    pub fn store(&self, text: &str) {
        let mut chunks = text.as_bytes().chunks(8);
        for word in &self.0 {
            let mut bytes = [0; 8];
            let chunk = chunks.next().unwrap_or_default();
            bytes[..chunk.len()].copy_from_slice(chunk);
            word.store(u64::from_le_bytes(bytes), Relaxed);
        }
    }

    /// Puts the text into a buffer, as much as fits; its length.
    pub fn load(&self, buffer: &mut [u8]) -> usize {
        for (word, bytes) in self.0.iter().zip(buffer.chunks_mut(8)) {
            let word = word.load(Relaxed).to_le_bytes();
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        let room = buffer.len().min(8 * WORDS);
        buffer[..room].iter().position(|byte| *byte == 0).unwrap_or(room)
    }

    /// Whether this is what of a text would be kept.
    pub fn is(&self, text: &str) -> bool {
        let mut chunks = text.as_bytes().chunks(8);
        self.0.iter().all(|word| {
            let mut bytes = [0; 8];
            let chunk = chunks.next().unwrap_or_default();
            bytes[..chunk.len()].copy_from_slice(chunk);
            word.load(Relaxed) == u64::from_le_bytes(bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept() {
        let words = Words::<2>::empty();
        for (text, kept) in [
            ("", ""),
            ("a", "a"),
            ("12345678", "12345678"),
            ("123456789", "123456789"),
            ("0123456789abcdefgh", "0123456789abcdef"),
            ("short", "short"),
        ] {
            words.store(text);
            let mut buffer = [0xff; 32];
            let length = words.load(&mut buffer);
            assert_eq!(&buffer[..length], kept.as_bytes());
            assert!(words.is(text) && words.is(kept));
            assert!(!words.is("other"));
        }
        let mut little = [0; 3];
        assert_eq!((words.load(&mut little), &little), (3, b"sho"));
    }
}
