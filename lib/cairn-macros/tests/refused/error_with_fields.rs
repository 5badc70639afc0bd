#[derive(Debug, cairn::MethodError)]
pub enum Failure {
    Full(u32),
    Portal(cairn::Error),
}

fn main() {}
