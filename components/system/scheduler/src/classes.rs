//! Sets of threads or locks by how urgent they are, roughly: what is found first belongs to the most urgent class,
//! however many of other classes there are.

use crate::bitmap::{Bitmap, lowest_of};

/// Bits of a class that count in its rough class. Each one more is a step more in many operations.
pub(crate) const CLASS_BITS: u32 = 4;
/// Those bits.
pub(crate) const ROUGHLY: u8 = !(u8::MAX >> CLASS_BITS);
const CLASSES: usize = 1 << CLASS_BITS;

/// The rough class of a class, as a bit.
#[inline(always)]
pub(crate) fn bit(class: u8) -> u64 {
    1 << (class >> (u8::BITS - CLASS_BITS))
}

/// The least class of the lowest of these rough classes, of which there is one.
pub(crate) fn least(classes: u64) -> u8 {
    (lowest_of(classes, CLASSES) << (u8::BITS - CLASS_BITS)) as u8
}

/// A set of numbers below 256, each with a class.
#[derive(Clone, Copy)]
pub(crate) struct ByClass {
    /// Bit `n`: `sets[n]` is not empty.
    used: u64,
    sets: [Bitmap<4>; CLASSES],
    /// In which of them a number is; of numbers in none, anything.
    of: [u8; 256],
}

impl ByClass {
    pub(crate) const EMPTY: ByClass =
        ByClass { used: 0, sets: [Bitmap::EMPTY; CLASSES], of: [0; 256] };

    /// Adds `number`, or makes it as urgent as that, if it is less.
    pub(crate) fn set(&mut self, number: u8, class: u8) {
        let class = class >> (u8::BITS - CLASS_BITS);
        let before = self.of[number as usize];
        if self.contains(number) {
            if before <= class {
                return;
            }
            self.clear(number);
        }
        self.of[number as usize] = class;
        self.sets[class as usize % CLASSES].set(number.into());
        self.used |= 1 << class;
    }

    /// True if `number` is in it.
    pub(crate) fn contains(&self, number: u8) -> bool {
        self.sets[self.of[number as usize] as usize % CLASSES].contains(number.into())
    }

    /// Takes `number` out, if it is there.
    pub(crate) fn clear(&mut self, number: u8) {
        let class = self.of[number as usize];
        let set = &mut self.sets[class as usize % CLASSES];
        if !set.contains(number.into()) {
            return;
        }
        set.clear(number.into());
        if set.is_empty() {
            self.used &= !(1 << class);
        }
    }

    /// The rough classes of the numbers, a bit for each: the lowest is the most urgent.
    #[inline(always)]
    pub(crate) fn classes(&self) -> u64 {
        self.used
    }

    /// One of the numbers of a rough class, which is a bit of [`ByClass::classes`].
    #[inline(always)]
    pub(crate) fn first_of(&self, class: u64) -> Option<u8> {
        if self.used & class == 0 {
            return None;
        }
        let set = &self.sets[lowest_of(class, CLASSES) % CLASSES];
        set.first().map(|number| number as u8)
    }
}
