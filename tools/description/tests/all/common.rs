//! What all tests of descriptions share: files partly from disk, partly made up, and a fixed set
//! of components.

use cairn_abi::descriptor::{
    ARGUMENT_BOOL, ARGUMENT_BYTES, ARGUMENT_DURATION, ARGUMENT_ENUM, ARGUMENT_KEYS,
    ARGUMENT_SIGNED, ARGUMENT_TEXT, ARGUMENT_UNSIGNED,
};
use cairn_description::{
    Board, Connected, Files, Report, Source, System, connect, content, load_from,
};
use cairn_loader::interface_text::VariantText;
use cairn_loader::{Argument, Descriptor, Export, Import, Interface, Method};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of these tests.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The files in a folder of the tests whose names end in `.toml`, sorted.
pub fn descriptions(kind: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder().join(kind)).expect("the folder exists");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths
}

/// All descriptions of the repository that are good, with their texts, and whether they are of boards.
pub fn repository() -> Vec<(PathBuf, String, bool)> {
    let root = folder().join("../../..");
    let folders = ["systems", "boards", "bench/systems", "tests", "tools/description/tests/good"];
    let files = folders.iter().flat_map(|folder| below(&root.join(folder)));
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let has = |header: &str| text.lines().any(|line| line == header);
        let is_board = has("[board]");
        (is_board || has("[system]")).then_some((path, text, is_board))
    };
    files.filter_map(read).collect()
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("readable");
    let entry = |entry: io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("readable");
        match entry.file_type().expect("known").is_dir() {
            true => below(&entry.path()),
            false => vec![entry.path()],
        }
    };
    entries.flat_map(entry).collect()
}

/// The tests' folder as a repository, one file replaced, components made up.
pub struct Tree {
    pub path: String,
    pub text: String,
    pub components: BTreeMap<String, Descriptor>,
}

impl Tree {
    pub fn new(path: &str, text: &str) -> Tree {
        Tree { path: path.to_owned(), text: text.to_owned(), components: components() }
    }
}

impl Files for Tree {
    fn read(&self, path: &str) -> io::Result<String> {
        if path == self.path {
            return Ok(self.text.clone());
        }
        std::fs::read_to_string(folder().join(path))
    }

    fn list(&self, name: &str) -> Vec<String> {
        if name.starts_with("components/") || name == "examples" {
            let names = self.components.keys();
            let prefix = format!("{name}/");
            return names
                .filter_map(|key| key.strip_prefix(prefix.as_str()))
                .map(Into::into)
                .collect();
        }
        let Ok(entries) = std::fs::read_dir(folder().join(name)) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.expect("readable").file_name().into_string());
        let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
        names.sort();
        names
    }

    fn content_size(&self, path: &str) -> io::Result<Option<u64>> {
        content::size(&folder().join(path))
    }

    fn is_component(&self, path: &str) -> bool {
        self.components.contains_key(path) || path == "components/apps/unbuilt"
    }
}

/// Loads and connects the description `text`, as if it were the file `path`.
pub fn check(path: &str, text: &str) -> Result<(System, Connected), Report> {
    let tree = Tree::new(path, text);
    let system = load_from(&tree, path, None)?;
    let connected = connect(&system, |folder| tree.components.get(folder))?;
    Ok((system, connected))
}

/// Checks a file's text as what its name says: `board-*` are boards.
pub fn check_any(path: &str, text: &str) -> Result<(), Report> {
    if path.rsplit('/').next().is_some_and(|name| name.starts_with("board-")) {
        Board::parse(&Source::new(path, text)).map(|_| ())
    } else {
        check(path, text).map(|_| ())
    }
}

fn interface(name: &str) -> Interface {
    // A letter behind `@` stands for another version of the same interface.
    let (base, version) = name.split_once('@').unwrap_or((name, ""));
    let methods: &[(&str, &str)] = match (base, version) {
        ("Scheduler", _) => &[("yield_now", "c"), ("sleep", "ci")],
        ("Echo", "method") => &[("add", "cii"), ("length", "cr")],
        ("Echo", "letters") => &[("add", "ciii")],
        // A hostile component, which says the version of others.
        ("Echo", "\0") => &[("add", "cr")],
        ("Echo", "fewer") => &[],
        ("Echo", "renamed") => &[("sum", "cii")],
        ("Echo", _) => &[("add", "cii")],
        ("Console", _) => &[("write", "cr"), ("read", "cw")],
        _ => &[("call", "c")],
    };
    let method = |name: &str, letters: &str| Method {
        name: name.into(),
        letters: letters.into(),
        value: 0,
        entry: 0,
    };
    let mut methods: Vec<Method> =
        methods.iter().map(|(name, letters)| method(name, letters)).collect();
    if base == "Huge" {
        methods = (0..500).map(|number| method(&format!("m{number}"), "c")).collect();
    }
    let version = 0x1000 + version.bytes().map(u64::from).sum::<u64>();
    Interface { name: base.into(), version, methods }
}

