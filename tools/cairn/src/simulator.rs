//! The simulators of cores, in the harness of `boards/rtl/`.

use crate::machine::{Options, bound};
use crate::paths;
use anyhow::{Context, Result, bail};
use cairn_description::Board;
use cairn_description::board::Simulator;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Where the shim begins, which stands in for firmware: the harness enters it.
const SHIM: u64 = 0x8000_0000;

/// A board, as the harness and the shim have to be told of it.
#[derive(Clone, Debug)]
pub struct Machine {
    board: String,
    core: String,
    image: u64,
    /// For the simulator.
    arguments: Vec<String>,
    /// For the assembler.
    symbols: Vec<String>,
}

impl Machine {
    /// What makes the harness `board`.
    pub fn of(board: &Board, emulation: &Simulator) -> Machine {
        let mut arguments = Vec::new();
        let mut tell = |option: &str, value: u64| {
            arguments.extend([format!("--{option}"), format!("{value:#x}")]);
        };
        tell("memory", *board.memory.size >> 20);
        tell("reset", emulation.reset);
        tell("tick", emulation.clock / board.time_base);
        tell("timer", emulation.timer);
        let mut symbols = vec![
            format!("IMAGE={:#x}", *board.load_address),
            format!("TIMER={:#x}", emulation.timer),
        ];
        // Devices that a board does not have stay at the harness' own addresses.
        for (name, option, symbol) in [
            ("serial0", "serial", Some("SERIAL")),
            ("finisher", "finisher", Some("FINISHER")),
            ("control", "control", None),
            ("interrupt-controller", "interrupts", None),
        ] {
            let Some(device) = board.device(name).map(|index| &board.devices[index]) else {
                continue;
            };
            tell(option, device.base);
            if let Some(interrupt) = device.interrupts.first() {
                tell(&format!("{option}-source"), u64::from(**interrupt));
            }
            symbols.extend(symbol.map(|symbol| format!("{symbol}={:#x}", device.base)));
        }
        Machine {
            board: board.name.to_string(),
            core: emulation.core.to_string(),
            image: *board.load_address,
            arguments,
            symbols,
        }
    }
}

/// What this process has found ready: a core's simulator.
static READY: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());

/// The command that boots the image `file` on `machine`, whose simulator is built first if need be.
pub fn command(file: &Path, machine: &Machine, options: &Options) -> Result<Command> {
    if options.gdb.is_some() {
        bail!(
            "a simulated core has no debugger; boot the system on another board, or see what boards/rtl/README.md has to look at it"
        );
    }
    let mut command = program(machine)?;
    let shim = assemble("shim", machine)?;
    command.arg(placed(&shim, SHIM)).arg(placed(file, machine.image)).args(["--input", "-"]);
    command.args(&options.further);
    Ok(command)
}

/// The command that boots what lies in files, each at an address, the first of them where an image does.
pub fn loaded(machine: &Machine, files: &[(PathBuf, u64)]) -> Result<Command> {
    let mut command = program(machine)?;
    command.arg(placed(&assemble("shim", machine)?, SHIM));
    command.args(files.iter().map(|(file, address)| placed(file, *address)));
    Ok(command)
}

/// The command that runs the bare program in the folder `boards/rtl/NAME` on `machine`.
pub fn bare(name: &str, machine: &Machine) -> Result<Command> {
    let mut command = program(machine)?;
    command.arg(placed(&assemble(name, machine)?, SHIM));
    Ok(command)
}

fn placed(file: &Path, address: u64) -> String {
    format!("{}@{address:#x}", file.display())
}

/// The core's simulator, as a command that is told of the board.
fn program(machine: &Machine) -> Result<Command> {
    let core = machine.core.as_str();
    let mut ready = READY.lock().expect("nobody panics while building");
    if !ready.contains_key(core) {
        let output = Command::new(script("build.sh"))
            .arg(core)
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start boards/rtl/build.sh")?;
        if !output.status.success() {
            bail!("the simulator of the core `{core}` could not be built; see above");
        }
        let path = String::from_utf8(output.stdout).context("the simulator's path is no text")?;
        ready.insert(core.to_owned(), path.trim_end().into());
    }
    let mut command = bound(&ready[core]);
    command.args(&machine.arguments);
    Ok(command)
}

/// Assembles the program in the folder `boards/rtl/NAME` for a board.
fn assemble(name: &str, machine: &Machine) -> Result<PathBuf> {
    let folder = paths::target().join("images");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{name}.{}.rtl", machine.board));
    // Another command may be starting the old one.
    let new = paths::temporary(&file);
    let status = Command::new(script("assemble.sh"))
        .arg(script(name))
        .arg(&new)
        .args(&machine.symbols)
        .status()
        .context("cannot start boards/rtl/assemble.sh")?;
    if !status.success() {
        bail!("boards/rtl/{name} cannot be assembled; see above");
    }
    std::fs::rename(&new, &file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

fn script(name: &str) -> PathBuf {
    paths::source().join("boards/rtl").join(name)
}
