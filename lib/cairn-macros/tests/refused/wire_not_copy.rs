#[derive(cairn::Wire)]
pub struct Point {
    x: u32,
}

fn main() {}
