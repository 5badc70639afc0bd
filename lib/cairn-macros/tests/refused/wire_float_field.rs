#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Point {
    x: f32,
}

fn main() {}
