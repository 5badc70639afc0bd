//! The debugger of a system: symbols of all that is in it, and a script by which it follows calls across portals.

use crate::build::BuiltImage;
use crate::paths;
use crate::symbolise::modules::code;
use crate::symbolise::rows::rows;
use anyhow::{Context, Result};
use cairn_abi::address::{KERNEL, PORTAL_CODE};
use cairn_abi::literal::{LITERAL_FRAME, LITERAL_MARK, LITERAL_SPACE, MARK_RETURN};
use cairn_abi::thread::{FRAME_RA, FRAME_RETURN};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What follows calls; before it stand numbers and files.
const FOLLOW: &str = include_str!("../gdb/portals.py");

/// The beginning of a line that starts a debugger: with the symbols of all components.
pub fn symbols(image: &BuiltImage) -> String {
    let mut line = "gdb-multiarch -ex 'set architecture riscv:rv64'".to_owned();
    for symbols in image.symbols.iter().filter(|one| one.is_placed()) {
        let file = symbols.file.display();
        let _ = write!(line, " -ex 'add-symbol-file {file} -o {:#x}'", symbols.offset);
    }
    line
}

/// The line that starts one on a guest that waits for it.
pub fn line(image: &BuiltImage, port: u16) -> Result<String> {
    let mut line = symbols(image);
    write!(line, " -ex 'target remote 127.0.0.1:{port}' -x '{}'", script(image)?.display())?;
    Ok(line)
}

/// Writes the script, and beside it what the files of the image say of their functions' frames.
fn script(image: &BuiltImage) -> Result<PathBuf> {
    let folder = image.file.with_extension("gdb");
    fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", paths::shown(&folder)))?;
    let mut script = String::new();
    for (name, value) in [
        ("KERNEL", KERNEL as i64),
        ("PORTAL_CODE", PORTAL_CODE as i64),
        ("FRAME_RETURN", FRAME_RETURN),
        ("FRAME_RA", FRAME_RA),
        ("LITERAL_MARK", LITERAL_MARK),
        ("LITERAL_FRAME", LITERAL_FRAME),
        ("LITERAL_SPACE", LITERAL_SPACE),
        ("MARK_RETURN", MARK_RETURN as i64),
    ] {
        writeln!(script, "{name} = {value}")?;
    }
    // By file, since many instances are of one: where its code is, and what was written of it.
    let mut written = BTreeMap::<&Path, Option<(Range<u64>, PathBuf)>>::new();
    writeln!(script, "FILES = [")?;
    // The nucleus goes by other rules.
    for symbols in image.symbols.iter().skip(1).filter(|one| one.is_placed()) {
        let file = symbols.file.as_path();
        if !written.contains_key(file) {
            let of_file = match code(file)? {
                Some(code) => {
                    let path = folder.join(format!("{}.rows", symbols.owner));
                    fs::write(&path, rows(file)?)?;
                    Some((code, path))
                }
                None => None,
            };
            written.insert(file, of_file);
        }
        let Some((code, path)) = &written[file] else { continue };
        let offset = symbols.offset;
        let (start, end) = (code.start.wrapping_add(offset), code.end.wrapping_add(offset));
        let path = path.display().to_string();
        writeln!(script, "    ({offset:#x}, {start:#x}, {end:#x}, {path:?}),")?;
    }
    writeln!(script, "]\n{FOLLOW}")?;
    let path = folder.join("portals.py");
    fs::write(&path, script)?;
    Ok(path)
}
