#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Five {
    a: u8,
    b: u8,
    c: u8,
    d: u8,
    e: u8,
}

fn main() {}
