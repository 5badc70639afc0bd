//! What is plugged into the virtio slots of the emulated machine: what the drivers of the system want, in the slots that its
//! description chose.

use crate::paths;
use anyhow::{Context, Result, anyhow, bail};
use cairn_abi::device::VirtioKind;
use cairn_description::Board;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Registers of the first slot of QEMU's machine `virt`, and how many bytes further the next ones are.
const SLOTS: u64 = 0x1000_1000;
const SLOT_SIZE: u64 = 0x1000;
const SLOTS_MAXIMUM: u64 = 8;
/// Bytes of a disk that nobody gives.
const DISK_SIZE: u64 = 16 << 20;
/// A disk is divided into these (virtio 1.2, section 5.2.4), and QEMU fills up what is left of a file.
pub const SECTOR: u64 = 512;

/// A slot for which the description has a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What its driver drives.
    pub kind: VirtioKind,
    /// What descriptions call it.
    pub name: String,
    /// Its registers.
    pub base: u64,
}

/// Something to plug in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plugged {
    /// A source of random bytes.
    Random,
    /// A network card, behind which QEMU is a router.
    Network,
    /// A disk whose content is this file.
    Disk(PathBuf),
}

/// What a disk is that nobody gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blank {
    /// Empty, and what is written to it is gone afterwards.
    #[default]
    Forgotten,
    /// A file in the target folder, for the next run too.
    Kept,
}

impl Plugged {
    fn kind(&self) -> VirtioKind {
        match self {
            Plugged::Random => VirtioKind::Random,
            Plugged::Network => VirtioKind::Network,
            Plugged::Disk(_) => VirtioKind::Block,
        }
    }
}

impl FromStr for Plugged {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Plugged> {
        match text.split_once('=').unwrap_or((text, "")) {
            ("rng", _) if text == "rng" => Ok(Plugged::Random),
            ("net", _) if text == "net" => Ok(Plugged::Network),
            ("blk", file) if !file.is_empty() => Ok(Plugged::Disk(file.into())),
            _ => Err(anyhow!("expected `rng`, `net` or `blk=FILE`, a raw image of a disk")),
        }
    }
}

/// The slots of a system's board for which it has drivers.
pub fn slots(board: &Board) -> Vec<Slot> {
    let devices = board.devices.iter().filter(|device| device.is_slot);
    devices
        .filter_map(|device| {
            Some(Slot { kind: device.kind()?, name: device.shown().to_owned(), base: device.base })
        })
        .collect()
}

/// QEMU's arguments that plug `given` into the slots, the first of a kind into the first slot for it, and what else their drivers
/// want. Disks that are kept have names that begin with `image`.
pub fn arguments(
    slots: &[Slot],
    given: &[Plugged],
    blank: Blank,
    image: &Path,
) -> Result<Vec<String>> {
    let mut given: Vec<&Plugged> = given.iter().collect();
    let mut arguments = Vec::new();
    for (index, slot) in slots.iter().enumerate() {
        let bus = bus(slot)?;
        let found = given.iter().position(|plugged| plugged.kind() == slot.kind);
        let found = found.map(|at| given.remove(at));
        let id = &format!("{}{index}", slot.kind.name());
        let on = |device: &str| format!("{device},bus=virtio-mmio-bus.{bus}");
        match (slot.kind, found) {
            (VirtioKind::Block, found) => {
                let (file, rest) = match (found, blank) {
                    (Some(Plugged::Disk(file)), _) => (check_disk(file)?, ""),
                    (_, Blank::Kept) => (kept(image, slot)?, ""),
                    (_, Blank::Forgotten) => (empty()?, ",snapshot=on"),
                };
                // A comma ends a value, unless there are two.
                let file = file.display().to_string().replace(',', ",,");
                let drive = format!("if=none,format=raw,id={id},file={file}{rest}");
                let device = on(&format!("virtio-blk-device,drive={id}"));
                arguments.extend(["-drive".to_owned(), drive, "-device".to_owned(), device]);
            }
            (VirtioKind::Network, _) => {
                let device = on(&format!("virtio-net-device,netdev={id}"));
                let netdev = format!("user,id={id}");
                arguments.extend(["-netdev".to_owned(), netdev, "-device".to_owned(), device]);
            }
            (VirtioKind::Random, _) => {
                arguments.extend(["-device".to_owned(), on("virtio-rng-device")]);
            }
            (VirtioKind::Console, _) => {
                // Nobody is at its other end.
                arguments.extend(["-chardev".to_owned(), format!("null,id={id}")]);
                let ports = on("virtio-serial-device,max_ports=1");
                arguments.extend(["-device".to_owned(), format!("{ports},id=ports{id}")]);
                let port = format!("virtconsole,chardev={id},bus=ports{id}.0");
                arguments.extend(["-device".to_owned(), port]);
            }
        }
    }
    match given.first() {
        None => Ok(arguments),
        Some(left) => Err(no_driver(left, slots)),
    }
}

