//! Passes text through whoever stands between it and the greeter, again and again. It may be killed at any instant of that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, time};
use cairn_app_interfaces::Echo;
use cairn_interfaces::Threads;

cairn::component! {
    name: "replaced-between-caller",
    imports: { echo: Echo, threads: Threads },
    main: main,
}

use imports::{ECHO, THREADS};

fn main() -> Result<(), Error> {
    let mut text = [0; 5000];
    loop {
        let _ = ECHO.say("over two pages, as a buffer that is passed on may lie");
        let _ = ECHO.fill(&mut text);
        THREADS.sleep_until(time::now() + time::ticks(15))?;
    }
}
