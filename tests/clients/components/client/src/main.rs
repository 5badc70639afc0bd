//! Asks the greeter once, and says what it answered.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::text::Line;
use cairn_app_interfaces::Echo;
use cairn_interfaces::Console;

cairn::component! {
    name: "clients-client",
    imports: { console: Console, greeter: Echo },
    main: main,
}

fn main() {
    let number = environment::argument().parse().expect("the argument is this client's number");
    let sum = imports::GREETER.add(number, 100).expect("the greeter answers every client");
    let line = Line::<32>::of(format_args!("client {number}: {sum}\n"));
    let _ = imports::CONSOLE.write(line.bytes());
}