/// Why something cannot be plugged in.
pub fn no_driver(plugged: &Plugged, slots: &[Slot]) -> anyhow::Error {
    let kind = plugged.kind();
    let drivers = slots.iter().filter(|slot| slot.kind == kind).count();
    let wanted: Vec<String> =
        slots.iter().map(|slot| format!("{} in {}", slot.kind.name(), slot.name)).collect();
    let wanted = match wanted.is_empty() {
        true => "no virtio device".to_owned(),
        false => wanted.join(", "),
    };
    anyhow!(
        "nobody drives this device, virtio-{0}: the system has drivers for {drivers} of this kind, and wants {wanted}. \
         Expected one more instance with `devices = [\"virtio-{0}\"]`",
        kind.name()
    )
}

/// The number of the bus that QEMU's slot at these registers is.
fn bus(slot: &Slot) -> Result<u64> {
    let bus = slot.base.checked_sub(SLOTS).map(|offset| offset / SLOT_SIZE);
    match bus.filter(|bus| *bus < SLOTS_MAXIMUM && SLOTS + bus * SLOT_SIZE == slot.base) {
        Some(bus) => Ok(bus),
        None => bail!(
            "QEMU has no virtio slot at {:#x}, where the board has `{}`; expected {SLOTS_MAXIMUM} from {SLOTS:#x} on, as of \
             the machine `virt`",
            slot.base,
            slot.name
        ),
    }
}

/// A file that is a disk.
fn check_disk(file: &Path) -> Result<PathBuf> {
    let shown = file.display();
    let about = std::fs::metadata(file).with_context(|| {
        format!("cannot find the disk {shown}; `truncate --size 16M {shown}` makes an empty one")
    })?;
    if about.is_file() && (about.len() == 0 || !about.len().is_multiple_of(SECTOR)) {
        bail!(
            "{shown} is no disk: expected a multiple of {SECTOR} bytes, found {}; `truncate --size %{SECTOR} {shown}` fills it up",
            about.len()
        );
    }
    if about.is_dir() {
        bail!("{shown} is a folder; expected a file with the raw content of a disk");
    }
    Ok(file.to_owned())
}

/// Where disks of emulated machines lie.
pub fn folder() -> Result<PathBuf> {
    let folder = paths::target().join("disks");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", paths::shown(&folder)))?;
    Ok(folder)
}

/// The disk in a slot that a system finds again, made if need be.
fn kept(image: &Path, slot: &Slot) -> Result<PathBuf> {
    let system = image.file_stem().unwrap_or_default().to_string_lossy();
    let file = folder()?.join(format!("{system}.{}.img", slot.name));
    if !file.exists() {
        make(&file, DISK_SIZE)?;
        eprintln!(
            "cairn: made an empty disk for {}: {}; --device blk=FILE takes another",
            slot.name,
            paths::shown(&file)
        );
    }
    Ok(file)
}

