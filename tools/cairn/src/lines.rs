//! The size of programs: lines of source and bytes of machine code. The nucleus' are held to a budget.

use anyhow::{Context, Result};
use object::{Object, ObjectSection, SectionFlags};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Most lines of the nucleus, blank lines and comments not counted.
pub const LINES_MAXIMUM: usize = 1500;
/// Most bytes of the nucleus' machine code.
pub const CODE_MAXIMUM: u64 = 9 * 1024;

/// Lines below `folder` in Rust, assembly and linker scripts, without blank lines and comments.
pub fn lines(folder: &Path) -> Result<usize> {
    let mut total = 0;
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            total += lines(&path)?;
            continue;
        }
        total += of_file(&path, |text| text)?;
    }
    Ok(total)
}

/// Lines of a file, without blank lines, comments and a module of tests.
pub fn of_program(file: &Path) -> Result<usize> {
    of_file(file, |text| text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text))
}

/// Lines of what `part` leaves of a source; of other files none.
fn of_file(file: &Path, part: impl Fn(&str) -> &str) -> Result<usize> {
    let extension = file.extension().and_then(|extension| extension.to_str());
    let Some(extension @ ("rs" | "s" | "S" | "ld" | "c" | "h")) = extension else { return Ok(0) };
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(count(part(&text), extension))
}

fn count(text: &str, extension: &str) -> usize {
    let mut in_comment = false;
    let mut total = 0;
    for line in text.lines() {
        let mut rest = line.trim();
        let mut has_code = false;
        while !rest.is_empty() {
            if in_comment {
                match rest.split_once("*/") {
                    Some((_, after)) => (rest, in_comment) = (after.trim_start(), false),
                    None => break,
                }
            } else if rest.starts_with("/*") {
                (rest, in_comment) = (&rest[2..], true);
            } else if rest.starts_with("//") || (extension == "s" && rest.starts_with('#')) {
                break;
            } else {
                has_code = true;
                // A comment behind code can only begin a block that goes on.
                in_comment = rest.rfind("/*") > rest.rfind("*/");
                break;
            }
        }
        total += usize::from(has_code);
    }
    total
}

/// Lines of the sources in `folder` of which `executable` was compiled, without tests. In C all sources there count.
pub fn of_component(folder: &Path, executable: &Path) -> Result<usize> {
    if !notes(executable).exists() {
        return lines(folder);
    }
    let files = compiled(executable)?.into_iter();
    files.filter(|file| file.starts_with(folder)).map(|file| of_program(&file)).sum()
}

/// The sources of an executable in Rust, as cargo noted them beside it, without what runs on the host: build scripts and macros.
pub fn compiled(executable: &Path) -> Result<BTreeSet<PathBuf>> {
    Ok(noted(executable)?.into_iter().filter(|file| !is_of_host(file)).collect())
}

/// Whether it is a build script's, or a macro's.
fn is_of_host(file: &Path) -> bool {
    file.ends_with("build.rs") || file.components().any(|part| part.as_os_str() == "cairn-macros")
}

/// All that cargo noted beside an executable: what it was compiled of, but of packages that were fetched.
pub fn noted(executable: &Path) -> Result<BTreeSet<PathBuf>> {
    let notes = notes(executable);
    let text = std::fs::read_to_string(&notes)
        .with_context(|| format!("cannot read {}", notes.display()))?;
    Ok(sources(&text))
}

fn notes(executable: &Path) -> PathBuf {
    executable.with_extension("d")
}

/// The files of a note `TARGET: FILE FILE...` in which a blank of a name has a `\` before it.
fn sources(note: &str) -> BTreeSet<PathBuf> {
    let files = note.split_once(": ").map_or("", |(_, files)| files.trim());
    let files = files.replace("\\ ", "\0");
    files.split_whitespace().map(|file| PathBuf::from(file.replace('\0', " "))).collect()
}

/// Bytes in the executable sections of the ELF file `file`.
pub fn code_size(file: &Path) -> Result<u64> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let elf = object::File::parse(&*bytes)
        .with_context(|| format!("{} is not an ELF file", file.display()))?;
    let executable = u64::from(object::elf::SHF_EXECINSTR);
    Ok(elf
        .sections()
        .filter(|section| {
            matches!(section.flags(), SectionFlags::Elf { sh_flags } if sh_flags & executable != 0)
        })
        .map(|section| section.size())
        .sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_files_are_left_out_and_blanks_belong_to_names() {
        let note =
            "/t/x: /a/src/main.rs /a/build.rs /lib/cairn-macros/src/lib.rs /b\\ c/src/lib.rs\n";
        let expected = ["/a/src/main.rs", "/b c/src/lib.rs"].map(PathBuf::from);
        let files = sources(note).into_iter().filter(|file| !is_of_host(file));
        assert_eq!(files.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn blank_lines_and_comments_do_not_count() {
        let source = "//! Doc.\n\nfn f() { // why\n    /* a\n    b */ g();\n    /* c */\n}\n";
        assert_eq!(count(source, "rs"), 3);
        assert_eq!(count("# comment\n.text\n#define X\n", "s"), 1);
        assert_eq!(count("#define X 1\n", "S"), 1);
        assert_eq!(count("f(); /* begins\n goes on\n ends */\ng();\n", "rs"), 2);
    }
}
