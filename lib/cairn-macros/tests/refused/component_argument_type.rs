cairn::component! {
    name: "given",
    arguments: { ratio: f64 },
}

fn main() {}
