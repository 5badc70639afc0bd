//! The memory of an emulated machine as a file of the host, in which it can be read when the run has ended, however it ended: nothing
//! in the guest has to answer for that.

use crate::build::BuiltImage;
use crate::machine::{Machine, Options};
use crate::paths;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::PathBuf;

/// The file, which is no more when this is dropped.
pub struct GuestMemory {
    path: PathBuf,
    /// First physical address.
    pub base: u64,
    size: u64,
}

impl Drop for GuestMemory {
    fn drop(&mut self) {
        // Nothing is lost: it may not have been made yet.
        let _ = fs::remove_file(&self.path);
    }
}

impl GuestMemory {
    /// Of the machine on which `image` is about to run; `wants` is the option that wants it.
    pub fn of(image: &BuiltImage, wants: &str) -> Result<GuestMemory> {
        if !matches!(image.machine, Machine::Qemu(_)) {
            bail!(
                "{wants} reads the memory of the emulated machine; expected a board that QEMU emulates. Run the system \
                 on another, with --board"
            );
        }
        let path = paths::target().join(format!("guest-{}.memory", std::process::id()));
        Ok(GuestMemory { path, base: image.firmware.start, size: image.memory_size })
    }

    /// What the emulator is told.
    pub fn add_to(&self, options: &mut Options) {
        let backend = format!(
            "memory-backend-file,id=guest,size={},mem-path={},share=on",
            self.size,
            // A comma ends a value, unless there are two.
            self.path.display().to_string().replace(',', ",,")
        );
        let arguments = ["-object", &backend, "-machine", "memory-backend=guest"];
        options.further.extend(arguments.map(str::to_owned));
    }

    /// What the run has left.
    pub fn open(&self) -> Result<File> {
        File::open(&self.path).context("the machine left no memory behind")
    }
}