/// `imports` and `exports` are "name: Interface" words; an export with `*` is an object's, an
/// import with `+` is minimal, with `?` optional.
fn component(has_main: bool, imports: &[&str], exports: &[&str]) -> Descriptor {
    let split = |text: &str| {
        let (name, of) = text.split_once(": ").expect("name: Interface");
        (name.to_owned(), interface(of))
    };
    let import = |text: &&str| {
        let (name, interface) = split(text.trim_start_matches(['+', '?']));
        Import {
            name,
            first_portal: 0,
            is_minimal: text.starts_with('+'),
            is_optional: text.starts_with('?'),
            interface,
        }
    };
    let export = |text: &&str| {
        let (name, interface) = split(text.trim_start_matches('*'));
        Export { name, is_object: text.starts_with('*'), interface }
    };
    Descriptor {
        name: String::new(),
        main: has_main.then_some(0x1_0000),
        imports: imports.iter().map(import).collect(),
        exports: exports.iter().map(export).collect(),
        arguments: Vec::new(),
        texts: Vec::new(),
        is_thread_local: false,
        says_ready: false,
    }
}

/// One with an argument of each kind, of which that number and the second text can be left out.
fn given() -> Descriptor {
    let variant = |name: &str| VariantText {
        name: name.into(),
        documentation: Vec::new(),
        code: name.len() as i64,
    };
    let argument = |(name, kind, default): (&str, u32, Option<u64>)| Argument {
        name: name.into(),
        kind,
        default,
        variants: match kind {
            ARGUMENT_ENUM => ["Slow", "Fast"].map(variant).into(),
            _ => Vec::new(),
        },
    };
    let arguments = [
        ("size", ARGUMENT_UNSIGNED, None),
        ("level", ARGUMENT_SIGNED, Some(-3i64 as u64)),
        ("loud", ARGUMENT_BOOL, None),
        ("period", ARGUMENT_DURATION, None),
        ("title", ARGUMENT_TEXT, None),
        ("motto", ARGUMENT_TEXT, Some(0)),
        ("room", ARGUMENT_BYTES, Some(4096)),
        ("speed", ARGUMENT_ENUM, Some(4)),
        ("trusts", ARGUMENT_KEYS, Some(0)),
    ];
    Descriptor {
        arguments: arguments.into_iter().map(argument).collect(),
        ..component(true, &[], &[])
    }
}

/// The components that the tests' descriptions are made of, by folder.
pub fn components() -> BTreeMap<String, Descriptor> {
    let all = [
        ("components/system/scheduler", component(false, &[], &["scheduler: Scheduler"])),
        ("components/system/interrupts", component(false, &[], &["interrupts: Interrupts"])),
        ("components/system/supervisor", component(true, &["scheduler: Scheduler"], &[])),
        ("components/system/idle", component(true, &[], &[])),
        (
            "components/system/memory",
            component(true, &["scheduler: Scheduler"], &["memory: Memory"]),
        ),
        ("components/system/portals", component(true, &["memory: Memory"], &["portals: Portals"])),
        ("components/system/names", component(false, &["portals: Portals"], &["names: Names"])),
        (
            "components/drivers/console",
            component(true, &["+scheduler: Scheduler"], &["console: Console", "*line: Line"]),
        ),
        ("components/apps/echo", component(false, &[], &["echo: Echo", "*stream: Stream"])),
        (
            "components/apps/stateful",
            component(false, &[], &["echo: Echo", "successor: Successor"]),
        ),
        ("components/apps/echo-method", component(false, &[], &["echo: Echo@method"])),
        ("components/apps/echo-letters", component(false, &[], &["echo: Echo@letters"])),
        ("components/apps/echo-hostile", component(false, &[], &["echo: Echo@\0"])),
        ("components/apps/echo-fewer", component(false, &[], &["echo: Echo@fewer"])),
        ("components/apps/echo-renamed", component(false, &[], &["echo: Echo@renamed"])),
        ("components/apps/echo-types", component(false, &[], &["echo: Echo@types"])),
        ("components/apps/client", component(true, &["+echo: Echo"], &[])),
        (
            "components/apps/hub",
            component(true, &["relay: Echo", "echo1: Echo", "echo2: Echo", "?echo3: Echo"], &[]),
        ),
        ("components/apps/choosy", component(true, &["?one: Echo", "?other: Echo"], &[])),
        (
            "components/apps/both",
            component(false, &["next: Echo", "?other: Echo"], &["echo: Echo"]),
        ),
        ("components/apps/given", given()),
        (
            "components/apps/local",
            Descriptor { is_thread_local: true, ..component(true, &[], &[]) },
        ),
        ("components/apps/relay", component(false, &["next: Echo"], &["echo: Echo"])),
        (
            "components/apps/starting",
            Descriptor { says_ready: true, ..component(true, &[], &["echo: Echo"]) },
        ),
        ("components/apps/kept", component(false, &[], &["in_place: InPlace"])),
        ("components/apps/pager", component(false, &[], &["pager: Pager"])),
        ("components/apps/plain", component(true, &[], &[])),
        ("components/apps/twin", component(true, &[], &[])),
        ("components/drivers/twin", component(true, &[], &[])),
        ("components/apps/huge", component(true, &["huge: Huge"], &["huge: Huge"])),
        ("components/apps/commanded", component(false, &[], &["control: Supervision"])),
        (
            "components/apps/owner",
            component(true, &[], &["control: DeviceControl", "devices: Devices"]),
        ),
        (
            "components/apps/chief",
            component(true, &["?devices: DeviceControl"], &["supervisor: Supervisor"]),
        ),
        ("components/apps/commander", component(true, &["control: Supervision"], &[])),
        ("components/apps/lonely", component(true, &["nobody: Nobody"], &[])),
        ("examples/hello-c", component(true, &["console: Console"], &[])),
    ];
    all.map(|(folder, component)| (folder.to_owned(), component)).into()
}
