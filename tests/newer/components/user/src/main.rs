//! Its import leads to the newer interface.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_test_newer_contract::Counter2;

cairn::component! {
    name: "newer-user",
    imports: { counter2: Counter2 },
}
