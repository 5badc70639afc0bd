#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Three(u8, u8, u8);

#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Five(Three, u8, u8);

fn main() {}
