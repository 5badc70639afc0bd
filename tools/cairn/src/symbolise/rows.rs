//! The tables by which calls are followed on a stack, as lines for a program that does not read them itself.

use super::modules::{Bytes, sections};
use anyhow::Result;
use gimli::{
    BaseAddresses, CfaRule, CieOrFde, RegisterRule, UnwindContext, UnwindOffset, UnwindSection,
};
use std::fmt::Write;
use std::path::Path;

/// One line for each place of a file's code from which on something else is known: its address; unless a function ends there, the
/// register and the offset to it at which the function's frame ends; and registers, each with the offset from there at which the
/// caller's is kept. All numbers are decimal, and the lines sorted.
pub fn rows(file: &Path) -> Result<String> {
    let (frames, debug_frames, bases) = sections(file)?;
    let mut rows = Vec::new();
    read(&frames, &bases, &mut rows)?;
    read(&debug_frames, &bases, &mut rows)?;
    // Where one function ends and another begins, that counts.
    rows.sort_by_key(|(address, row)| (*address, !row.is_empty()));
    let mut text = String::new();
    for (address, row) in rows {
        writeln!(text, "{address}{row}")?;
    }
    Ok(text)
}

fn read<S: UnwindSection<Bytes>>(
    section: &S,
    bases: &BaseAddresses,
    found: &mut Vec<(u64, String)>,
) -> Result<()>
where
    S::Offset: UnwindOffset<usize>,
{
    let mut entries = section.entries(bases);
    while let Some(entry) = entries.next()? {
        let CieOrFde::Fde(function) = entry else { continue };
        let function = function.parse(S::cie_from_offset)?;
        let mut context = UnwindContext::new();
        let mut rows = function.rows(section, bases, &mut context)?;
        while let Some(row) = rows.next_row()? {
            let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { continue };
            let mut line = format!(" {} {offset}", register.0);
            for (register, rule) in row.registers() {
                if let RegisterRule::Offset(offset) = rule {
                    write!(line, " {} {offset}", register.0)?;
                }
            }
            found.push((row.start_address(), line));
        }
        found.push((function.initial_address() + function.len(), String::new()));
    }
    Ok(())
}
