//! One of many clients of one server, which it calls once.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_bench::Link;

cairn::component! {
    name: "member",
    imports: { server: Link },
    main: main,
}

fn main() {
    imports::SERVER.pass(0, 0, 0).expect("the server answers every client");
}
