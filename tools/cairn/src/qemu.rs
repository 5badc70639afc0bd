//! QEMU's command line.

use crate::build::BuiltImage;
use std::process::Command;

/// The emulator.
pub const PROGRAM: &str = "qemu-system-riscv64";

/// How to boot.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Every instruction takes the same time, so runs repeat exactly.
    pub icount: bool,
    /// With `icount`: time in which the guest only waits is skipped. Not for guests that wait for input: a
    /// guest that skips from one timer to the next hardly ever lets QEMU look for it.
    pub skip_waiting: bool,
    /// Wait for a debugger on this TCP port of this machine.
    pub gdb: Option<u16>,
    /// Passed on to QEMU.
    pub further: Vec<String>,
}

/// Who is at the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// The terminal, with QEMU's own keys (Ctrl-A X leaves).
    Terminal,
    /// A program: every byte belongs to the guest.
    Program,
}

/// The command that boots `image`.
///
/// Its exit status is the guest's: the board's test finisher ends QEMU with 0 (pass) or the code
/// that the guest wrote (fail).
pub fn command(image: &BuiltImage, options: &Options, console: Console) -> Command {
    // QEMU ends with whoever started it, also when that is killed: a guest that runs on alone would
    // take a core for good.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", PROGRAM]);
    command.args(&image.machine);
    command.args(match console {
        Console::Terminal => &["-nographic"][..],
        Console::Program => &["-display", "none", "-monitor", "none", "-serial", "stdio"],
    });
    command.args(["-bios", "default", "-kernel"]).arg(&image.file);
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

/// The line that starts a debugger with everyone's symbols.
pub fn debugger_line(image: &BuiltImage, port: u16) -> String {
    let mut line = "gdb-multiarch -ex 'set architecture riscv:rv64'".to_owned();
    for symbols in &image.symbols {
        let file = symbols.file.display();
        line += &format!(" -ex 'add-symbol-file {file} -o {:#x}'", symbols.offset);
    }
    line + &format!(" -ex 'target remote 127.0.0.1:{port}'")
}
