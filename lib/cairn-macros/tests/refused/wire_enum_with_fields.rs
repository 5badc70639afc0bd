#[derive(Clone, Copy, cairn::Wire)]
pub enum Shape {
    Circle(u32),
    Point,
}

fn main() {}
