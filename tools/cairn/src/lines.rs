//! The nucleus's size: lines of source and bytes of machine code, both held to a budget.

use anyhow::{Context, Result};
use object::{Object, ObjectSection, SectionFlags};
use std::path::Path;

/// Most lines of the nucleus, blank lines and comments not counted.
pub const LINES_MAXIMUM: usize = 1500;
/// Most bytes of the nucleus' machine code.
pub const CODE_MAXIMUM: u64 = 8 * 1024;

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
        let extension = path.extension().and_then(|extension| extension.to_str());
        if let Some(extension @ ("rs" | "s" | "S" | "ld")) = extension {
            total += count(&std::fs::read_to_string(&path)?, extension);
        }
    }
    Ok(total)
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
    use super::count;

    #[test]
    fn blank_lines_and_comments_do_not_count() {
        let source = "//! Doc.\n\nfn f() { // why\n    /* a\n    b */ g();\n    /* c */\n}\n";
        assert_eq!(count(source, "rs"), 3);
        assert_eq!(count("# comment\n.text\n#define X\n", "s"), 1);
        assert_eq!(count("#define X 1\n", "S"), 1);
        assert_eq!(count("f(); /* begins\n goes on\n ends */\ng();\n", "rs"), 2);
    }
}
