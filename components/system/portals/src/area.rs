//! Where portal code lies: a bitmap of granules.

/// Bytes of a granule.
pub const GRANULE: u64 = cairn_abi::domain::GRANULE;
/// Most granules, a little less than 8 MiB of portal code: their numbers have 16 bits. They are counted from the code that is free
/// when the system begins; 0 is none.
pub const GRANULES: usize = cairn_abi::domain::GRANULES_MAXIMUM;
const WORDS: usize = GRANULES / 64;

/// Address of what granule number 0 would be, where code from `free` on is free.
pub fn base(free: u64) -> u64 {
    free.next_multiple_of(GRANULE) - GRANULE
}

/// The part of the area that one client has for itself. So no other client can use it up or break it into
/// pieces.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    first: u16,
    end: u16,
    /// Where the last search ended: the next one begins there.
    next: u16,
}

impl Share {
    /// Nothing.
    pub const NONE: Share = Share { first: 0, end: 0, next: 0 };

    /// Granules `first .. end`.
    pub fn new(first: u16, end: u16) -> Share {
        Share { first, end, next: first }
    }

    /// Granules.
    pub fn size(&self) -> u16 {
        self.end - self.first
    }
}

/// A set of granules.
struct Granules([u64; WORDS]);

impl Granules {
    /// None.
    const NONE: Granules = Granules([0; WORDS]);

    fn change(&mut self, start: u16, count: u16, taken: bool) {
        let (mut at, end) = (start, start + count);
        while at < end {
            let bits = (64 - at % 64).min(end - at);
            let mask = u64::MAX >> (64 - bits) << (at % 64);
            let word = &mut self.0[usize::from(at) / 64];
            *word = if taken { *word | mask } else { *word & !mask };
            at += bits;
        }
    }
}

/// The area: which granules are taken.
pub struct Area {
    taken: Granules,
    end: u16,
    free: u16,
}

impl Area {
    /// An area of nothing.
    pub const EMPTY: Area = Area { taken: Granules::NONE, end: 0, free: 0 };

    /// Takes over granules `first .. end`, which are free; those below are taken for good.
    pub fn begin(&mut self, first: u16, end: u16) {
        let end = end.min(GRANULES as u16);
        *self = Area { taken: Granules::NONE, end, free: end.saturating_sub(first) };
    }

    /// Free granules.
    pub fn free(&self) -> u16 {
        self.free
    }

    /// All granules, those that are taken for good included.
    pub fn size(&self) -> u16 {
        self.end
    }

    /// A hole of at least `count` granules in a client's share: the first one behind the last that was
    /// taken, or else from the start. Nothing is taken yet.
    pub fn find(&self, share: &Share, count: u16) -> Option<u16> {
        let end = share.end.min(self.end);
        self.search(share.next, end, count).or_else(|| self.search(share.first, end, count))
    }

    fn search(&self, from: u16, end: u16, count: u16) -> Option<u16> {
        let (mut start, mut at) = (from, from);
        while at < end {
            let word = self.taken.0[usize::from(at) / 64] >> (at % 64);
            let left = (64 - at % 64).min(end - at);
            let free = (word.trailing_zeros() as u16).min(left);
            at += free;
            if at - start >= count {
                return Some(start);
            }
            if free < left {
                at += ((word >> free).trailing_ones() as u16).min(left - free);
                start = at;
            }
        }
        None
    }

    /// How many granules of a client's share are taken.
    pub fn taken_of(&self, share: &Share) -> u16 {
        let mut count = 0;
        let mut at = share.first;
        while at < share.end {
            let bits = (64 - at % 64).min(share.end - at);
            let word = self.taken.0[usize::from(at) / 64] >> (at % 64);
            count += (word & (u64::MAX >> (64 - bits))).count_ones() as u16;
            at += bits;
        }
        count
    }

    /// Takes granules that [`Area::find`] found.
    pub fn take(&mut self, share: &mut Share, start: u16, count: u16) {
        self.taken.change(start, count, true);
        self.free -= count;
        share.next = start + count;
    }

    /// Gives granules back.
    pub fn release(&mut self, start: u16, count: u16) {
        self.taken.change(start, count, false);
        self.free += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_random::Random;

    #[test]
    fn holes_are_found_behind_the_last_and_then_from_the_start() {
        let mut area = Area::EMPTY;
        area.begin(100, 400);
        let mut share = Share::new(100, 300);
        assert_eq!(area.find(&share, 50), Some(100));
        area.take(&mut share, 100, 50);
        assert_eq!(area.find(&share, 150), Some(150));
        area.take(&mut share, 150, 140);
        assert_eq!((area.find(&share, 10), area.find(&share, 11)), (Some(290), None));
        area.release(120, 20);
        assert_eq!(area.find(&share, 11), Some(120));
        assert_eq!(area.find(&share, 21), None);
        assert_eq!(area.free(), 130);
        area.release(100, 20);
        assert_eq!(area.find(&share, 40), Some(100));
    }

    #[test]
    fn whatever_is_found_is_free_and_nothing_is_lost() {
        let mut area = Area::EMPTY;
        area.begin(7, 2000);
        let mut share = Share::new(7, 1000);
        let mut model = [false; 1000];
        let mut held: Vec<(u16, u16)> = Vec::new();
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let number = random.next();
            let count = (number % 90) as u16 + 1;
            if number & 1024 == 0 {
                let longest = model[7..].split(|taken| *taken).map(<[bool]>::len).max().unwrap();
                match area.find(&share, count) {
                    Some(start) => {
                        let range = usize::from(start)..usize::from(start + count);
                        assert!(start >= 7 && model[range.clone()].iter().all(|taken| !taken));
                        model[range].fill(true);
                        area.take(&mut share, start, count);
                        held.push((start, count));
                    }
                    None => assert!(longest < usize::from(count)),
                }
            } else if !held.is_empty() {
                let (start, count) = held.swap_remove(number as usize % held.len());
                model[usize::from(start)..usize::from(start + count)].fill(false);
                area.release(start, count);
            }
            let taken = model.iter().filter(|taken| **taken).count();
            assert_eq!(usize::from(area.taken_of(&share)), taken);
            assert_eq!(
                usize::from(area.free()) - 1000,
                model[7..].iter().filter(|taken| !**taken).count()
            );
        }
    }
}
