//! The set-up scripts decide rightly, shown on a machine of fakes: in its PATH are a few harmless
//! tools and what a test puts there, and each fake writes down how it was called.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the scripts may use of the real machine.
const TOOLS: &[&str] =
    &["sh", "sed", "tr", "grep", "dirname", "mkdir", "chmod", "rm", "cat", "cp", "sha256sum"];
/// The last of those that are pinned.
const TARGET: &str = "riscv32imac-unknown-none-elf";

/// Installs: from then on, what `rustc-web` has is there.
const APT: &str = r#"case "$*" in *rustc-web*) printf '#!/bin/sh\necho LLVM version: 22.1\n' >$R/usr/bin/rustc; chmod +x $R/usr/bin/rustc;; esac"#;
/// Has the toolchain, and its targets once they were installed.
const RUSTUP: &str = r#"case "$1 $2" in
"target list") cat $R/targets 2>/dev/null;;
"target add") shift 4; for one; do echo $one >>$R/targets; done;;
which*) echo /toolchains/$3/bin/rustc;;
esac"#;
/// Fetches a program that makes a rustup, as rustup's own installer does.
const CURL: &str = r#"while [ "$1" != --output ]; do shift; done
cp $R/rustup-init "$2""#;

struct Machine {
    root: PathBuf,
}

struct Ended {
    code: i32,
    out: String,
    err: String,
    calls: String,
}

impl Machine {
    /// A machine with apt-get, whose user is root.
    fn new(name: &str) -> Machine {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("setup").join(name);
        let _ = fs::remove_dir_all(&root);
        let machine = Machine { root };
        let setup = machine.root.join("cairn/tools/cairn/setup");
        for folder in ["cairn/tools/cairn/setup", "bin", "usr/bin", "var/lib/dpkg/info", "home"] {
            fs::create_dir_all(machine.root.join(folder)).unwrap();
        }
        let real = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::copy(
            real.join("../../rust-toolchain.toml"),
            machine.root.join("cairn/rust-toolchain.toml"),
        )
        .unwrap();
        for script in ["packages.sh", "rust.sh", "fetch-rustup.sh", "members.sh"] {
            let here = machine.root.display();
            let text = fs::read_to_string(real.join("setup").join(script)).unwrap();
            // Absolute paths lead into the machine of fakes, too.
            let text = text.replace("/usr/bin/", &format!("{here}/usr/bin/"));
            let text = text.replace("/var/lib/", &format!("{here}/var/lib/"));
            program(&setup.join(script), &text);
        }
        for tool in TOOLS {
            let path = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
            let path = path
                .iter()
                .find(|path| path.exists())
                .unwrap_or_else(|| panic!("there is no {tool}"));
            symlink(path, machine.root.join("bin").join(tool)).unwrap();
        }
        machine.fake("apt-get", APT).fake("id", "echo 0").fake("uname", "echo x86_64")
    }

    /// Puts a program into PATH that writes down its call, then runs `body`.
    fn fake(self, name: &str, body: &str) -> Machine {
        let root = self.root.display();
        let note =
            if name == "id" || name == "uname" { "" } else { "echo \"${0##*/} $*\" >>$R/calls" };
        program(
            &self.root.join("bin").join(name),
            &format!("#!/bin/sh\nR={root}\n{note}\n{body}\n"),
        );
        self
    }

    fn without(self, name: &str) -> Machine {
        fs::remove_file(self.root.join("bin").join(name)).unwrap();
        self
    }

    /// curl and the program that it fetches, with its checksum in the script if `expected`.
    fn with_fetching(self, expected: bool) -> Machine {
        let root = self.root.display();
        let rustup = format!("#!/bin/sh\nR={root}\necho \"own rustup $*\" >>$R/calls\n{RUSTUP}\n");
        program(&self.root.join("own-rustup"), &rustup);
        let install = "mkdir -p \"$CARGO_HOME/bin\" && cp $R/own-rustup \"$CARGO_HOME/bin/rustup\"";
        let file = self.root.join("rustup-init");
        program(
            &file,
            &format!("#!/bin/sh\nR={root}\necho \"rustup-init $*\" >>$R/calls\n{install}\n"),
        );
        if expected {
            let sum = Command::new("sha256sum").arg(&file).output().unwrap();
            let sum = String::from_utf8(sum.stdout).unwrap();
            let sum = sum.split(' ').next().unwrap();
            let script = self.root.join("cairn/tools/cairn/setup/fetch-rustup.sh");
            let text = fs::read_to_string(&script).unwrap();
            let line =
                text.lines().find(|line| line.trim_start().starts_with("checksum=")).unwrap();
            program(&script, &text.replacen(line, &format!("checksum={sum}"), 1));
        }
        self.fake("curl", CURL)
    }

