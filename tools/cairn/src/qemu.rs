//! QEMU's command line.

use crate::build::BuiltImage;
use crate::machine::{Console, Options, bound};
use cairn_description::Board;
use cairn_description::board::Qemu;
use std::path::Path;
use std::process::Command;

/// The emulator.
pub const PROGRAM: &str = "qemu-system-riscv64";

/// The arguments that make it the board.
pub fn machine(board: &Board, emulation: &Qemu) -> Vec<String> {
    let mut arguments = vec![
        "-machine".to_owned(),
        emulation.machine.clone(),
        "-cpu".to_owned(),
        emulation.cpu.clone(),
        "-m".to_owned(),
        format!("{}k", *board.memory.size / 1024),
        "-smp".to_owned(),
        board.harts.to_string(),
    ];
    arguments.extend(emulation.arguments.iter().cloned());
    arguments
}

/// The command that boots the image `file` on the machine that `machine` says.
pub fn command(file: &Path, machine: &[String], options: &Options, console: Console) -> Command {
    let mut command = bound(PROGRAM);
    command.args(machine);
    command.args(match console {
        Console::Terminal => &["-nographic"][..],
        Console::Program => &["-display", "none", "-monitor", "none", "-serial", "stdio"],
    });
    command.args(["-bios", "default", "-kernel"]).arg(file);
    if options.icount {
        let sleep = if options.skip_waiting { "off" } else { "on" };
        command.args(["-icount", &format!("shift=0,sleep={sleep}")]);
    }
    if let Some(port) = options.gdb {
        command.args(["-S", "-gdb", &format!("tcp:127.0.0.1:{port}")]);
    }
    command.args(&options.further);
    command
}

/// The line that starts a debugger with the symbols of all components.
pub fn debugger_line(image: &BuiltImage, port: u16) -> String {
    let mut line = "gdb-multiarch -ex 'set architecture riscv:rv64'".to_owned();
    for symbols in &image.symbols {
        let file = symbols.file.display();
        line += &format!(" -ex 'add-symbol-file {file} -o {:#x}'", symbols.offset);
    }
    line + &format!(" -ex 'target remote 127.0.0.1:{port}'")
}
