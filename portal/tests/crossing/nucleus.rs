//! The nucleus as it is linked for the machine: the portals under test call its services, and its
//! trap entry is how they are entered.

use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

const TARGET: &str = "riscv64imac-unknown-none-elf";

/// The linked nucleus.
pub struct Nucleus {
    /// Text, constants, data: first address and content in whole pages.
    pub parts: Vec<(u64, Vec<u8>)>,
    symbols: HashMap<String, u64>,
}

impl Nucleus {
    /// Address of a symbol.
    pub fn symbol(&self, name: &str) -> u64 {
        *self.symbols.get(name).unwrap_or_else(|| panic!("the nucleus has no symbol `{name}`"))
    }
}

/// The nucleus, built at first use, or the file that `CAIRN_NUCLEUS` names.
pub fn nucleus() -> &'static Nucleus {
    // The error is kept as well: one build, whatever the number of tests.
    static NUCLEUS: OnceLock<Result<Nucleus, String>> = OnceLock::new();
    let nucleus = NUCLEUS.get_or_init(|| {
        let file = std::env::var_os("CAIRN_NUCLEUS").map_or_else(build, |file| Ok(file.into()))?;
        let bytes = std::fs::read(&file)
            .map_err(|error| format!("cannot read the nucleus {}: {error}", file.display()))?;
        Ok(read(&bytes))
    });
    nucleus.as_ref().unwrap_or_else(|error| panic!("{error}"))
}

fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CAIRN_CARGO").or_else(|| std::env::var_os("CARGO"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nucleus");
    let mut command = Command::new(cargo.unwrap_or("cargo".into()));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "--release", "--package", "cairn-nucleus", "--target", TARGET])
        .arg("--target-dir")
        .arg(&folder);
    // What `./cairn` sets where the toolchain is the distribution's: see tools/cairn/src/cargo.rs.
    if let Ok(linker) = std::env::var("CAIRN_LINKER") {
        let flags = format!("-Clinker={linker}\u{1f}-Clinker-flavor=ld.lld");
        command.env("CARGO_ENCODED_RUSTFLAGS", flags);
    }
    if std::env::var("CAIRN_RUST").is_ok_and(|rust| rust == "debian") {
        command.arg("-Zbuild-std=core,alloc").env("RUSTC_BOOTSTRAP", "1");
    }
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the nucleus does not build for {TARGET}:\n{messages}"));
    }
    Ok(folder.join(TARGET).join("release/cairn-nucleus"))
}

fn read(file: &[u8]) -> Nucleus {
    let elf = object::File::parse(file).expect("the nucleus is an ELF file");
    let part = |name: &str| {
        let section = elf.section_by_name(name).unwrap_or_else(|| panic!("no section {name}"));
        let mut bytes = section.data().expect("the section has data").to_vec();
        bytes.resize(section.size().next_multiple_of(4096) as usize, 0);
        (section.address(), bytes)
    };
    let symbols = elf
        .symbols()
        .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address())))
        .collect();
    Nucleus { parts: [".text", ".rodata", ".data"].map(part).into(), symbols }
}
