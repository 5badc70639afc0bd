//! `./cairn new driver NAME --device DEVICE`: a driver that builds, boots and answers, in a system of its own.

use super::names::Names;
use super::{Made, declared, with_member, write_all};
use crate::layout::Layout;
use crate::paths;
use anyhow::{Result, anyhow, bail};
use cairn_description::model::System;

/// What its template drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A virtio device whose driver is confined.
    Virtio,
    /// A device with registers and an interrupt.
    Registers,
}

/// The kind of virtio device that the template drives.
const VIRTIO: &str = "virtio-rng";

/// Files of a template: where they go, but for the name of the folder, and their text.
type Templates = [(&'static str, &'static str); 7];

macro_rules! templates {
    ($folder:literal) => {
        [
            (
                "@folder@/Cargo.toml",
                include_str!(concat!("../../templates/", $folder, "/Cargo.toml.in")),
            ),
            (
                "@folder@/src/main.rs",
                include_str!(concat!("../../templates/", $folder, "/main.rs.in")),
            ),
            (
                "@folder@/src/lib.rs",
                include_str!(concat!("../../templates/", $folder, "/lib.rs.in")),
            ),
            (
                "@folder@/README.md",
                include_str!(concat!("../../templates/", $folder, "/README.md.in")),
            ),
            (
                "@interface-file@",
                include_str!(concat!("../../templates/", $folder, "/interface.rs.in")),
            ),
            (
                "tests/@name@/@name@.toml",
                include_str!(concat!("../../templates/", $folder, "/system.toml.in")),
            ),
            (
                "tests/@name@/test.toml",
                include_str!(concat!("../../templates/", $folder, "/test.toml.in")),
            ),
        ]
    };
}

const OF_VIRTIO: Templates = templates!("driver-virtio");
const OF_REGISTERS: Templates = templates!("driver-registers");

/// Makes the driver `name` of a device in a project; returns what to tell the user.
pub fn driver(layout: &Layout, name: &str, device: &str) -> Result<String> {
    let (kind, device) = match device {
        "virtio" | VIRTIO => (Kind::Virtio, VIRTIO),
        other if other.starts_with("virtio-") => bail!(
            "the template drives {VIRTIO}, not {other}; make it with `--device virtio`, and change what it asks of the device"
        ),
        other => {
            let system = cairn_description::load_from(&paths::files(), &layout.system, None);
            check_device(&system.map_err(|report| anyhow!("{report}"))?, other)?;
            (Kind::Registers, other)
        }
    };
    make(layout, name, kind, device)
}

/// A device that the template can drive, and that nobody drives in the system that the driver is added to.
fn check_device(system: &System, name: &str) -> Result<()> {
    let board = &system.board;
    let is_free = |index: usize| {
        !system.instances.iter().any(|one| one.devices.iter().any(|device| **device == index))
    };
    let suits = |index: usize| {
        let device = &board.devices[index];
        is_free(index) && !device.dma && !device.interrupts.is_empty() && device.size >= 4
    };
    let good = (0..board.devices.len()).filter(|index| suits(*index));
    let good: Vec<&str> = good.map(|index| board.devices[index].shown()).collect();
    let why = match board.device(name) {
        None => format!("the board `{}` has no device `{name}`", board.name),
        Some(index) if suits(index) => return Ok(()),
        Some(index) if !is_free(index) => {
            format!("`{name}` has a driver in the system {}", *system.name)
        }
        Some(index) if board.devices[index].dma => {
            format!("`{name}` reaches memory by itself, which the template does not show")
        }
        Some(_) => format!("`{name}` has no interrupt, or no register of 32 bits"),
    };
    bail!("{why}; expected `virtio`, or one of {}", good.join(", "))
}

pub(super) fn make(layout: &Layout, name: &str, kind: Kind, device: &str) -> Result<String> {
    let names = Names::of_driver(name, layout)?;
    names.refuse_folders()?;
    names.refuse_taken()?;
    let folder = folder(&names);
    let mut files = files(&names, kind, device);
    files.push(declared(&layout.root, &names)?);
    files.extend(with_member(&layout.root, &folder)?);
    let method = if kind == Kind::Virtio { "word" } else { "first" };
    let interface = &names.interface;
    let rows = vec![
        ("made", format!("{folder}/"), format!("the driver of {device}")),
        ("made", names.interface_file(), format!("its interface, {interface}")),
        ("made", format!("tests/{name}/"), "its system, and its test".to_owned()),
        (
            "next",
            format!("./cairn run tests/{name}/{name}"),
            format!("in the shell: call {name} {method}"),
        ),
        ("", format!("./cairn test {name}"), "runs its test".to_owned()),
        ("", "docs/drivers.md".to_owned(), "says how a driver is made".to_owned()),
    ];
    write_all(&layout.root, Made { files, rows })
}

fn folder(names: &Names) -> String {
    format!("{}/{}", names.layout.drivers, names.name)
}

/// The files of a new driver.
pub(super) fn files(names: &Names, kind: Kind, device: &str) -> Vec<(String, String)> {
    let templates = if kind == Kind::Virtio { OF_VIRTIO } else { OF_REGISTERS };
    let folder = folder(names);
    let fill =
        |text: &str| names.fill(text).replace("@device@", device).replace("@folder@", &folder);
    templates.map(|(path, text)| (fill(path), fill(text))).to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::tests::workspace;
    use super::*;

    #[test]
    fn a_driver_is_made_and_nothing_is_overwritten() {
        let (root, layout) = workspace("new-driver");
        for (name, kind, device) in
            [("dice", Kind::Virtio, VIRTIO), ("my-clock", Kind::Registers, "rtc0")]
        {
            let told = make(&layout, name, kind, device).unwrap();
            assert!(told.contains(&format!("the driver of {device}")), "{told}");
            assert!(make(&layout, name, kind, device).is_err(), "it exists");
            for (path, text) in files(&Names::new(name, &layout).unwrap(), kind, device) {
                assert!(!text.contains('@') && !path.contains('@'), "{path}: {text}");
                assert_eq!(std::fs::read_to_string(root.join(&path)).unwrap(), text);
            }
            let test = root.join(format!("tests/{name}/test.toml"));
            crate::system_tests::SystemTest::read(&test).unwrap();
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_device_that_the_template_does_not_drive_says_what_it_does() {
        let layout = Layout::of_project().unwrap();
        let error = |device| driver(&layout, "dice", device).unwrap_err().to_string();
        assert!(error("virtio-blk").contains("make it with `--device virtio`"));
        let cases = [
            ("rtc", "has no device `rtc`"),
            ("serial0", "has a driver in the system demo"),
            ("virtio0", "reaches memory by itself"),
            ("finisher", "has no interrupt"),
        ];
        for (device, why) in cases {
            let error = error(device);
            assert!(
                error.contains(why) && error.ends_with("expected `virtio`, or one of rtc0"),
                "{error}"
            );
        }
    }
}
