//! The simulators of cores, in the harness of `boards/rtl/`.

use crate::machine::{Options, bound};
use crate::paths;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Where the shim begins, which stands in for firmware: the harness enters it.
const SHIM: u64 = 0x8000_0000;
/// Where the shim enters the image.
const IMAGE: u64 = 0x8020_0000;

/// What this process has found ready: a core's simulator.
static READY: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());

/// The command that boots the image `file` on `core`, whose simulator is built first if need be.
pub fn command(file: &Path, core: &str, options: &Options) -> Result<Command> {
    if options.gdb.is_some() {
        bail!(
            "a simulated core has no debugger; boot the system on another board, or see what boards/rtl/README.md has to look at it"
        );
    }
    let mut command = program(core)?;
    let shim = assemble("shim")?;
    command.arg(placed(&shim, SHIM)).arg(placed(file, IMAGE)).args(["--input", "-"]);
    command.args(&options.further);
    Ok(command)
}

/// The command that runs the bare program in the folder `boards/rtl/NAME` on `core`.
pub fn bare(name: &str, core: &str) -> Result<Command> {
    let mut command = program(core)?;
    command.arg(placed(&assemble(name)?, SHIM));
    Ok(command)
}

fn placed(file: &Path, address: u64) -> String {
    format!("{}@{address:#x}", file.display())
}

/// The core's simulator, as a command without arguments.
fn program(core: &str) -> Result<Command> {
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
    Ok(bound(&ready[core]))
}

/// Assembles the program in the folder `boards/rtl/NAME`.
fn assemble(name: &str) -> Result<PathBuf> {
    let folder = paths::target().join("images");
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{name}.rtl"));
    // Another command may be starting the old one, and threads of this process work side by side.
    let thread = format!("{:?}", std::thread::current().id());
    let new = folder.join(format!("{name}.{}-{thread}", std::process::id()));
    let status = Command::new(script("assemble.sh"))
        .arg(script(name))
        .arg(&new)
        .status()
        .context("cannot start boards/rtl/assemble.sh")?;
    if !status.success() {
        bail!("boards/rtl/{name} cannot be assembled; see above");
    }
    std::fs::rename(&new, &file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

fn script(name: &str) -> PathBuf {
    paths::root().join("boards/rtl").join(name)
}
