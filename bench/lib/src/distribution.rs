//! Samples and what is said of them.

/// Most samples of a distribution.
pub const SAMPLES: usize = 10_000;

/// Samples, in executed instructions.
pub struct Distribution {
    samples: [u32; SAMPLES],
    count: usize,
}

/// What is said of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The smallest sample.
    pub minimum: u32,
    /// Half of the samples are at most this.
    pub median: u32,
    /// 99 of 100 samples are at most this.
    pub p99: u32,
    /// The largest sample.
    pub maximum: u32,
    /// How many.
    pub count: usize,
}

impl Distribution {
    /// Without samples.
    pub const EMPTY: Distribution = Distribution { samples: [0; SAMPLES], count: 0 };

    /// Begins anew.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a sample. Panics when there are too many.
    pub fn add(&mut self, sample: u64) {
        self.samples[self.count] = sample.try_into().unwrap_or(u32::MAX);
        self.count += 1;
    }

    /// Sorts the samples and says what there is to say; `None` without samples.
    pub fn summary(&mut self) -> Option<Summary> {
        let samples = &mut self.samples[..self.count];
        samples.sort_unstable();
        // The smallest sample that so many of 100 are not above.
        let percentile =
            |percent: usize| samples.get((samples.len() * percent).div_ceil(100).max(1) - 1);
        Some(Summary {
            minimum: *samples.first()?,
            median: *percentile(50)?,
            p99: *percentile(99)?,
            maximum: *samples.last()?,
            count: samples.len(),
        })
    }
}
