//! Systems name devices by what they are, so that a board with them elsewhere runs the same system.
#![forbid(unsafe_code)]

use cairn_description::{Disk, Files, load_from};
use cairn_tool::paths;
use std::collections::BTreeMap;
use std::io;

/// All descriptions of systems of the tree, by path from the root.
fn systems() -> Vec<String> {
    let disk = Disk::new(paths::root());
    let mut folders = vec!["systems".to_owned(), "bench/systems".to_owned()];
    folders.extend(disk.list("tests").iter().map(|name| format!("tests/{name}")));
    let mut systems = Vec::new();
    for folder in folders {
        for name in disk.list(&folder).iter().filter(|name| name.ends_with(".toml")) {
            let path = format!("{folder}/{name}");
            let text = disk.read(&path).expect("readable");
            if text.contains("[system]") {
                systems.push(path);
            }
        }
    }
    assert!(systems.len() > 30, "only {} systems", systems.len());
    systems
}

#[test]
fn no_system_says_where_its_devices_are() {
    for path in systems() {
        let system = load_from(&Disk::new(paths::root()), &path, None)
            .unwrap_or_else(|report| panic!("{report}"));
        for device in system.instances.iter().flat_map(|instance| &instance.devices) {
            let written = device.place.text();
            assert!(!written.contains('@'), "{}: {written} is only this board's", device.place);
        }
    }
}

/// The repository, with one more board: the one that it is made from, with its devices elsewhere.
struct Moved {
    disk: Disk,
    board: String,
}

const MOVES: [(&str, &str); 3] = [
    ("plic@c000000\"]\nregisters = [0xc00_0000", "plic@d000000\"]\nregisters = [0xd00_0000"),
    ("serial@10000000\"]\nregisters = [0x1000_0000", "uart@20100000\"]\nregisters = [0x2010_0000"),
    ("test@100000\"]\nregisters = [0x10_0000", "poweroff@20200000\"]\nregisters = [0x2020_0000"),
];

impl Moved {
    fn new() -> Moved {
        let disk = Disk::new(paths::root());
        let mut board = disk.read("boards/qemu-virt.toml").expect("readable");
        board = board.replace("name = \"qemu-virt\"", "name = \"moved\"");
        board = board.replace("controller = \"plic@c000000\"", "controller = \"plic@d000000\"");
        for (from, to) in MOVES {
            let lines = |text: &str| {
                // Whatever else the board says of a device stands behind its name.
                let (name, registers) = text.split_once('\n').expect("two lines");
                (format!("[device.\"{name}\n"), registers.to_owned())
            };
            let ((old_name, old_registers), (name, registers)) = (lines(from), lines(to));
            assert!(board.contains(&old_name) && board.contains(&old_registers), "{from}");
            board = board.replace(&old_name, &name).replace(&old_registers, &registers);
        }
        Moved { disk, board }
    }
}

impl Files for Moved {
    fn read(&self, path: &str) -> io::Result<String> {
        if path == "boards/moved.toml" { Ok(self.board.clone()) } else { self.disk.read(path) }
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let mut names = self.disk.list(folder);
        if folder == "boards" {
            names.push("moved.toml".to_owned());
        }
        names
    }

    fn is_folder(&self, path: &str) -> bool {
        self.disk.is_folder(path)
    }
}

#[test]
fn every_system_of_a_board_loads_where_its_devices_lie_elsewhere() {
    let files = Moved::new();
    let moved = BTreeMap::from([
        ("plic@d000000", 0xd00_0000),
        ("uart@20100000", 0x2010_0000),
        ("poweroff@20200000", 0x2020_0000),
    ]);
    for path in systems() {
        let own = load_from(&files, &path, None).unwrap_or_else(|report| panic!("{report}"));
        if *own.board.name != "qemu-virt" {
            continue;
        }
        let there =
            load_from(&files, &path, Some("moved")).unwrap_or_else(|report| panic!("{report}"));
        let given = |system: &cairn_description::System| -> Vec<String> {
            let devices = system.instances.iter().flat_map(|instance| &instance.devices);
            devices.map(|device| system.board.devices[**device].shown().to_owned()).collect()
        };
        assert_eq!(given(&own), given(&there), "{path}");
        for device in there.instances.iter().flat_map(|instance| &instance.devices) {
            let device = &there.board.devices[**device];
            let base = moved.get(device.name.as_str()).copied().unwrap_or(device.base);
            assert_eq!(device.base, base, "{path}: {}", device.name);
        }
    }
}
