#[derive(cairn::MethodError)]
pub enum Refused {
    Full,
    Portal(cairn::Error),
}

fn main() {}
