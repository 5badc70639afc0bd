cairn::component! {
    main: main,
}

fn main() {}
