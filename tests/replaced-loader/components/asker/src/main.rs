//! Has the loader replaced again and again, and is killed at every instant of that.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_interfaces as interfaces;

cairn::component! {
    name: "replaced-loader-asker",
    imports: {
        threads: interfaces::Threads,
        replacement: interfaces::Replacement,
    },
    main: main,
}

fn main() {
    loop {
        let _ = imports::REPLACEMENT.replace("loader", "loader2", 200);
        let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(50));
    }
}
