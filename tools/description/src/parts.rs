//! How what there is a fixed number of is divided among instances.

/// What each has of so many: what is kept for it, and an equal part of the rest, of at most `each`.
pub(crate) fn parts(
    kept: impl Iterator<Item = u32> + Clone,
    all: usize,
    each: usize,
) -> impl Iterator<Item = u64> {
    let (count, sum) =
        kept.clone().fold((0, 0), |(count, sum), one| (count + 1, sum + u64::from(one)));
    let equal = (all as u64).saturating_sub(sum) / u64::max(count, 1);
    kept.map(move |kept| u64::from(kept) + equal.min(each as u64))
}
