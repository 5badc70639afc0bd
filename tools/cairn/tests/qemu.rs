//! QEMU is driven rightly, shown with a guest of a few instructions.
#![forbid(unsafe_code)]

use cairn_abi::device::VirtioKind;
use cairn_tool::build::BuiltImage;
use cairn_tool::expect::{Guest, Pattern, TimeLimit};
use cairn_tool::machine::{Console, Machine, Options, command};
use cairn_tool::plugged::{self, Blank, Slot};
use cairn_tool::qemu;
use cairn_tool::run::{TIMED_OUT, scripted};
use cairn_tool::system_tests::SystemTest;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

fn image() -> BuiltImage {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let file = FILE.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest.s");
        let (object, file) = (folder().join("guest.o"), folder().join("guest"));
        run(Command::new("riscv64-unknown-elf-as").arg("-o").arg(&object).arg(source));
        // One segment from the start address: the firmware jumps to the lowest address of the file.
        let link = ["-N", "--no-warn-rwx-segments", "-Ttext=0x80200000"];
        run(Command::new("riscv64-unknown-elf-ld").args(link).arg("-o").arg(&file).arg(&object));
        file
    });
    BuiltImage {
        identifier: 0,
        packages: Vec::new(),
        description: String::new(),
        components: Default::default(),
        file: file.clone(),
        nucleus: file.clone(),
        machine: Machine::Qemu(qemu::Machine {
            arguments: ["-M", "virt", "-cpu", "rv64", "-m", "128M"].map(str::to_owned).to_vec(),
            slots: Vec::new(),
        }),
        symbols: Vec::new(),
        report: String::new(),
        domains: Vec::new(),
        fences: Vec::new(),
        firmware: 0x8000_0000..0x8020_0000,
        memory_size: 128 << 20,
        kept: 0,
    }
}

fn run(command: &mut Command) {
    let status = command.status().expect("binutils-riscv64-unknown-elf is installed");
    assert!(status.success(), "{command:?} failed");
}

fn guest(limit: Duration) -> Guest {
    let command = command(&image(), &Options::default(), Console::Program).unwrap();
    Guest::start(command, limit).unwrap()
}

fn script(name: &str, text: &str) -> PathBuf {
    let file = folder().join(name);
    std::fs::write(&file, text).unwrap();
    file
}

fn system_test(text: &str) -> Result<(), String> {
    let file = script(&format!("test-{:?}.toml", std::thread::current().id()), text);
    let test = SystemTest::read(&file).map_err(|error| format!("{error:#}"))?;
    test.run(&image()).map(drop).map_err(|error| format!("{error:#}"))
}

#[test]
fn all_of_several_come_in_any_order_and_with_anything_between_them() {
    let mut guest = guest(LIMIT);
    let patterns = |all: [&str; 2]| all.map(|one| Pattern::expression(one).unwrap());
    guest.wait_for(&Pattern::text("guest> ")).unwrap();
    guest.send("first").unwrap();
    guest.send(&"between ".repeat(1000)).unwrap();
    guest.send("last").unwrap();
    guest.wait_for_all(&patterns(["^guest> last$", "first"])).unwrap();
    guest.send("q").unwrap();
    // The next wait begins behind the last of them.
    let error = guest.wait_for_all(&patterns(["between", "guest>"])).unwrap_err();
    assert!(format!("{error:#}").contains("waited for /between/"), "{error:#}");
}

#[test]
fn the_status_is_the_guests_own() {
    for (line, status) in [("q", 7), ("z", 0)] {
        let mut guest = guest(LIMIT);
        guest.wait_for(&Pattern::text("guest> ")).unwrap();
        guest.send(line).unwrap();
        assert_eq!(guest.wait_for_exit().unwrap().code(), Some(status));
    }
}

#[test]
fn a_wait_finds_only_what_comes_after_the_last() {
    let mut guest = guest(LIMIT);
    let prompt = Pattern::text("guest> ");
    guest.wait_for(&prompt).unwrap();
    guest.send("one").unwrap();
    guest.wait_for(&prompt).unwrap();
    guest.send("two").unwrap();
    guest.wait_for(&Pattern::expression("t.o$").unwrap()).unwrap();
    guest.send("z").unwrap();
    let error = guest.wait_for(&Pattern::text("one")).unwrap_err();
    assert!(format!("{error:#}").contains("the guest ended"), "{error:#}");
    assert!(guest.transcript().contains("guest> one\n"), "{}", guest.transcript());
}

