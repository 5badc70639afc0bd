//! Checks a system description on its own: `cargo run --example check -- ROOT SYSTEM`.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, system] = arguments.as_slice() else {
        eprintln!("expected two arguments: the repository's root and the name of a system");
        return ExitCode::FAILURE;
    };
    match cairn_description::load(Path::new(root), system, None) {
        Ok(system) => {
            println!("{}: {} instances, nothing wrong", system.name, system.instances.len());
            ExitCode::SUCCESS
        }
        Err(report) => {
            report.print();
            ExitCode::FAILURE
        }
    }
}