    fn run(&self, script: &str, arguments: &[&str], rust: Option<&str>) -> Ended {
        let _ = fs::remove_file(self.root.join("calls"));
        let mut command = Command::new(self.root.join("cairn/tools/cairn/setup").join(script));
        command.args(arguments).env_clear().env("PATH", self.root.join("bin"));
        command.env("HOME", self.root.join("home"));
        if let Some(rust) = rust {
            command.env("CAIRN_RUST", rust);
        }
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        Ended {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            calls: fs::read_to_string(self.root.join("calls")).unwrap_or_default(),
        }
    }

    fn decide(&self, rust: Option<&str>) -> Ended {
        self.run("rust.sh", &[], rust)
    }
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

impl Ended {
    #[track_caller]
    fn chose_rustup(&self) {
        assert_eq!(self.code, 0, "{}", self.err);
        assert!(
            self.out.starts_with("export CAIRN_RUST=rustup CAIRN_CARGO=\"/toolchains/1."),
            "{}",
            self.out
        );
        assert!(!self.calls.contains("apt-get"), "{}", self.calls);
    }

    #[track_caller]
    fn chose_debian(&self) {
        assert_eq!(self.code, 0, "{}", self.err);
        assert!(self.out.starts_with("export CAIRN_RUST=debian CAIRN_CARGO=/"), "{}", self.out);
        assert!(self.out.trim_end().ends_with("CAIRN_LINKER=ld.lld-22"), "{}", self.out);
        let packages = "install -y --no-install-recommends rustc-web cargo-web rust-web-src\n";
        assert!(self.calls.contains(packages), "{}", self.calls);
        assert!(
            self.calls.contains("install -y --no-install-recommends lld-22\n"),
            "{}",
            self.calls
        );
    }
}

#[test]
fn a_rustup_in_path_installs_the_target_once() {
    let machine = Machine::new("in-path").fake("rustup", RUSTUP);
    let first = machine.decide(None);
    first.chose_rustup();
    assert!(first.calls.contains("rustup toolchain install 1."), "{}", first.calls);
    assert!(first.calls.contains(TARGET), "{}", first.calls);
    let second = machine.decide(None);
    second.chose_rustup();
    assert!(!second.calls.contains(" install "), "{}", second.calls);
}

#[test]
fn a_rustup_outside_path_is_found_at_home() {
    let machine = Machine::new("at-home").fake("rustup", RUSTUP);
    fs::create_dir_all(machine.root.join("home/.cargo/bin")).unwrap();
    fs::rename(machine.root.join("bin/rustup"), machine.root.join("home/.cargo/bin/rustup"))
        .unwrap();
    machine.decide(None).chose_rustup();
}

#[test]
fn a_missing_rustup_is_fetched_into_the_repository() {
    let machine = Machine::new("fetched").with_fetching(true);
    let ended = machine.decide(None);
    ended.chose_rustup();
    assert!(ended.calls.contains("rustup-init -y --quiet --no-modify-path"), "{}", ended.calls);
    assert!(machine.root.join("cairn/.cairn/rustup/bin/rustup").exists());
    assert_eq!(
        fs::read_dir(machine.root.join("home")).unwrap().count(),
        0,
        "it wrote to the home folder"
    );
    let second = machine.decide(None);
    second.chose_rustup();
    assert!(!second.calls.contains("curl"), "{}", second.calls);
}

#[test]
fn a_download_with_another_checksum_is_not_run() {
    let ended = Machine::new("checksum").with_fetching(false).decide(None);
    ended.chose_debian();
    assert!(!ended.calls.contains("rustup-init -y"), "{}", ended.calls);
    assert!(ended.err.contains("does not have the expected checksum"), "{}", ended.err);
}

#[test]
fn debian_takes_over_where_rustup_fails() {
    let without_network = Machine::new("no-network").fake("curl", "exit 6").decide(None);
    without_network.chose_debian();
    assert!(without_network.err.contains("cannot fetch https://"), "{}", without_network.err);
    let without_curl = Machine::new("no-curl").decide(None);
    without_curl.chose_debian();
    assert!(without_curl.err.contains("curl is missing"), "{}", without_curl.err);
    let without_target = Machine::new("no-target").fake("rustup", "exit 1").decide(None);
    without_target.chose_debian();
    assert!(without_target.err.contains("rustup cannot install Rust 1."), "{}", without_target.err);
    let elsewhere = Machine::new("elsewhere").fake("uname", "echo s390x").decide(None);
    elsewhere.chose_debian();
    assert!(elsewhere.err.contains("s390x"), "{}", elsewhere.err);
}

#[test]
fn one_way_can_be_forced() {
    Machine::new("forced-debian").fake("rustup", RUSTUP).decide(Some("debian")).chose_debian();
    let rustup = Machine::new("forced-rustup").fake("rustup", "exit 1").decide(Some("rustup"));
    assert_eq!(rustup.code, 1);
    assert!(!rustup.calls.contains("apt-get"), "{}", rustup.calls);
    let wrong = Machine::new("forced-wrong").decide(Some("gentoo"));
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("'gentoo', expected 'rustup' or 'debian'"), "{}", wrong.err);
}

