//! The loader: makes instances of packages while the system runs. It reads the package, which is hostile, and has the managers do the
//! rest (`interfaces/system/src/loading.rs` has the steps); it can do no more than they let it.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![forbid(unsafe_code)]

/// All of it is for the machine alone: what reads packages is `cairn-loader`, which is tested on the host.
#[cfg(target_os = "none")]
#[path = ""]
mod machine {
    mod asked;
    mod component;
    mod content;
    mod exchange;
    mod failure;
    mod fellows;
    mod fetch;
    mod fork;
    mod in_place;
    mod lasting;
    mod load;
    mod moving;
    mod replace;
    mod startup;
}

#[cfg(not(target_os = "none"))]
fn main() {}
