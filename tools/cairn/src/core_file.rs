//! Core files for a debugger, `./cairn run --core DIR`: of the components that died in a run and stayed dead. What they had is still in the
//! memory that the machine left, and where they stood is in the supervisor's reports, which are kept there.

use crate::build::BuiltImage;
use crate::debugger;
use crate::guest_memory::GuestMemory;
use anyhow::{Context, Result, bail};
use cairn_abi::page_table::{EXECUTE, WRITE};
use cairn_supervisor::kept::Kept;
use regex::Regex;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a component stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Registers {
    pc: u64,
    link: u64,
    stack: u64,
}

/// Refuses, before it runs, an image whose board keeps no reports.
pub fn check(image: &BuiltImage) -> Result<()> {
    if image.kept == 0 {
        bail!(
            "--core reads the supervisor's reports in `kept` memory; expected a board that has some"
        );
    }
    Ok(())
}

/// Writes them into a folder, `NAME.core` for each component; the lines that start a debugger on them.
pub fn write(image: &BuiltImage, memory: &GuestMemory, folder: &Path) -> Result<Vec<String>> {
    let left = memory.read(image)?;
    let kept = left.words(memory.end() - image.kept, image.kept);
    let mut text = Vec::new();
    let reports = Kept::new();
    reports.begin(&kept);
    reports.show(&kept, |line| text.extend(line));
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut lines = Vec::new();
    for (name, registers) in dead(&String::from_utf8_lossy(&text)) {
        // By what was built: what the machine left says of names could be a path.
        let Some(instance) = left.report.instances.iter().find(|one| one.name == name) else {
            continue;
        };
        let segments = left.segments.iter().filter(|one| one.instance.0 == instance.number);
        let parts: Vec<_> = segments
            .map(|one| (one.address, u64::from(one.flags), left.bytes(one.physical, one.size)))
            .collect();
        let file: PathBuf = folder.join(format!("{name}.core"));
        fs::write(&file, core(registers, &parts))
            .with_context(|| format!("cannot write {}", file.display()))?;
        lines.push(format!("{} -ex 'core-file {}'", debugger::symbols(image), file.display()));
    }
    Ok(lines)
}

/// Where each stood that has stayed dead, by what the supervisor said.
fn dead(reports: &str) -> BTreeMap<String, Registers> {
    // From its beginning: messages of those that died can look like reports.
    let line =
        |text| Regex::new(&format!("^before the reset: {text}")).expect("a valid expression");
    let boot = line("supervisor: image ");
    let who = line(r"supervisor: `([^`]+)` (\(domain|starts again)");
    let place = line(r"supervisor:   stack 0x([0-9a-f]+): pc 0x([0-9a-f]+), ra 0x([0-9a-f]+)");
    let end = line(r"supervisor:   it (stays dead|starts again)");
    let (mut name, mut registers) = (String::new(), None);
    let mut dead = BTreeMap::new();
    for line in reports.lines() {
        if boot.is_match(line) {
            dead.clear();
        } else if let Some(found) = who.captures(line) {
            (name, registers) = (found[1].to_owned(), None);
            dead.remove(&name);
        } else if let Some(found) = place.captures(line) {
            let [stack, pc, link] = [1, 2, 3].map(|group| {
                u64::from_str_radix(&found[group], 16).expect("the expression has digits alone")
            });
            registers = Some(Registers { pc, link, stack });
        } else if let Some(found) = end.captures(line)
            && let (Some(registers), "stays dead") = (registers.take(), &found[1])
        {
            dead.insert(name.clone(), registers);
        }
    }
    dead
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
/// Kinds of program headers: memory, notes.
const LOAD: u32 = 1;
const NOTE: u32 = 4;
/// `struct elf_prstatus` of 64-bit RISC-V, which debuggers read, and where it has registers: pc, ra, sp, and 29 that nobody has noted.
const STATUS: usize = 376;
const STATUS_REGISTERS: usize = 112;

/// An ELF core file of 64-bit RISC-V: registers, and memory at addresses with the rights of a page table.
fn core(registers: Registers, parts: &[(u64, u64, &[u8])]) -> Vec<u8> {
    let mut status = vec![0; STATUS];
    for (place, word) in [registers.pc, registers.link, registers.stack].into_iter().enumerate() {
        status[STATUS_REGISTERS + place * 8..][..8].copy_from_slice(&word.to_le_bytes());
    }
    // Name's and content's bytes, the type `NT_PRSTATUS`, the name.
    let mut note: Vec<u8> =
        [5, STATUS as u32, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    note.extend(b"CORE\0\0\0\0");
    note.extend(status);
    let readable = 4;
    let rights = |flags: u64| {
        readable | if flags & WRITE != 0 { 2 } else { 0 } | u32::from(flags & EXECUTE != 0)
    };
    let all = [(NOTE, readable, 0, &note[..])].into_iter().chain(
        parts.iter().map(|(address, flags, bytes)| (LOAD, rights(*flags), *address, *bytes)),
    );
    let count = parts.len() + 1;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    // A core file, of RISC-V, of version 1.
    file.extend([4, 0, 243, 0, 1, 0, 0, 0]);
    for word in [0, HEADER as u64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend([0; 4]);
    for half in [HEADER, PROGRAM_HEADER, count, 0, 0, 0] {
        file.extend((half as u16).to_le_bytes());
    }
    let mut at = HEADER + PROGRAM_HEADER * count;
    for (kind, rights, address, bytes) in all.clone() {
        file.extend(kind.to_le_bytes());
        file.extend(rights.to_le_bytes());
        let size = bytes.len() as u64;
        for word in [at as u64, address, 0, size, size, 4] {
            file.extend(word.to_le_bytes());
        }
        at += bytes.len();
    }
    all.for_each(|(_, _, _, bytes)| file.extend(bytes));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_started_again_or_left_no_place_is_not_among_the_dead() {
        let died = |name: &str, stack: &str, end: &str| {
            format!(
                "before the reset: supervisor: `{name}` (domain 3) panicked in thread 1: x\n{stack}before the reset: supervisor:   it {end}\n"
            )
        };
        let stack = "before the reset: supervisor:   stack 0x30: pc 0x10, ra 0x20, +0x0 0x1\n";
        let text = [
            // All start at a boot, which says of which image it is before its first report.
            died("before", stack, "stays dead"),
            "before the reset: supervisor: image 0123456789abcdef\n".to_owned(),
            died("again", stack, "stays dead"),
            died("again", stack, "starts again in 1000 ms"),
            died("killed", "", "stays dead"),
            died("dead", stack, "starts again"),
            died("dead", stack, "stays dead"),
            died("started", stack, "stays dead"),
            "before the reset: supervisor: `started` starts again, as was asked\n".to_owned(),
            // In a panic's message, where a line goes on.
            "before the reset: ...supervisor: `innocent` (domain 2) was killed\n".to_owned(),
            format!("before the reset: supervisor:   ...{}", &stack["before the reset: ".len()..]),
            "before the reset: supervisor:   ...supervisor:   it stays dead\n".to_owned(),
        ]
        .concat();
        let expected = Registers { pc: 0x10, link: 0x20, stack: 0x30 };
        assert_eq!(dead(&text), BTreeMap::from([("dead".to_owned(), expected)]));
    }
}
