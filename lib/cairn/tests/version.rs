//! The version of an interface changes with every signature, and with nothing else.
#![forbid(unsafe_code)]

use std::collections::HashMap;

mod shapes {
    #[derive(Clone, Copy, Debug, cairn::Wire)]
    pub struct Point {
        pub x: u32,
        pub y: u32,
    }
    #[derive(Clone, Copy, Debug, cairn::Wire)]
    pub enum Mode {
        Slow,
        Fast,
    }
    #[derive(Debug, cairn::MethodError)]
    pub enum Failure {
        Full,
        Portal(cairn::Error),
    }
    pub mod other {
        #[derive(Clone, Copy, Debug, cairn::Wire)]
        pub struct Point {
            pub x: u32,
            pub y: i32,
        }
        #[derive(Clone, Copy, Debug, cairn::Wire)]
        pub enum Mode {
            Fast,
            Slow,
        }
        #[derive(Debug, cairn::MethodError)]
        pub enum Failure {
            Broken,
            Portal(cairn::Error),
        }
    }
}

/// The version of an interface with these methods.
macro_rules! version {
    ($($method:tt)*) => {{
        #[allow(unused_imports)]
        use cairn::{Caller, Error, Now, Object, Place};
        use shapes::*;
        #[cairn::interface]
        #[allow(dead_code)]
        trait First { fn nothing(&self) -> Result<(), Error>; }
        #[cairn::interface]
        #[allow(dead_code)]
        trait Second { fn nothing(&self) -> Result<(), Error>; }
        let _: Option<(Object<dyn First>, Object<dyn Second>, Point, Mode, Failure)> = None;
        #[cairn::interface]
        #[allow(dead_code)]
        trait Sample { $($method)* }
        SampleProxy::DESCRIPTOR.version
    }};
}

macro_rules! versions {
    ($({ $($method:tt)* })*) => { [$((stringify!($($method)*), version! { $($method)* })),*] };
}

#[test]
fn every_change_of_a_signature_changes_the_version() {
    let versions = versions! {
        { fn one(&self) -> Result<(), Error>; }
        { fn other(&self) -> Result<(), Error>; }
        { fn one(&self) -> Result<u64, Error>; }
        { fn one(&self) -> Result<i64, Error>; }
        { fn one(&self) -> Result<bool, Error>; }
        { fn one(&self) -> Result<(), Failure>; }
        { fn one(&self) -> Result<(), other::Failure>; }
        { fn one(&self) -> Result<Mode, Error>; }
        { fn one(&self) -> Result<other::Mode, Error>; }
        { fn one(&self) -> Result<Point, Error>; }
        { fn one(&self) -> Result<(u32, u32), Error>; }
        { fn one(&self) -> Result<(u32, u32, u32), Error>; }
        { fn one(&self, p: Place) -> Result<Object<dyn First>, Error>; }
        { fn one(&self, p: Place) -> Result<Object<dyn Second>, Error>; }
        { fn one(&self, a: u64) -> Result<(), Error>; }
        { fn one(&self, a: u32) -> Result<(), Error>; }
        { fn one(&self, a: u32, b: u64) -> Result<(), Error>; }
        { fn one(&self, a: u64, b: u32) -> Result<(), Error>; }
        { fn one(&self, a: Point) -> Result<(), Error>; }
        { fn one(&self, a: other::Point) -> Result<(), Error>; }
        { fn one(&self, a: u32, b: u32) -> Result<(), Error>; }
        { fn one(&self, a: &[u8]) -> Result<(), Error>; }
        { fn one(&self, a: &str) -> Result<(), Error>; }
        { fn one(&self, a: &mut [u8]) -> Result<(), Error>; }
        { fn one(&self, a: Caller) -> Result<(), Error>; }
        { fn one(&self, a: Now) -> Result<(), Error>; }
        { fn one(&self) -> Result<(), Error>; fn two(&self) -> Result<(), Error>; }
        { fn two(&self) -> Result<(), Error>; fn one(&self) -> Result<(), Error>; }
    };
    let mut seen = HashMap::new();
    for (text, version) in versions {
        if let Some(before) = seen.insert(version, text) {
            panic!("`{before}` and `{text}` have the same version");
        }
    }
}

#[test]
fn names_of_parameters_and_paths_of_types_do_not_matter() {
    let plain = version! { fn one(&self, a: u64, b: &str) -> Result<usize, Error>; };
    let spelled = version! {
        /// Documented.
        fn one(&self, left: core::primitive::u64, right: &str) -> core::result::Result<usize, cairn::Error>;
    };
    assert_eq!(plain, spelled);
}

#[test]
fn version_of_the_example_is_pinned() {
    // A change of this number means that components built before no longer connect.
    let version = version! { fn add(&self, left: u64, right: u64) -> Result<u64, Error>; };
    assert_eq!(version, 10_870_099_321_983_973_830);
}
