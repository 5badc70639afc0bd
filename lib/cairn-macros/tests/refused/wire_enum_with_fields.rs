#[derive(Clone, Copy, Debug, cairn::Wire)]
pub enum Shape {
    Circle(u32),
    Point,
}

fn main() {}
