//! The words of `encode` are what the GNU assembler makes of the same mnemonics, and its compressed
//! instructions mean what their full forms do.

use cairn_emulator::encode::*;
use cairn_emulator::register::{self, *};
use cairn_emulator::{compressed, decode};
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(tool: &str, arguments: &[&Path]) {
    let output = Command::new(tool).args(arguments).output().unwrap_or_else(|error| {
        panic!(
            "{tool}: {error}; this test compares with it, so install it (on Debian: apt-get install \
             binutils-riscv64-unknown-elf)"
        )
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} failed:\n{errors}");
}

fn assemble(name: &str, source: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = |extension: &str| folder.join(name).with_extension(extension);
    let text = format!(".option norelax\n{source}\n");
    std::fs::write(file("s"), text).unwrap();
    let march = Path::new("-march=rv64imac_zicsr_zifencei");
    let (source, object, binary) = (file("s"), file("o"), file("bin"));
    run("riscv64-unknown-elf-as", &[march, Path::new("-o"), &object, &source]);
    let format = [Path::new("-O"), Path::new("binary")];
    run("riscv64-unknown-elf-objcopy", &[format[0], format[1], &object, &binary]);
    std::fs::read(binary).unwrap()
}

/// Lines of assembly with the words that `encode` has for them.
#[derive(Default)]
struct Table(Vec<(String, u32)>);

impl Table {
    fn add(&mut self, text: String, word: u32) {
        self.0.push((text, word));
    }
}

macro_rules! forms {
    ($table:ident, $pattern:literal, $operands:tt: $($name:ident)*) => { $(
        // Mnemonics have a point where function names have an underscore.
        let text = format!($pattern, stringify!($name).replace('_', "."));
        $table.add(text, $name $operands);
    )* };
}

#[test]
fn words_are_those_of_the_assembler() {
    let mut table = Table::default();
    forms!(table, "{} s3, a7, t6", (S3, A7, T6):
        add sub sll slt sltu xor srl sra or and mul mulh mulhsu mulhu div divu rem remu
        addw subw sllw srlw sraw mulw divw divuw remw remuw);
    forms!(table, "{} s3, a7, -1365", (S3, A7, -1365): addi slti sltiu xori ori andi addiw);
    forms!(table, "{} s3, 1365(a7)", (S3, A7, 1365): lb lh lw ld lbu lhu lwu);
    forms!(table, "{} s3, -1366(a7)", (S3, A7, -1366): sb sh sw sd);
    forms!(table, "{} s3, a7, 43", (S3, A7, 43): slli srli srai);
    forms!(table, "{} s3, a7, 21", (S3, A7, 21): slliw srliw sraiw);
    forms!(table, "{} s3, a7, .+2730", (S3, A7, 2730): beq bne blt bge bltu bgeu);
    forms!(table, "{} s3, a7, .-1366", (S3, A7, -1366): beq bne blt bge bltu bgeu);
    forms!(table, "{} s3, 0xabcde", (S3, 0xabcd_e000u32 as i32): lui auipc);
    forms!(table, "{} s3, .+699050", (S3, 699_050): jal);
    forms!(table, "{} s3, .-699052", (S3, -699_052): jal);
    forms!(table, "{} s3, -5(a7)", (S3, A7, -5): jalr);
    forms!(table, "{} s3, t6, (a7)", (S3, T6, A7):
        sc_w amoswap_w amoadd_w amoxor_w amoand_w amoor_w amomin_w amomax_w amominu_w amomaxu_w
        sc_d amoswap_d amoadd_d amoxor_d amoand_d amoor_d amomin_d amomax_d amominu_d amomaxu_d);
    forms!(table, "{} s3, (a7)", (S3, A7): lr_w lr_d);
    forms!(table, "{} s3, stval, a7", (S3, 0x143, A7): csrrw csrrs csrrc);
    forms!(table, "{} s3, satp, 21", (S3, 0x180, 21): csrrwi csrrsi csrrci);
    forms!(table, "{} s3, a7", (S3, A7): sfence_vma);
    for (text, word) in [
        ("fence rw, rw", FENCE),
        ("fence.i", FENCE_I),
        ("ecall", ECALL),
        ("ebreak", EBREAK),
        ("sret", SRET),
        ("wfi", WFI),
        ("nop", NOP),
    ] {
        table.add(text.to_string(), word);
    }
    for number in 0..32 {
        let name = register::name(number);
        table.add(format!("addi {name}, {name}, 1"), addi(number, number, 1));
    }

    let lines: Vec<_> = table.0.iter().map(|(text, _)| text.as_str()).collect();
    let assembled = assemble("full", &format!(".option norvc\n{}", lines.join("\n")));
    assert_eq!(assembled.len(), 4 * table.0.len());
    for ((text, word), expected) in table.0.iter().zip(assembled.chunks(4)) {
        let expected = u32::from_le_bytes(expected.try_into().unwrap());
        assert_eq!(*word, expected, "`{text}` is {expected:#010x}, not {word:#010x}");
    }
}

#[test]
fn compressed_instructions_mean_their_full_forms() {
    let mut pairs = Vec::new();
    let mut pair = |short: String, full: String| pairs.push((short, full));
    // Every bit of every immediate by itself, and the sign.
    for bit in 1..8 {
        for offset in [1 << bit, -(1 << bit)] {
            pair(format!("c.beqz a3, .{offset:+}"), format!("beq a3, zero, .{offset:+}"));
            pair(format!("c.bnez s1, .{offset:+}"), format!("bne s1, zero, .{offset:+}"));
        }
    }
    for offset in (1..11).flat_map(|bit| [1 << bit, -(1 << bit)]) {
        pair(format!("c.j .{offset:+}"), format!("jal zero, .{offset:+}"));
    }
    for offset in (2..7).map(|bit| 1 << bit) {
        pair(format!("c.lw a2, {offset}(s1)"), format!("lw a2, {offset}(s1)"));
        pair(format!("c.sw a2, {offset}(s1)"), format!("sw a2, {offset}(s1)"));
    }
    for offset in (3..8).map(|bit| 1 << bit) {
        pair(format!("c.ld a2, {offset}(s1)"), format!("ld a2, {offset}(s1)"));
        pair(format!("c.sd a2, {offset}(s1)"), format!("sd a2, {offset}(s1)"));
    }
    for offset in (2..8).map(|bit| 1 << bit) {
        pair(format!("c.lwsp t5, {offset}(sp)"), format!("lw t5, {offset}(sp)"));
        pair(format!("c.swsp t5, {offset}(sp)"), format!("sw t5, {offset}(sp)"));
    }
    for offset in (3..9).map(|bit| 1 << bit) {
        pair(format!("c.ldsp t5, {offset}(sp)"), format!("ld t5, {offset}(sp)"));
        pair(format!("c.sdsp t5, {offset}(sp)"), format!("sd t5, {offset}(sp)"));
    }
    for offset in (2..10).map(|bit| 1 << bit) {
        pair(format!("c.addi4spn a4, sp, {offset}"), format!("addi a4, sp, {offset}"));
    }
    for offset in (4..9).flat_map(|bit| [1 << bit, -(1 << bit)]) {
        pair(format!("c.addi16sp sp, {offset}"), format!("addi sp, sp, {offset}"));
    }
    for value in (0..5).flat_map(|bit| [1 << bit, -(1 << bit)]) {
        pair(format!("c.addi t5, {value}"), format!("addi t5, t5, {value}"));
        pair(format!("c.addiw t5, {value}"), format!("addiw t5, t5, {value}"));
        pair(format!("c.li t5, {value}"), format!("addi t5, zero, {value}"));
        pair(format!("c.andi a5, {value}"), format!("andi a5, a5, {value}"));
        let upper = value & 0xfffff;
        pair(format!("c.lui t5, {upper}"), format!("lui t5, {upper}"));
    }
    for distance in (0..6).map(|bit| 1 << bit) {
        pair(format!("c.slli t5, {distance}"), format!("slli t5, t5, {distance}"));
        pair(format!("c.srli a5, {distance}"), format!("srli a5, a5, {distance}"));
        pair(format!("c.srai a5, {distance}"), format!("srai a5, a5, {distance}"));
    }
    for name in ["sub", "xor", "or", "and", "subw", "addw"] {
        pair(format!("c.{name} a5, s0"), format!("{name} a5, a5, s0"));
    }
    for (short, full) in [
        ("c.mv t5, s2", "add t5, zero, s2"),
        ("c.add t5, s2", "add t5, t5, s2"),
        ("c.jr t5", "jalr zero, 0(t5)"),
        ("c.jalr t5", "jalr ra, 0(t5)"),
        ("c.ebreak", "ebreak"),
        ("c.nop", "nop"),
    ] {
        pair(short.to_string(), full.to_string());
    }

    let source = |prefix: &str, lines: Vec<&str>| format!("{prefix}\n{}", lines.join("\n"));
    let short = pairs.iter().map(|(short, _)| short.as_str()).collect();
    let short = assemble("compressed", &source(".option rvc", short));
    let full = pairs.iter().map(|(_, full)| full.as_str()).collect();
    let full = assemble("expanded", &source(".option norvc", full));
    assert_eq!((short.len(), full.len()), (2 * pairs.len(), 4 * pairs.len()));
    for (((text, _), short), full) in pairs.iter().zip(short.chunks(2)).zip(full.chunks(4)) {
        let short = compressed::decode(u16::from_le_bytes(short.try_into().unwrap()));
        let full = decode::decode(u32::from_le_bytes(full.try_into().unwrap()));
        assert!(short.is_some(), "`{text}` is no instruction");
        assert_eq!(short, full, "`{text}`");
    }
}
