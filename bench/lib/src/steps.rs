//! Code that fills pages.

/// Twenty steps, each of some instructions.
macro_rules! twenty_steps {
    ($word:ident, $factor:expr) => {
        twenty_steps!(@ $word, $factor, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
    };
    (@ $word:ident, $factor:expr, $($step:literal)*) => {
        $($word = ($word ^ ($word >> $step)).wrapping_mul($factor).rotate_left($step);)*
    };
}

/// About a quarter of a page, without a branch; each `NUMBER` has its own.
#[inline(never)]
fn steps<const NUMBER: u64>(mut word: u64) -> u64 {
    twenty_steps!(word, 2 * NUMBER + 1);
    twenty_steps!(word, 2 * NUMBER + 3);
    word
}

/// Executes three pages of code.
#[inline(never)]
pub fn over_code(word: u64) -> u64 {
    let functions = [
        steps::<1>,
        steps::<2>,
        steps::<3>,
        steps::<4>,
        steps::<5>,
        steps::<6>,
        steps::<7>,
        steps::<8>,
        steps::<9>,
        steps::<10>,
        steps::<11>,
        steps::<12>,
    ];
    functions.iter().fold(word, |word, function| function(word))
}
