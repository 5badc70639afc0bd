pub trait Plain {}

cairn::component! {
    name: "sample",
    imports: { one: Plain },
}

fn main() {}
