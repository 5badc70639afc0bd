//! What was measured again and again.

/// Most samples.
const MAXIMUM: usize = 128;

/// Samples of one thing.
pub struct Samples {
    samples: [u64; MAXIMUM],
    count: usize,
}

impl Samples {
    /// None yet.
    pub const fn new() -> Samples {
        Samples { samples: [0; MAXIMUM], count: 0 }
    }

    /// Takes one more; what has no room is left out.
    pub fn add(&mut self, sample: u64) {
        if let Some(place) = self.samples.get_mut(self.count) {
            *place = sample;
            self.count += 1;
        }
    }

    /// The smallest, and the one that half of them are not above.
    pub fn minimum_and_median(&mut self) -> Option<(u64, u64)> {
        let samples = &mut self.samples[..self.count];
        samples.sort_unstable();
        Some((*samples.first()?, *samples.get((samples.len() - 1) / 2)?))
    }
}

impl Default for Samples {
    fn default() -> Samples {
        Samples::new()
    }
}

/// Whether a measurement of nothing, repeated, shows a counter of executed instructions: always the same
/// small number. An emulator that counts something else instead shows its host's time.
pub fn counts_instructions(overheads: &[u64]) -> bool {
    /// No more instructions lie between two counts.
    const MOST: u64 = 16;
    overheads
        .first()
        .is_some_and(|first| *first <= MOST && overheads.iter().all(|overhead| overhead == first))
}

#[cfg(test)]
mod tests {
    use super::{MAXIMUM, Samples, counts_instructions};

    #[test]
    fn the_middle_of_samples() {
        let mut samples = Samples::new();
        assert_eq!(samples.minimum_and_median(), None);
        for sample in [9, 3, 5] {
            samples.add(sample);
        }
        assert_eq!(samples.minimum_and_median(), Some((3, 5)));
        samples.add(4);
        assert_eq!(samples.minimum_and_median(), Some((3, 4)));
        for _ in 0..MAXIMUM {
            samples.add(7);
        }
        assert_eq!(samples.minimum_and_median(), Some((3, 7)));
    }

    #[test]
    fn instructions_are_told_from_time() {
        assert!(counts_instructions(&[3, 3, 3, 3]));
        assert!(!counts_instructions(&[3, 3, 4, 3]));
        assert!(!counts_instructions(&[900, 900, 900]));
        assert!(!counts_instructions(&[]));
    }
}
