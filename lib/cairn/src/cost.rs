//! What a crossing takes.

use core::iter::Sum;
use core::ops::{Add, Sub};

/// What lay between two stamps. A cost less another one may be below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::Wire)]
pub struct Cost {
    /// Cycles.
    pub cycles: i64,
    /// Executed instructions.
    pub instructions: i64,
}

impl Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        Cost {
            cycles: self.cycles + other.cycles,
            instructions: self.instructions + other.instructions,
        }
    }
}

impl Sub for Cost {
    type Output = Cost;
    fn sub(self, other: Cost) -> Cost {
        Cost {
            cycles: self.cycles - other.cycles,
            instructions: self.instructions - other.instructions,
        }
    }
}

impl Sum for Cost {
    fn sum<Costs: Iterator<Item = Cost>>(costs: Costs) -> Cost {
        costs.fold(Cost::default(), Cost::add)
    }
}
