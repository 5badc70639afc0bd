//! What the machine code of the nucleus may hold, seen in its disassembly: where it jumps back, where it
//! waits, what it can change.
#![forbid(unsafe_code)]

use cairn_tool::cargo;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// Where the nucleus jumps back without a return address, by function: why that ends whatever a component
/// does.
const BACKWARD: [(&str, &str); 23] = [
    ("cairn_nucleus::fatal::print_hexadecimal", "prints 16 digits when the machine stops"),
    ("cairn_nucleus::fatal::print_name", "prints at most 32 bytes when the machine stops"),
    ("cairn_nucleus::fatal::end", "prints texts of its own when the machine stops"),
    ("fatal", "prints texts of its own and a name when the machine stops"),
    ("identifiers_missing", "prints a text of its own when the machine stops"),
    ("privileged_fault", "prints a text of its own when the machine stops"),
    ("cairn_nucleus::service::halt", "waits for the halt that it asked for"),
    ("set_up_thread", "looks at the at most 8 places where threads of a domain begin"),
    (
        "cairn_nucleus::service::frame_header",
        "follows the frames of an invocation stack down, at least 48 bytes each in half a page",
    ),
    ("trap_kernel", "to the part of the trap entry that saves, once"),
    ("trap_privileged", "to the part of the trap entry for faults of the nucleus, once"),
    ("unwind", "to its own end, which the compiler put before: its source has no loop"),
    ("copy_in", "to the refusal of a bad pointer, which does not come back"),
    ("service_open_kernel_read", "to what all that open a window do, which is not behind it"),
    ("service_open_kernel_write", "to what all that open a window do, which is not behind it"),
    ("service_open_passed_read", "to what all that open a window do, which is not behind it"),
    ("service_open_passed_write", "to what all that open a window do, which is not behind it"),
    ("service_stack_wait", "to the trap entry, as a trap would get there"),
    ("service_stack_wait_in_kernel", "to the trap entry, as a trap would get there"),
    ("kernel_access_fault", "to the trap return, which does not come back"),
    ("float_first_use", "to the trap return, which does not come back"),
    ("kernel_inside_dead", "to the end of the trap's dead entry, which does not come back"),
    ("trap_return_fence", "to the trap return, which does not come back"),
];

/// All that the nucleus can write of its own: written by the host tool, the hart's words of the floating-point unit, and the stack.
const DATA: [&str; 3] = ["NUCLEUS_PARAMETERS", "nucleus_float", "nucleus_stack_top"];

fn output(tool: &str, arguments: &[&str]) -> String {
    let assembler = std::env::var("CAIRN_AS").unwrap_or("riscv64-unknown-elf-as".into());
    let prefix = assembler.strip_suffix("as").expect("CAIRN_AS names an assembler, PREFIX-as");
    let nucleus: PathBuf = cargo::build_nucleus().expect("the nucleus builds");
    let tool = format!("{prefix}{tool}");
    let output =
        Command::new(&tool).args(arguments).arg(nucleus).output().unwrap_or_else(|error| {
            panic!("cannot run {tool}: {error}; install binutils-riscv64-unknown-elf")
        });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// An instruction.
struct Instruction {
    function: String,
    address: u64,
    name: String,
    /// Where it jumps, if the disassembler says so.
    target: Option<u64>,
}

/// Lines such as `ffffffc000000024:<tab>12000073          <tab>sfence.vma`.
fn instructions() -> Vec<Instruction> {
    let mut function = String::new();
    let mut all = Vec::new();
    for line in output("objdump", &["-d", "-C"]).lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            // Labels of the compiler stand within functions.
            if !name.1.starts_with(".L") {
                function = name.1.to_owned();
            }
            continue;
        }
        let parts: Vec<&str> = line.splitn(4, '\t').collect();
        let [address, _, name, ..] = parts[..] else { continue };
        let Ok(address) = u64::from_str_radix(address.trim().trim_end_matches(':'), 16) else {
            continue;
        };
        let operands = parts.get(3).copied().unwrap_or("").split(" <").next().unwrap_or("");
        let target = operands.rsplit([',', ' ']).next().unwrap_or("");
        let target = u64::from_str_radix(target, 16).ok().filter(|_| target.len() == 16);
        all.push(Instruction {
            function: function.clone(),
            address,
            name: name.trim().to_owned(),
            target,
        });
    }
    assert!(all.len() > 500, "{} instructions: is the nucleus empty?", all.len());
    all
}

#[test]
fn machine_code_jumps_back_where_it_is_listed() {
    let mut found = BTreeSet::new();
    let mut forward = 0;
    let mut before = String::new();
    for one in instructions() {
        // A jump behind `sret` is never executed: it keeps a core from fetching on.
        let behind_return = std::mem::replace(&mut before, one.name.clone()) == "sret";
        if behind_return || !one.name.starts_with(['b', 'j']) {
            continue;
        }
        // `jal` and `jalr` come back, and are calls.
        if one.name == "jal" || one.name == "jalr" {
            continue;
        }
        match one.target {
            Some(target) if target <= one.address => drop(found.insert(one.function)),
            Some(_) => forward += 1,
            None => {}
        }
    }
    assert!(forward > 50, "{forward} jumps forward: does the disassembler write otherwise?");
    let expected: BTreeSet<String> = BACKWARD.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, expected, "functions with jumps back; BACKWARD of this test has the list");
}

#[test]
fn it_waits_in_one_place() {
    let waits: Vec<String> = instructions()
        .into_iter()
        .filter(|one| one.name == "wfi")
        .map(|one| one.function)
        .collect();
    assert_eq!(
        waits,
        ["privileged_wait", "kernel_wait"],
        "`wfi` is in the portals that idle alone has"
    );
}

#[test]
fn it_can_change_nothing_but_what_is_listed() {
    let sections = output("objdump", &["-h"]);
    let names: BTreeSet<&str> = sections
        .lines()
        .filter(|line| line.trim_start().starts_with(|first: char| first.is_ascii_digit()))
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|name| !name.starts_with(".debug"))
        .collect();
    assert_eq!(names, [".data", ".rodata", ".text"].into(), "`.bss` would not be in the image");
    let symbols = output("nm", &["-C"]);
    let data: Vec<&str> = symbols
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(_, line)| line.split_once(' '))
        .filter(|(kind, _)| "bBdDsSgG".contains(*kind))
        .map(|(_, name)| name)
        .filter(|name| !name.starts_with(".L"))
        .collect();
    assert_eq!(data, DATA, "state of the nucleus: it is per hart, per thread or per domain");
}
