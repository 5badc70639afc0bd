//! Systems name devices by what they are, so that a board with them elsewhere runs the same system.
#![forbid(unsafe_code)]

use cairn_description::{Board, Disk, Files, Source, load_board, load_from};
use cairn_tool::{board, paths};
use std::collections::BTreeMap;
use std::io;
use std::process::Command;

/// All descriptions of systems of the tree, by path from the root.
fn systems() -> Vec<String> {
    let disk = paths::files();
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
        let system =
            load_from(&paths::files(), &path, None).unwrap_or_else(|report| panic!("{report}"));
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
        let disk = paths::files();
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

    fn content_size(&self, path: &str) -> io::Result<Option<u64>> {
        self.disk.content_size(path)
    }

    fn is_component(&self, folder: &str) -> bool {
        self.disk.is_component(folder)
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

/// The device tree of a machine of QEMU's.
fn tree(machine: &str) -> Vec<u8> {
    let file = format!("{}/{machine}.dtb", env!("CARGO_TARGET_TMPDIR"));
    let output = Command::new("qemu-system-riscv64")
        .args(["-machine", &format!("{machine},dumpdtb={file}"), "-m", "128M"])
        .output()
        .expect("QEMU starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(file).expect("QEMU wrote it")
}

fn imported(machine: &str) -> Board {
    let text = board::describe(&tree(machine), machine)
        .unwrap_or_else(|error| panic!("{machine}: {error:#}"));
    Board::parse(&Source::new(machine, &text)).unwrap_or_else(|report| panic!("{text}\n{report}"))
}

#[test]
fn the_device_tree_of_qemus_machine_makes_the_board_that_is_described_by_hand() {
    let (made, written) = (imported("virt"), load_board(&paths::files(), "qemu-virt").unwrap());
    assert_eq!((made.memory.base, *made.memory.size), (written.memory.base, *written.memory.size));
    assert_eq!((made.time_base, made.sstc), (written.time_base, written.sstc));
    assert!(made.float && written.float);
    assert_eq!(*made.load_address, *written.load_address);
    let [controller, expected] = [&made, &written].map(|board| {
        let controller = board.interrupts.as_ref().expect("a controller");
        let sources = match board.name.as_str() {
            // This tree counts source 0 as well, which there is not.
            "virt" => controller.sources - 1,
            _ => controller.sources,
        };
        (board.devices[controller.device].base, sources, controller.context)
    });
    assert_eq!(controller, expected);
    for device in &written.devices {
        let index = made.device(&device.name).unwrap_or_else(|| panic!("no {}", device.name));
        let found = &made.devices[index];
        let of = |device: &cairn_description::board::Device| {
            let interrupts: Vec<u32> = device.interrupts.iter().map(|source| **source).collect();
            let alias = device.shown().to_owned();
            let reach = (device.dma, device.virtio);
            (device.base, device.size, interrupts, device.finisher, reach, alias)
        };
        assert_eq!(of(found), of(device), "{}", device.name);
    }
}

#[test]
fn the_context_is_that_of_the_first_hart_with_supervisor_mode() {
    // Its first hart has machine mode only, so context 0; the second has 1 and 2.
    let board = imported("sifive_u");
    assert_eq!(board.interrupts.as_ref().map(|controller| controller.context), Some(2));
    assert!(board.device("serial0").is_some());
    // And several interrupts of a device.
    let cache = board.device("cache-controller@2010000").expect("a cache controller");
    let sources = board.devices[cache].interrupts.iter().map(|source| **source);
    assert_eq!(sources.collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn a_board_may_lie_in_a_folder_of_ones_own() {
    let root = paths::temporary(&paths::target().join("boards-test"));
    for folder in ["boards", "products/mine"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let file = root.join("virt.dtb");
    std::fs::write(&file, tree("virt")).unwrap();
    for (name, path, board) in [
        ("plain", "boards/plain.toml", "plain"),
        ("products/mine/board", "products/mine/board.toml", "products/mine/board"),
        ("products/mine/other.toml", "products/mine/other.toml", "products/mine/other"),
    ] {
        let said = board::import(&root, &file, name).unwrap();
        assert!(said.contains(&format!("made   {path}: ")), "{said}");
        assert!(said.contains(&format!("--board {board} ")), "{said}");
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        let expected = board.rsplit('/').next().unwrap();
        assert_eq!(*Board::parse(&Source::new(path, &text)).unwrap().name, expected);
        let again = board::import(&root, &file, name).unwrap_err().to_string();
        assert!(again.contains(&format!("{path} exists")), "{again}");
    }
    let nowhere = board::import(&root, &file, "nowhere/board").unwrap_err().to_string();
    assert!(nowhere.contains("cannot write nowhere/board.toml"), "{nowhere}");
    assert!(board::import(&root, &file, "products/mine/").is_err());
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn broken_device_trees_are_errors() {
    let tree = tree("virt");
    let message = |bytes: &[u8]| format!("{:#}", board::describe(bytes, "broken").unwrap_err());
    for length in [0, 4, 39, 40, 64] {
        assert!(message(&tree[..length]).contains("not a flattened device tree"), "{length}");
    }
    // A byte changed somewhere is another tree or an error, never a panic.
    let used = u32::from_be_bytes(tree[4..8].try_into().unwrap()) as usize;
    for at in (40..used.min(8192)).step_by(7) {
        let mut broken = tree.clone();
        broken[at] ^= 0xff;
        let _ =
            board::describe(&broken, "broken").map(|text| Board::parse(&Source::new("", &text)));
    }
}