#[test]
fn a_wait_ends_at_the_time_limit() {
    let mut guest = guest(Duration::from_secs(2));
    let error = guest.wait_for(&Pattern::text("never printed")).unwrap_err();
    assert!(error.is::<TimeLimit>(), "{error:#}");
}

#[test]
fn a_script_types_at_each_prompt() {
    let options = Options { icount: true, ..Options::default() };
    let ends = "hello\nq\n";
    assert_eq!(scripted(&image(), &options, Some(LIMIT), None, ends).unwrap(), 7);
    let stays = "hello\n";
    assert_eq!(scripted(&image(), &options, Some(LIMIT), None, stays).unwrap(), 0);
    let no_time = Some(Duration::from_millis(1));
    assert_eq!(scripted(&image(), &options, no_time, None, ends).unwrap(), TIMED_OUT);
}

#[test]
fn devices_are_plugged_in_where_the_registers_are() {
    let kinds = [(VirtioKind::Random, 7), (VirtioKind::Network, 0), (VirtioKind::Console, 4)];
    let slots: Vec<Slot> = kinds
        .into_iter()
        .chain([(VirtioKind::Block, 2)])
        .map(|(kind, number)| Slot {
            kind,
            name: format!("virtio{number}"),
            base: 0x1000_1000 + number * 0x1000,
        })
        .collect();
    let plugged = plugged::arguments(&slots, &[], Blank::Forgotten, Path::new("demo")).unwrap();
    // Its monitor says what is where.
    let mut child = Command::new(qemu::PROGRAM)
        .args(["-machine", "virt", "-S", "-bios", "none", "-display", "none", "-serial", "none"])
        .args(["-monitor", "stdio"])
        .args(plugged)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"info qtree\nquit\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let tree = String::from_utf8_lossy(&output.stdout);
    let slot = |number: u64| -> &str {
        let start = format!("mmio {:016x}", 0x1000_1000 + number * 0x1000);
        let (_, behind) = tree.split_once(&start).unwrap_or_else(|| panic!("{start}: {tree}"));
        behind.split("dev: virtio-mmio").next().unwrap_or_default()
    };
    for (number, device) in ["net", "", "blk", "", "serial", "", "", "rng"].iter().enumerate() {
        let found = slot(number as u64);
        assert_eq!(found.contains("dev: virtio-"), !device.is_empty(), "{number}: {found}");
        assert!(found.contains(&format!("dev: virtio-{device}")) || device.is_empty(), "{found}");
    }
}

#[test]
fn a_system_test_passes_and_fails_with_the_guest() {
    let steps = "steps = [{ expect = 'guest> ' }, { send = 'q' }, { expect_match = '[pq]$' }]";
    system_test(&format!("system = 'guest'\nexit = 7\n{steps}")).unwrap();
    let error = system_test(&format!("system = 'guest'\nexit = 0\n{steps}")).unwrap_err();
    assert!(error.contains("expected exit status 0"), "{error}");
    assert!(error.contains("guest> q"), "{error}");

    let forbidden = "system = 'guest'\nsteps = [{ expect_not = 'bad' }, { expect = 'guest> ' }, \
                     { send = 'bad' }, { expect = 'guest> ' }]";
    let error = system_test(forbidden).unwrap_err();
    assert!(error.contains(".toml:2: step 4") && error.contains("forbids"), "{error}");

    let misspelt = "system = 'guest'\nsteps = [{ expects = 'guest> ' }]";
    let error = system_test(misspelt).unwrap_err();
    assert!(error.contains("line 2") && error.contains("expects"), "{error}");

    // Before anything is booted.
    let unclosed =
        "system = 'guest'\nsteps = [\n    { expect = 'never' },\n    { expect_match = '^ok(' },\n]";
    let error = system_test(unclosed).unwrap_err();
    assert!(error.contains(".toml:4: `^ok(` is not a regular expression"), "{error}");
    assert!(!error.contains("transcript"), "{error}");
}
