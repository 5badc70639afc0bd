#[derive(Clone, Copy, cairn::Wire)]
pub struct Point {
    pub x: u32,
}

fn main() {}
