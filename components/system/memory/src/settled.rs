//! Proof that no hart finds a way to a page or a page table any more: what gives one back takes it.
//!
//! With several harts only [`Settled::by_fence`] changes: it waits for the fences of all of them.

/// No translation that leads to what is given back is left.
#[derive(Clone, Copy)]
pub(crate) struct Settled(());

impl Settled {
    /// All entries that led there were taken out before, and translations are forgotten now.
    pub(crate) fn by_fence(fence: fn()) -> Settled {
        fence();
        Settled(())
    }

    /// No valid entry ever led there.
    pub(crate) fn never_reached() -> Settled {
        Settled(())
    }

    /// Only the page table of a dead domain leads there: its death was fenced, and no root leads to that table since.
    pub(crate) fn by_death() -> Settled {
        Settled(())
    }
}