#[test]
fn a_folder_that_is_no_package_is_named_with_what_to_do() {
    let machine = Machine::new("members");
    let root = machine.root.join("cairn");
    let manifest = "[workspace]\nmembers = [\"abi\", \"components/*/*\"]\nexclude = [\"components/c/three\"]\n";
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    for (folder, file) in [
        ("abi", "Cargo.toml"),
        ("components/apps/rust", "Cargo.toml"),
        ("components/apps/in-c", "component.toml"),
        ("components/apps/left", "notes"),
        ("components/c/three", "component.toml"),
    ] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join(file), "").unwrap();
    }
    let ended = machine.run("members.sh", &[root.to_str().unwrap()], None);
    let lines: Vec<&str> = ended.err.lines().collect();
    assert_eq!((ended.code, lines.len()), (0, 2), "{}", ended.err);
    assert!(
        lines[0].starts_with("cairn: components/apps/in-c is a component in C"),
        "{}",
        lines[0]
    );
    assert!(lines[0].ends_with("exclude = [\"components/apps/in-c\"]"), "{}", lines[0]);
    assert!(lines[1].starts_with("cairn: components/apps/left has no Cargo.toml"), "{}", lines[1]);
    // The workspace itself has none.
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    assert_eq!(machine.run("members.sh", &[real], None).err, "");
}

const NEEDS: &[&str] =
    &["cat:coreutils", "no-such-tool:tool-package", "/no/such/file:file-package"];
const LINE: &str = "apt-get install -y --no-install-recommends tool-package file-package";

#[test]
fn what_is_missing_is_installed_as_root() {
    let machine = Machine::new("as-root");
    let ended = machine.run("packages.sh", NEEDS, None);
    assert_eq!((ended.code, ended.calls.trim_end()), (0, LINE));
    let nothing = machine.run("packages.sh", &["cat:coreutils"], None);
    assert_eq!((nothing.code, nothing.calls.as_str(), nothing.err.as_str()), (0, "", ""));
}

#[test]
fn a_first_failure_refreshes_the_lists() {
    let refreshing = r#"case $1 in update) : >$R/fresh;; *) [ -e $R/fresh ];; esac"#;
    let ended =
        Machine::new("old-lists").fake("apt-get", refreshing).run("packages.sh", NEEDS, None);
    assert_eq!((ended.code, ended.calls), (0, format!("{LINE}\napt-get update\n{LINE}\n")));
    let failing =
        Machine::new("no-package").fake("apt-get", "exit 100").run("packages.sh", NEEDS, None);
    assert_eq!(failing.code, 1);
    assert!(failing.err.contains(LINE), "{}", failing.err);
}

#[test]
fn others_need_sudo_or_are_told_the_line() {
    let sudo =
        Machine::new("sudo").fake("id", "echo 1000").fake("sudo", "[ \"$1\" = -n ] || \"$@\"");
    let ended = sudo.run("packages.sh", NEEDS, None);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.calls.contains("sudo apt-get install"), "{}", ended.calls);

    for (name, machine) in [
        ("without sudo", Machine::new("nobody").fake("id", "echo 1000")),
        (
            "sudo asks, but nobody is there",
            Machine::new("asks").fake("id", "echo 1000").fake("sudo", "exit 1"),
        ),
    ] {
        let ended = machine.run("packages.sh", NEEDS, None);
        assert_eq!(ended.code, 1, "{name}");
        assert!(!ended.calls.contains("apt-get"), "{name}: {}", ended.calls);
        assert!(
            ended.err.contains(&format!("    apt-get update && {LINE}\n")),
            "{name}: {}",
            ended.err
        );
    }
    let foreign = Machine::new("foreign").without("apt-get").run("packages.sh", NEEDS, None);
    assert_eq!(foreign.code, 1);
    assert!(foreign.err.contains("not a Debian system"), "{}", foreign.err);
}

#[test]
fn a_build_that_nobody_sees_says_that_it_goes_on() {
    let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("setup");
    let patiently = |command: &str| {
        let mut patiently = Command::new(setup.join("patiently.sh"));
        patiently.env("CAIRN_PATIENCE", "1").args(["the thing", "sh", "-c", command]);
        let begun = Instant::now();
        // It waits until nobody has the pipe any more.
        let output = patiently.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), begun.elapsed())
    };
    let (status, said, _) = patiently("sleep 2.5; echo done >&2; exit 7");
    assert_eq!(status, Some(7));
    let expected = "cairn: building the thing, for 1 s\ncairn: building the thing, for 2 s\ndone\n";
    assert_eq!(said, expected);
    let (status, said, time) = patiently("true");
    assert_eq!((status, &*said), (Some(0), ""));
    assert!(time < Duration::from_millis(900), "{time:?}");
}
