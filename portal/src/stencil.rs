//! Stencils: fragments of machine code with holes, assembled with the build from the architecture's `stencils/`.

pub use crate::arch::form::Form;

/// What fills a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// A number.
    Value(Value),
    /// The distance to a label.
    Label(Label),
}

/// A place in a stencil that differs from portal to portal.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    /// Index of the instruction.
    pub at: usize,
    /// The form of its immediate.
    pub form: Form,
    /// What goes there.
    pub fill: Fill,
    /// Added to the number.
    pub addend: i64,
}

/// A fragment of code.
#[derive(Clone, Copy, Debug)]
pub struct Stencil {
    /// Its label in the source, without `stencil_`.
    pub name: &'static str,
    /// Its instructions; what the holes hold does not matter.
    pub code: &'static [u32],
    /// Its holes.
    pub holes: &'static [Hole],
}

include!(concat!(env!("OUT_DIR"), "/stencils.rs"));
