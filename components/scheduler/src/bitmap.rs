//! A set of small numbers in two levels: finding the smallest takes constant time.

/// A set of numbers below `64 * WORDS`; at most 64 words.
#[derive(Clone, Copy)]
pub struct Bitmap<const WORDS: usize> {
    /// Bit `n`: word `n` is not zero.
    summary: u64,
    words: [u64; WORDS],
}

impl<const WORDS: usize> Bitmap<WORDS> {
    /// The empty set.
    pub const EMPTY: Bitmap<WORDS> = {
        assert!(WORDS <= 64 && WORDS.is_power_of_two());
        Bitmap { summary: 0, words: [0; WORDS] }
    };

    /// Adds `number`, taken modulo the size.
    #[inline(always)]
    pub fn set(&mut self, number: usize) {
        let word = number / 64 % WORDS;
        self.words[word] |= 1 << (number % 64);
        self.summary |= 1 << word;
    }

    /// Takes `number` out.
    #[inline(always)]
    pub fn clear(&mut self, number: usize) {
        let word = number / 64 % WORDS;
        self.words[word] &= !(1 << (number % 64));
        if self.words[word] == 0 {
            self.summary &= !(1 << word);
        }
    }

    /// True if `number` is in the set.
    pub fn contains(&self, number: usize) -> bool {
        self.words[number / 64 % WORDS] >> (number % 64) & 1 != 0
    }

    /// The smallest number of the set.
    #[inline(always)]
    pub fn first(&self) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let word = self.summary.trailing_zeros() as usize % WORDS;
        Some(word * 64 + self.words[word].trailing_zeros() as usize % 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_smallest() {
        let mut set: Bitmap<4> = Bitmap::EMPTY;
        assert_eq!(set.first(), None);
        for number in [255, 64, 63, 128, 0] {
            set.set(number);
            assert!(set.contains(number));
        }
        for number in [0, 63, 64, 128, 255] {
            assert_eq!(set.first(), Some(number));
            set.clear(number);
            assert!(!set.contains(number));
        }
        assert_eq!(set.first(), None);
    }
}
