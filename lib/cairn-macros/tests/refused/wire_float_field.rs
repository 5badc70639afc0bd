#[derive(Clone, Copy, cairn::Wire)]
pub struct Point {
    x: f32,
}

fn main() {}
