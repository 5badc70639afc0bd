//! The machines on which an image is booted: QEMU, or the simulator of a core.

use crate::build::BuiltImage;
use crate::plugged::{Blank, Plugged, no_driver};
use crate::{qemu, simulator};
use anyhow::{Result, anyhow};
use cairn_description::Board;
use cairn_description::board::Emulation;
use std::process::Command;

/// What stands for the board.
#[derive(Clone, Debug)]
pub enum Machine {
    /// QEMU.
    Qemu(qemu::Machine),
    /// The simulator of a core.
    Simulator(simulator::Machine),
    /// Nothing: the board exists as hardware only. Its description is in this file.
    Hardware(String),
}

/// How to boot.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Every instruction takes the same time, so runs repeat exactly. Simulators always do.
    pub icount: bool,
    /// With `icount`: time in which the guest only waits is skipped. Not for guests that wait for input: a
    /// guest that skips from one timer to the next hardly ever lets QEMU look for it. Those with devices in slots are
    /// never made to.
    pub skip_waiting: bool,
    /// Wait for a debugger on this TCP port of this machine.
    pub gdb: Option<u16>,
    /// What is plugged into slots for devices; what else the system's drivers want is plugged in as well.
    pub devices: Vec<Plugged>,
    /// What a disk is that is not among those.
    pub blank: Blank,
    /// Passed on to QEMU or to the simulator.
    pub further: Vec<String>,
}

/// Who is at the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// The terminal; Ctrl-A X leaves.
    Terminal,
    /// A program: every byte belongs to the guest.
    Program,
}

impl Machine {
    /// What stands for `board`.
    pub fn of(board: &Board) -> Machine {
        match &board.emulation {
            Some(Emulation::Qemu(emulation)) => Machine::Qemu(qemu::Machine::of(board, emulation)),
            Some(Emulation::Simulator(emulation)) => {
                Machine::Simulator(simulator::Machine::of(board, emulation))
            }
            None => Machine::Hardware(board.name.place.path().to_owned()),
        }
    }

    /// Whether something can be plugged in.
    fn has_slots(&self) -> bool {
        matches!(self, Machine::Qemu(_))
    }

    /// Whether time is that of real hardware, a cycle after the other, and the host slow.
    pub fn is_cycle_exact(&self) -> bool {
        matches!(self, Machine::Simulator(_))
    }
}

/// The command that boots `image`.
///
/// Its exit status is the guest's: what it writes to the board's test finisher, 0 (pass) or a code of
/// its own (fail).
pub fn command(image: &BuiltImage, options: &Options, console: Console) -> Result<Command> {
    if let (Some(device), false) = (options.devices.first(), image.machine.has_slots()) {
        return Err(no_driver(device, &[])
            .context("only QEMU's boards have slots to plug in what is wanted"));
    }
    match &image.machine {
        Machine::Qemu(machine) => qemu::command(&image.file, machine, options, console),
        Machine::Simulator(machine) => simulator::command(&image.file, machine, options),
        Machine::Hardware(board) => Err(anyhow!(
            "{board}: nothing emulates this board; expected a table [qemu] or [simulator] in it. Its firmware starts {}",
            image.file.display()
        )),
    }
}

/// A command that ends with the process that starts it, also when that is killed: a guest that runs on alone
/// would take a core for good.
pub(crate) fn bound(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}
