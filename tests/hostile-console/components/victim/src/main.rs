//! Panics in each life.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::startup;

cairn::component! { name: "hostile-screen-victim", main: main }

fn main() {
    panic!("in life {}", startup().generation);
}
