//! Private data of parameter types: whose they are, and where in the words that portals read.

use cairn_abi::parameter_data::{DATA_OF_TYPE, DATA_WORDS, data_word};
use cairn_abi::{Error, InstanceId};
use cairn_portal::parameter::Data;

/// Letters `A` to `Z`.
const LETTERS: usize = 26;

/// The data of one letter; no words: it has none.
#[derive(Clone, Copy)]
struct Kept {
    owner: InstanceId,
    first: u16,
    words: u16,
}

const _: () = assert!(DATA_WORDS <= u16::MAX as usize);

/// The data of all letters, one behind the other. They are never given back.
pub struct ParameterData {
    kept: [Kept; LETTERS],
    used: u16,
}

impl ParameterData {
    /// None.
    pub const NONE: ParameterData = ParameterData {
        kept: [Kept { owner: InstanceId(0), first: 0, words: 0 }; LETTERS],
        used: 0,
    };

    fn place(letter: u64) -> Option<usize> {
        let place = letter.checked_sub(b'A'.into())?;
        usize::try_from(place).ok().filter(|place| *place < LETTERS)
    }

    /// Keeps data for a letter. `Busy`: it has some already, others than these; `Exhausted`: there is no room for so many.
    pub fn keep(&mut self, owner: InstanceId, letter: u64, words: u64) -> Result<(), Error> {
        let kept = Self::place(letter).and_then(|place| self.kept.get_mut(place));
        let kept = kept.ok_or(Error::BadArgument)?;
        if !(1..=DATA_OF_TYPE as u64).contains(&words) {
            return Err(Error::Exhausted);
        }
        match (kept.words, kept.owner == owner) {
            (0, _) if u64::from(self.used) + words <= DATA_WORDS as u64 => {
                *kept = Kept { owner, first: self.used, words: words as u16 };
                self.used += words as u16;
                Ok(())
            }
            (0, _) => Err(Error::Exhausted),
            (had, true) if u64::from(had) == words => Ok(()),
            _ => Err(Error::Busy),
        }
    }

    fn of(&self, owner: InstanceId, letter: u64) -> Option<&Kept> {
        let kept = self.kept.get(Self::place(letter)?)?;
        (kept.words > 0 && kept.owner == owner).then_some(kept)
    }

    /// What the code of a letter may read that an instance registers.
    pub fn find(&self, owner: InstanceId, letter: u64) -> Option<Data> {
        let kept = self.of(owner, letter)?;
        Some(Data { address: data_word(kept.first.into()), words: kept.words.into() })
    }

    /// Where a word of a letter's data is among all. `NotAllowed`: they are another's; `BadArgument`: there are fewer.
    pub fn word(&self, owner: InstanceId, letter: u64, place: u64) -> Result<usize, Error> {
        let kept = self.of(owner, letter).ok_or(Error::NotAllowed)?;
        let is_inside = place < kept.words.into();
        is_inside.then(|| usize::from(kept.first) + place as usize).ok_or(Error::BadArgument)
    }

    /// An instance is no more: what it kept stays as it is, and is nobody's.
    pub fn forget(&mut self, owner: InstanceId) {
        for kept in self.kept.iter_mut().filter(|kept| kept.owner == owner) {
            kept.owner = InstanceId(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: InstanceId = InstanceId(1);
    const TWO: InstanceId = InstanceId(2);

    #[test]
    fn each_letter_has_its_own_words() {
        let mut data = ParameterData::NONE;
        assert_eq!(data.keep(ONE, b'A'.into(), 3), Ok(()));
        assert_eq!(data.keep(TWO, b'Z'.into(), 64), Ok(()));
        assert_eq!(data.find(ONE, b'A'.into()), Some(Data { address: data_word(0), words: 3 }));
        assert_eq!(data.find(TWO, b'Z'.into()), Some(Data { address: data_word(3), words: 64 }));
        assert_eq!(data.word(TWO, b'Z'.into(), 63), Ok(66));
        // The same once more.
        assert_eq!(data.keep(ONE, b'A'.into(), 3), Ok(()));
        for (owner, letter, words, error) in [
            (ONE, b'A', 4, Error::Busy),
            (TWO, b'A', 3, Error::Busy),
            (ONE, b'B', 0, Error::Exhausted),
            (ONE, b'B', 65, Error::Exhausted),
            (ONE, b'a', 1, Error::BadArgument),
            (ONE, b'@', 1, Error::BadArgument),
        ] {
            assert_eq!(data.keep(owner, letter.into(), words), Err(error), "{letter} {words}");
        }
        // 67 words are taken: of 64 each, so many have room, and the rest one more.
        for letter in 0..(DATA_WORDS as u64 - 67) / 64 {
            assert_eq!(data.keep(ONE, u64::from(b'B') + letter, 64), Ok(()));
        }
        let rest = (DATA_WORDS as u64 - 67) % 64;
        assert_eq!(data.keep(ONE, b'Y'.into(), rest + 1), Err(Error::Exhausted));
        assert_eq!(data.keep(ONE, b'Y'.into(), rest), Ok(()));
        assert_eq!(data.word(ONE, b'Y'.into(), rest - 1), Ok(DATA_WORDS - 1));
    }

    #[test]
    fn nobody_else_has_them() {
        let mut data = ParameterData::NONE;
        data.keep(ONE, b'A'.into(), 3).unwrap();
        assert_eq!(data.find(TWO, b'A'.into()), None);
        assert_eq!(data.word(TWO, b'A'.into(), 0), Err(Error::NotAllowed));
        assert_eq!(data.word(ONE, b'B'.into(), 0), Err(Error::NotAllowed));
        for place in [3, u64::MAX] {
            assert_eq!(data.word(ONE, b'A'.into(), place), Err(Error::BadArgument));
        }
        // Its number is another's one day.
        data.forget(ONE);
        assert_eq!(data.word(ONE, b'A'.into(), 0), Err(Error::NotAllowed));
        assert_eq!(data.keep(ONE, b'A'.into(), 3), Err(Error::Busy));
    }
}
