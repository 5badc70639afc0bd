#[derive(Debug, cairn::MethodError)]
pub enum Failure {
    Full,
}

fn main() {}
