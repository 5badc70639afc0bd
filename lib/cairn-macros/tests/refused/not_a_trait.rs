#[cairn::interface]
pub struct Sample;

fn main() {}
