//! Samples and what is said of them.

/// Most samples of a distribution.
pub const SAMPLES: usize = 10_000;

/// Samples of one unit.
pub struct Distribution {
    samples: [i32; SAMPLES],
    count: usize,
}

/// What is said of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The smallest sample.
    pub minimum: i32,
    /// Half of the samples are at most this.
    pub median: i32,
    /// 99 of 100 samples are at most this.
    pub p99: i32,
    /// The largest sample.
    pub maximum: i32,
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

    /// Adds a sample. Panics when there are too many, or when it is as long as no benchmark is.
    pub fn add(&mut self, sample: i64) {
        self.samples[self.count] = sample.try_into().expect("a sample fits into 32 bits");
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

/// Samples in both units, or in one of them.
pub struct Samples {
    /// Cycles.
    pub cycles: Distribution,
    /// Executed instructions.
    pub instructions: Distribution,
}

impl Samples {
    /// Without samples.
    pub const EMPTY: Samples =
        Samples { cycles: Distribution::EMPTY, instructions: Distribution::EMPTY };

    /// Begins anew.
    pub fn clear(&mut self) {
        self.cycles.clear();
        self.instructions.clear();
    }

    /// Adds a sample of both.
    #[cfg(target_os = "none")]
    #[inline(never)]
    pub fn add(&mut self, cost: cairn::measure::Cost) {
        self.cycles.add(cost.cycles);
        self.instructions.add(cost.instructions);
    }
}
