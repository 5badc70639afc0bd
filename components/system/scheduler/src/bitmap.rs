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

    /// The numbers from `from` on and before `end`, as far as there is room for them.
    pub fn between(from: usize, end: usize) -> Bitmap<WORDS> {
        let below = |number: usize, word: usize| match number.saturating_sub(word * 64) {
            bits @ 0..64 => (1 << bits) - 1,
            _ => u64::MAX,
        };
        let mut set = Self::EMPTY;
        for (number, word) in set.words.iter_mut().enumerate() {
            *word = below(end, number) & !below(from, number);
            set.summary |= u64::from(*word != 0) << number;
        }
        set
    }

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

    /// The numbers that are in the set now, from the smallest on.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<WORDS> {
        let words = self.words;
        let (mut word, mut left) = (0, words[0]);
        core::iter::from_fn(move || {
            while left == 0 {
                word += 1;
                left = *words.get(word)?;
            }
            let first = word * 64 + lowest(left);
            left &= left - 1;
            Some(first)
        })
    }

    /// The smallest number, from `from` on, that is not in the set.
    pub fn next_clear(&self, from: usize) -> Option<usize> {
        let mut below = (1 << (from % 64)) - 1;
        for word in from / 64..WORDS {
            let clear = !self.words[word] & !below;
            if clear != 0 {
                return Some(word * 64 + lowest(clear));
            }
            below = 0;
        }
        None
    }

    /// The numbers that are not in the set, from `from` on.
    pub fn iter_clear(&self, from: usize) -> impl Iterator<Item = usize> {
        core::iter::successors(self.next_clear(from), |number| self.next_clear(number + 1))
    }

    /// True if no number is in the set.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.summary == 0
    }

    /// The smallest number of the set.
    #[inline(always)]
    pub fn first(&self) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let word = lowest_of(self.summary, WORDS) % WORDS;
        Some(word * 64 + lowest(self.words[word]))
    }
}

// The target has no instruction that counts zeros (that is the extension Zbb).

/// A de Bruijn sequence: each window of six bits is another number.
const SEQUENCE: u64 = 0x03f7_9d71_b4cb_0a89;
/// The place of each number in it.
const PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut place = 0;
    while place < 64 {
        places[(SEQUENCE << place >> 58) as usize] = place as u8;
        place += 1;
    }
    places
};
/// The lowest bit of each number below 16, two bits each.
const NIBBLES: u32 = {
    let mut nibbles = 0;
    let mut number = 1u32;
    while number < 16 {
        nibbles |= number.trailing_zeros() << (2 * number);
        number += 1;
    }
    nibbles
};

/// The lowest bit that is set in `word`, which is not zero.
#[inline(always)]
const fn lowest(word: u64) -> usize {
    let isolated = word & word.wrapping_neg();
    PLACES[(isolated.wrapping_mul(SEQUENCE) >> 58) as usize] as usize
}

/// [`lowest`] for a word in which only the lowest `bits` can be set.
#[inline(always)]
pub(crate) const fn lowest_of(word: u64, bits: usize) -> usize {
    if bits <= 4 { (NIBBLES >> (word as u32 % 16 * 2)) as usize % 4 } else { lowest(word) }
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

    #[test]
    fn a_range_is_what_its_numbers_make() {
        for (from, end) in
            [(0, 0), (0, 256), (1, 16), (1, 64), (1, 65), (63, 130), (1, 1), (5, 900)]
        {
            let range: Bitmap<4> = Bitmap::between(from, end);
            let mut set: Bitmap<4> = Bitmap::EMPTY;
            (from..end.min(256)).for_each(|number| set.set(number));
            assert_eq!((range.summary, range.words), (set.summary, set.words), "{from}..{end}");
        }
    }

    #[test]
    fn finds_every_lowest_bit() {
        for bit in 0..64 {
            assert_eq!(lowest(u64::MAX << bit), bit);
            assert_eq!(lowest(1 << bit), bit);
        }
        for number in 1..16 {
            assert_eq!(lowest_of(number, 4), lowest(number));
        }
    }
}
