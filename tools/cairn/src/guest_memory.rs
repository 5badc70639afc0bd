//! The memory of an emulated machine as a file of the host, in which it can be read when the run has ended, however it ended: nothing
//! in the guest has to answer for that.

use crate::build::BuiltImage;
use crate::machine::{Machine, Options};
use crate::paths;
use anyhow::{Context, Result, bail};
use cairn_abi::record::{Header, Instance, MAGIC, Segment, Table};
use cairn_image::Report;
use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::AtomicI64;
use zerocopy::{FromBytes, Immutable};

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

    /// Behind its last physical address.
    pub fn end(&self) -> u64 {
        self.base + self.size
    }

    /// All of it, with the record of its system.
    pub fn read(&self, image: &BuiltImage) -> Result<Left> {
        let report = fs::read_to_string(image.file.with_extension("json"))?;
        let report: Report = serde_json::from_str(&report)?;
        let mut content = Vec::new();
        self.open()?.read_to_end(&mut content)?;
        let lost = "the machine's memory holds no record of its system";
        let record = report.record.checked_sub(self.base).context(lost)?;
        let record = content.get(record as usize..).context(lost)?;
        let (header, _) = Header::read_from_prefix(record).ok().context(lost)?;
        if header.magic != MAGIC {
            bail!(lost);
        }
        let instances = entries(record, header.instances).context(lost)?;
        let segments = entries(record, header.segments).context(lost)?;
        Ok(Left { report, header, instances, segments, base: self.base, content })
    }
}

/// What a run left in memory.
pub struct Left {
    /// What the build said of it.
    pub report: Report,
    /// Of its record.
    pub header: Header,
    /// Of the record, by number from 1.
    pub instances: Vec<Instance>,
    /// Of the record.
    pub segments: Vec<Segment>,
    base: u64,
    /// From the first physical address on.
    pub content: Vec<u8>,
}

impl Left {
    /// What lies at a physical address; nothing if that is not in memory.
    pub fn bytes(&self, physical: u64, size: u64) -> &[u8] {
        let from = physical.wrapping_sub(self.base) as usize;
        self.content.get(from..from.wrapping_add(size as usize)).unwrap_or(&[])
    }

    /// The same as words.
    pub fn words(&self, physical: u64, size: u64) -> Vec<AtomicI64> {
        let words = self.bytes(physical, size).chunks_exact(8);
        words.map(|word| i64::from_le_bytes(word.try_into().expect("eight bytes")).into()).collect()
    }
}

/// A table of the record.
fn entries<T: FromBytes + Immutable>(record: &[u8], table: Table) -> Option<Vec<T>> {
    let bytes = record.get(table.offset as usize..)?.chunks_exact(size_of::<T>());
    let entries: Vec<T> =
        bytes.take(table.count as usize).filter_map(|one| T::read_from_bytes(one).ok()).collect();
    (entries.len() == table.count as usize).then_some(entries)
}
