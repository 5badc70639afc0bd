//! Assembles the stencils and turns them into Rust constants: code words and holes.
//!
//! A hole is a relocation against an undefined symbol. `to_NAME` is a label of the finished
//! portal, any other symbol a number that the generator fills in.

use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The architecture for which portals are made.
#[path = "src/arch/riscv64/assemble.rs"]
mod assemble;
use assemble::{ASSEMBLER, FOLDER, OPTIONS, PACKAGE, SOURCES};

fn main() {
    println!("cargo:rerun-if-changed={FOLDER}");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let assembly = Path::new(&out).join("stencils.S");
    let object_file = Path::new(&out).join("stencils.o");
    let mut source = String::new();
    cairn_abi::constants::equates(&mut source).expect("a string takes all");
    for name in SOURCES {
        let file = Path::new(FOLDER).join(name);
        source += &std::fs::read_to_string(file).expect("the stencils are beside build.rs");
    }
    std::fs::write(&assembly, source).expect("OUT_DIR is writable");

    let assembler = std::env::var("CAIRN_AS").unwrap_or(ASSEMBLER.into());
    println!("cargo:rerun-if-env-changed=CAIRN_AS");
    let status =
        Command::new(&assembler).args(OPTIONS).arg("-o").args([&object_file, &assembly]).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("{assembler} refused {FOLDER}; its messages are above"),
        Err(error) => panic!(
            "cannot run {assembler}: {error}; install {PACKAGE} or name another assembler in CAIRN_AS"
        ),
    }
    let bytes = std::fs::read(&object_file).expect("the assembler wrote its output");
    let text = stencils(&bytes);
    std::fs::write(Path::new(&out).join("stencils.rs"), text).expect("OUT_DIR is writable");
}

/// `call_push` becomes `CallPush`.
fn camel(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

fn stencils(bytes: &[u8]) -> String {
    let file = object::File::parse(bytes).expect("the assembler wrote an object file");
    let section = file.section_by_name(".text").expect(".text");
    let code = section.data().expect("the section has data");

    let mut starts: Vec<(u64, String)> = file
        .symbols()
        .filter_map(|symbol| {
            let name = symbol.name().ok()?.strip_prefix("stencil_")?;
            Some((symbol.address(), name.to_string()))
        })
        .collect();
    starts.sort();

    let mut labels = BTreeSet::new();
    let mut values = BTreeSet::new();
    let mut holes = Vec::new();
    for (offset, relocation) in section.relocations() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { unreachable!() };
        if assemble::is_permission(r_type) {
            continue;
        }
        let RelocationTarget::Symbol(index) = relocation.target() else { unreachable!() };
        let symbol = file.symbol_by_index(index).expect("a relocation names a symbol");
        let name = symbol.name().expect("symbols have names");
        assert!(symbol.is_undefined(), "stencils do not refer to each other: {name}");
        let form = assemble::form(r_type).unwrap_or_else(|| {
            panic!("{FOLDER}: relocation type {r_type} for {name} has no form of hole")
        });
        let value = match name.strip_prefix("to_") {
            Some(label) => {
                labels.insert(label.to_string());
                format!("Fill::Label(Label::{})", camel(label))
            }
            None => {
                values.insert(name.to_string());
                format!("Fill::Value(Value::{})", camel(name))
            }
        };
        holes.push((offset, form, value, relocation.addend()));
    }

    let mut text = String::new();
    for (title, kind, names) in [
        ("A label of the finished portal.", "Label", &labels),
        ("A number to fill in.", "Value", &values),
    ] {
        writeln!(
            text,
            "/// {title}\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum {kind} {{"
        )
        .unwrap();
        for name in names.iter() {
            writeln!(text, "    {},", camel(name)).unwrap();
        }
        writeln!(text, "}}\nimpl {kind} {{ pub const COUNT: usize = {}; }}", names.len()).unwrap();
    }
    for pair in starts.windows(2) {
        let (start, name) = &pair[0];
        let end = pair[1].0;
        writeln!(
            text,
            "pub const {}: Stencil = Stencil {{ name: \"{name}\", code: &[",
            name.to_uppercase()
        )
        .unwrap();
        for word in code[*start as usize..end as usize].chunks_exact(4) {
            write!(text, "{:#010x}, ", u32::from_le_bytes(word.try_into().unwrap())).unwrap();
        }
        write!(text, "], holes: &[").unwrap();
        for (offset, form, value, addend) in &holes {
            if (*start..end).contains(offset) {
                let at = (offset - start) / 4;
                write!(
                    text,
                    "Hole {{ at: {at}, form: Form::{form}, fill: {value}, addend: {addend} }}, "
                )
                .unwrap();
            }
        }
        writeln!(text, "] }};").unwrap();
    }
    // Of stencils that differ in a register: `window_0` and so on are `WINDOW[0]` and so on.
    let mut families: BTreeMap<String, usize> = BTreeMap::new();
    for pair in starts.windows(2) {
        if let Some((family, number)) = pair[0].1.rsplit_once('_')
            && number.parse::<usize>().is_ok()
        {
            *families.entry(family.to_uppercase()).or_default() += 1;
        }
    }
    for (family, count) in families {
        let members: Vec<String> = (0..count).map(|number| format!("{family}_{number}")).collect();
        writeln!(text, "pub const {family}: [Stencil; {count}] = [{}];", members.join(", "))
            .unwrap();
    }
    writeln!(text, "pub const ALL: &[Stencil] = &[").unwrap();
    for pair in starts.windows(2) {
        writeln!(text, "    {},", pair[0].1.to_uppercase()).unwrap();
    }
    writeln!(text, "];").unwrap();
    text
}
