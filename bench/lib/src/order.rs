//! What the instance's argument orders, where a host measures less than everything: words such as
//! `samples=100` and `only=NAME,NAME`. Without them everything is measured, as often as it is worth.

use cairn::environment;
use core::ops::Range;

/// Most warm-up rounds are this part of the ordered samples.
const WARM_UP_PART: usize = 5;

/// The value of the argument's word `name=VALUE`.
fn ordered(name: &str) -> Option<&'static str> {
    let words = environment::argument().split_whitespace();
    words
        .filter_map(|word| word.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// The word of the argument that is no order.
pub(crate) fn plain() -> &'static str {
    environment::argument().split_whitespace().find(|word| !word.contains('=')).unwrap_or("")
}

/// Whether the benchmark `name` is asked for.
#[inline(never)]
pub fn wants(name: &str) -> bool {
    ordered("only").is_none_or(|names| names.split(',').any(|other| other == name))
}

/// How often something is measured.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    warm_up: usize,
    samples: usize,
}

impl Rounds {
    /// So often, if it is not ordered otherwise; never more often. `weight` says how many times longer
    /// than a call a round takes, roughly: so many fewer are made if there is an order.
    #[inline(never)]
    pub fn new(warm_up: usize, samples: usize, weight: usize) -> Rounds {
        match ordered("samples").map(|count| count.parse::<usize>().expect("a number of samples")) {
            None => Rounds { warm_up, samples },
            Some(count) => {
                let count = (count / weight).max(1);
                let most = (count / WARM_UP_PART).max(2);
                Rounds { warm_up: warm_up.min(most), samples: samples.min(count) }
            }
        }
    }

    /// So often for a chain or a ring of so many members: on a simulated core, fewer of the long ones.
    pub fn of_chain(warm_up: usize, samples: usize, members: usize) -> Rounds {
        Rounds::new(warm_up, samples, (members / 2).max(1))
    }

    /// All rounds.
    pub fn all(self) -> Range<usize> {
        0..self.warm_up + self.samples
    }

    /// Whether the samples of a round count.
    pub fn counts(self, round: usize) -> bool {
        round >= self.warm_up
    }
}
