#[derive(Clone, Copy, Debug, cairn::Wire)]
struct Place {
    row: u64,
}

cairn::component! {
    name: "given",
    arguments: { place: Place },
}

fn main() {}
