//! The disassembly of the stencils, and of a few whole portals, as reviewed: a change of a privileged
//! instruction is seen in the diff of `golden/`. `BLESS=1 cargo test -p cairn-portal --test golden` writes
//! it anew.

use cairn_abi::{DomainId, Space};
use cairn_portal::stencil::{ALL, Fill, Form, Hole, Stencil};
use cairn_portal::{Crossing, End, Float, Specification, generate};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The disassembler of the binutils that assemble the stencils.
fn disassembler() -> String {
    let assembler = std::env::var("CAIRN_AS").unwrap_or("riscv64-unknown-elf-as".into());
    let prefix = assembler.strip_suffix("as").expect("CAIRN_AS names an assembler, PREFIX-as");
    format!("{prefix}objdump")
}

/// One line for each word, which may be two compressed instructions: mnemonic and operands, without
/// pseudo-instructions.
fn disassemble(name: &str, words: &[u32]) -> Vec<String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.bin"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&file, bytes).expect("cargo's folder for tests is writable");
    let objdump = disassembler();
    let output = Command::new(&objdump)
        .args(["-D", "-z", "-b", "binary", "-m", "riscv:rv64", "-M", "no-aliases"])
        .arg(&file)
        .output()
        .unwrap_or_else(|error| {
            panic!("cannot run {objdump}: {error}; install binutils-riscv64-unknown-elf")
        });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("objdump writes text");
    // "   4:<tab>00823423          <tab>sd<tab>s0,8(tp) # comment"
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some((address, rest)) = line.split_once(":\t") else { continue };
        let Some((_, instruction)) = rest.split_once('\t') else { continue };
        let instruction = instruction.split('#').next().unwrap().trim().replacen('\t', " ", 1);
        match u64::from_str_radix(address.trim(), 16).expect("objdump shows an address") % 4 {
            0 => lines.push(instruction),
            _ => {
                *lines.last_mut().expect("the first half of the word") +=
                    &format!("; {instruction}")
            }
        }
    }
    assert_eq!(lines.len(), words.len(), "a line for each instruction");
    lines
}

/// The word with nothing in its hole: what the assembler leaves there depends on its version.
fn without_number(word: u32, hole: Option<&Hole>) -> u32 {
    hole.map_or(word, |hole| hole.form.fill(word, 0).expect("zero fits"))
}

fn hole_text(line: &str, hole: &Hole) -> String {
    let addend = if hole.addend == 0 { String::new() } else { format!("{:+}", hole.addend) };
    match hole.fill {
        // The disassembler's target is where the instruction happened to lie.
        Fill::Label(label) => {
            let operands = line.rsplit_once([',', ' ']).expect("a branch has operands").0;
            let separator = if operands.contains(' ') { ',' } else { ' ' };
            format!("{operands}{separator}<{label:?}{addend}>")
        }
        Fill::Value(value) => {
            let number = if hole.form == Form::Store || line.ends_with(')') { "0(" } else { "0" };
            let at = line.rfind(number).expect("the hole shows as zero");
            format!("{}<{value:?}{addend}>{}", &line[..at], &line[at + 1..])
        }
    }
}

/// A jump within a stencil, with the distance in place of the address.
fn relative(line: &str, address: i64) -> String {
    let jumps = line.starts_with('b') || line.starts_with("jal ");
    match line.rsplit_once(",0x") {
        Some((operands, target)) if jumps => {
            let target = i64::from_str_radix(target, 16).expect("objdump shows an address");
            format!("{operands},.{:+}", target - address)
        }
        _ => line.to_owned(),
    }
}

fn render(stencils: &[Stencil]) -> String {
    let hole_at =
        |stencil: &Stencil, at: usize| stencil.holes.iter().find(|hole| hole.at == at).copied();
    let words: Vec<u32> = stencils
        .iter()
        .flat_map(|stencil| {
            let word =
                |(at, word): (usize, &u32)| without_number(*word, hole_at(stencil, at).as_ref());
            stencil.code.iter().enumerate().map(word).collect::<Vec<_>>()
        })
        .collect();
    let mut lines = (0..).step_by(4).zip(disassemble("stencils", &words));
    let mut text = String::new();
    for stencil in stencils {
        text += &format!("{}:\n", stencil.name);
        for at in 0..stencil.code.len() {
            let (address, line) = lines.next().expect("a line for each word");
            let line = match hole_at(stencil, at) {
                Some(hole) => hole_text(&line, &hole),
                None => relative(&line, address),
            };
            text += &format!("    {line}\n");
        }
    }
    text
}

/// Domain 3 calls domain 4; what lies in literals is left at zero.
fn crossing(asids: bool) -> Crossing {
    let end = |domain| End { domain, ..End::NONE };
    Crossing {
        caller: end(DomainId(3)),
        callee: end(DomainId(4)),
        index: 17,
        asids,
        ..Crossing::NONE
    }
}

/// Between two that may use the floating-point unit.
fn crossing_of_users() -> Crossing {
    let mut crossing = crossing(true);
    (crossing.caller.float, crossing.callee.float) = (Float::FIRST_USE, Float::FIRST_USE);
    crossing
}

/// Between a guest and its host, in one page table.
fn crossing_in_one_space(asids: bool) -> Crossing {
    let mut crossing = crossing(asids);
    let space = Space::new(0x8000_0000, 3);
    (crossing.caller.space, crossing.callee.space) = (space, space);
    crossing
}

/// The code of a call portal, and of its return portal with the abort entry, without the literals
/// before each. Zeros fill up what lies behind.
fn whole(name: &str, crossing: &Crossing) -> String {
    let specification = Specification::parse(name).unwrap();
    let mut words = [0; 1024];
    let made = generate::pair(&specification, crossing, &mut words, 0).unwrap();
    let back = made.back as usize / 4;
    let literals = cairn_portal::literal::LITERALS_SIZE as usize / 4;
    let halves =
        [("call", made.call as usize / 4, back - literals), ("return", back, made.size / 4)];
    let mut text = String::new();
    for (half, from, to) in halves {
        let end = words[from..to].iter().position(|word| *word == 0).map_or(to, |zero| from + zero);
        text += &format!("{half}:\n");
        for (at, line) in (0..).step_by(4).zip(disassemble(name, &words[from..end])) {
            text += &format!("    {}\n", relative(&line, at));
        }
    }
    text
}

#[test]
fn whole_portals_are_those_that_were_reviewed() {
    for specification in ["smci", "npcw", "rpct"] {
        compare(&format!("{specification}.txt"), &whole(specification, &crossing(true)));
        compare(&format!("{specification}-one-asid.txt"), &whole(specification, &crossing(false)));
    }
    compare("npcw-guest.txt", &whole("npcw", &crossing_in_one_space(true)));
    compare("npcw-guest-one-asid.txt", &whole("npcw", &crossing_in_one_space(false)));
    compare("npci-float.txt", &whole("npci", &crossing_of_users()));
}

#[test]
fn the_stencils_are_those_that_were_reviewed() {
    compare("stencils.txt", &render(ALL));
}

fn compare(name: &str, text: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, text).expect("the golden file is writable");
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    let difference = text.lines().zip(golden.lines()).position(|(now, then)| now != then);
    if text != golden {
        let line = difference.unwrap_or(text.lines().count().min(golden.lines().count()));
        let show = |text: &str| text.lines().nth(line).unwrap_or("(the end)").trim().to_owned();
        panic!(
            "{}:{}: expected `{}`, there is now `{}`; if that is right, run the test once with BLESS=1",
            file.display(),
            line + 1,
            show(&golden),
            show(text),
        );
    }
}