/// An empty disk that is never written.
fn empty() -> Result<PathBuf> {
    let file = folder()?.join("empty.img");
    if !file.exists() {
        let new = paths::temporary(&file);
        make(&new, DISK_SIZE)?;
        std::fs::rename(&new, &file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(file)
}

fn make(file: &Path, size: u64) -> Result<()> {
    File::create(file)
        .and_then(|made| made.set_len(size))
        .with_context(|| format!("cannot write {}", paths::shown(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where these tests make files.
    fn files() -> PathBuf {
        let folder = paths::target().join("disks-test");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn slot(kind: VirtioKind, number: u64) -> Slot {
        Slot { kind, name: format!("virtio{number}"), base: SLOTS + number * SLOT_SIZE }
    }

    fn text(slots: &[Slot], given: &[Plugged]) -> Result<String, String> {
        let image = Path::new("folder/demo.bin");
        let arguments = arguments(slots, given, Blank::Forgotten, image);
        arguments.map(|all| all.join(" ")).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn what_drivers_want_is_in_their_slots() {
        let slots = [slot(VirtioKind::Random, 3), slot(VirtioKind::Network, 0)];
        let expected = "-device virtio-rng-device,bus=virtio-mmio-bus.3 -netdev user,id=net1 \
                        -device virtio-net-device,netdev=net1,bus=virtio-mmio-bus.0";
        assert_eq!(text(&slots, &[]).as_deref(), Ok(expected));
        assert_eq!(text(&slots, &[Plugged::Network, Plugged::Random]).as_deref(), Ok(expected));
        assert_eq!(text(&[], &[]).as_deref(), Ok(""));
    }

    #[test]
    fn disks_go_to_the_slots_in_order() {
        let folder = files();
        let file = |name: &str| {
            let file = folder.join(name);
            make(&file, 4 * SECTOR).unwrap();
            file
        };
        let (one, two) = (file("test,one.img"), file("test-two.img"));
        let slots = [slot(VirtioKind::Block, 1), slot(VirtioKind::Block, 2)];
        let both = text(&slots, &[Plugged::Disk(one.clone()), Plugged::Disk(two)]).unwrap();
        let first = "test,,one.img -device virtio-blk-device,drive=blk0,bus=virtio-mmio-bus.1";
        let second = "test-two.img -device virtio-blk-device,drive=blk1,bus=virtio-mmio-bus.2";
        assert!(both.contains(first) && both.contains(second), "{both}");
        let other = text(&slots, &[Plugged::Disk(one)]).unwrap();
        assert!(other.contains(first), "{other}");
        assert!(
            other.contains("id=blk1,file=") && other.contains("empty.img,snapshot=on"),
            "{other}"
        );
        assert_eq!(empty().unwrap().metadata().unwrap().len(), DISK_SIZE);
    }

    #[test]
    fn a_disk_that_is_none_says_so() {
        let slots = [slot(VirtioKind::Block, 1)];
        let odd = files().join("test-odd.img");
        make(&odd, SECTOR + 1).unwrap();
        let error = |file: &Path| text(&slots, &[Plugged::Disk(file.to_owned())]).unwrap_err();
        assert!(error(&odd).contains("expected a multiple of 512 bytes, found 513"));
        assert!(error(&files()).contains("is a folder"));
        assert!(error(Path::new("nowhere.img")).contains("cannot find the disk nowhere.img"));
    }

    #[test]
    fn what_has_no_driver_is_refused() {
        let slots = [slot(VirtioKind::Random, 3)];
        let error = text(&slots, &[Plugged::Random, Plugged::Random]).unwrap_err();
        assert!(
            error.contains("has drivers for 1 of this kind") && error.contains("rng in virtio3"),
            "{error}"
        );
        let error = text(&[], &[Plugged::Network]).unwrap_err();
        assert!(error.contains("wants no virtio device"), "{error}");
        let elsewhere = Slot { base: SLOTS + 8 * SLOT_SIZE, ..slot(VirtioKind::Random, 0) };
        assert!(text(&[elsewhere], &[]).unwrap_err().contains("no virtio slot at 0x10009000"));
    }

    #[test]
    fn what_to_plug_in_is_written_so() {
        assert_eq!("rng".parse::<Plugged>().unwrap(), Plugged::Random);
        assert_eq!("net".parse::<Plugged>().unwrap(), Plugged::Network);
        assert_eq!("blk=a=b".parse::<Plugged>().unwrap(), Plugged::Disk("a=b".into()));
        for wrong in ["blk", "blk=", "rng=1", "disk=a", ""] {
            assert!(wrong.parse::<Plugged>().is_err(), "{wrong}");
        }
    }
}
