cairn::component! {
    name: "sample",
    import: {},
}

fn main() {}
