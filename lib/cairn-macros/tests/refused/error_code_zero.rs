#[derive(Debug, cairn::MethodError)]
#[repr(u32)]
pub enum Failure {
    Full = 0,
    Portal(cairn::Error) = 99,
}

fn main() {}
