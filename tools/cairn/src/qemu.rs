//! QEMU's command line.

use crate::machine::{Console, Options, bound};
use crate::plugged::{self, Slot};
use anyhow::Result;
use cairn_abi::device::VirtioKind;
use cairn_description::Board;
use cairn_description::board::Qemu;
use std::path::Path;
use std::process::Command;

/// The emulator.
pub const PROGRAM: &str = "qemu-system-riscv64";

/// How QEMU is the board.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The arguments that make it the board.
    pub arguments: Vec<String>,
    /// The slots for which the system has drivers.
    pub slots: Vec<Slot>,
}

impl Machine {
    /// What makes QEMU `board`.
    pub fn of(board: &Board, emulation: &Qemu) -> Machine {
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
        Machine { arguments, slots: plugged::slots(board) }
    }
}

/// The command that boots the image `file` on the machine that `machine` says.
pub fn command(
    file: &Path,
    machine: &Machine,
    options: &Options,
    console: Console,
) -> Result<Command> {
    let mut command = bound(PROGRAM);
    command.args(&machine.arguments);
    command.args(plugged::arguments(&machine.slots, &options.devices, options.blank, file)?);
    command.args(match console {
        Console::Terminal => &["-nographic"][..],
        Console::Program => &["-display", "none", "-monitor", "none", "-serial", "stdio"],
    });
    command.args(["-bios", "default", "-kernel"]).arg(file);
    if options.icount {
        // A device answers in the host's time, and QEMU looks for it while the guest waits.
        let skips = options.skip_waiting && machine.slots.is_empty();
        let sleep = if skips { "off" } else { "on" };
        command.args(["-icount", &format!("shift=0,sleep={sleep}")]);
        // Random bytes, too, have to be the same in each run.
        if machine.slots.iter().any(|slot| slot.kind == VirtioKind::Random) {
            command.args(["-seed", "1"]);
        }
    }
    if let Some(port) = options.gdb {
        command.args(["-S", "-gdb", &format!("tcp:127.0.0.1:{port}")]);
    }
    command.args(&options.further);
    Ok(command)
}
