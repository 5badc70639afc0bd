//! Whatever an interface looks like, the client that is made for it compiles; so do new drivers, and the names that the book has.

use super::call::Items;
use super::client::fill;
use super::driver::{self, Kind};
use super::names::Names;
use crate::layout::Layout;
use crate::layout::{APPS, Contract, DRIVERS, SHARED};
use crate::{cargo, paths};
use std::path::Path;

/// Every kind of parameter and of reply that an interface can have.
const CONTRACT: &str = r#"#![no_std]
#![forbid(unsafe_code)]
use cairn::{Caller, CallerThread, Error, Now, Object, Place};

#[derive(Clone, Copy, Debug, cairn::Wire)]
pub enum Mode { Slow = 3, Fast = 300 }
#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Measurement { pub number: u64, pub time: u32, pub value: i16 }
#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Pair(pub i64, pub bool);
#[derive(Clone, Copy, Debug, cairn::Wire)]
pub struct Nested { pub pair: Pair, pub mode: Mode }
#[derive(Clone, Copy, Debug, cairn::MethodError)]
pub enum Refused { Full, Portal(Error) }

#[cairn::interface]
pub trait Nothing { fn call(&self) -> Result<(), Error>; }
#[cairn::interface]
pub trait Word { fn call(&self, small: u8, signed: i64, on: bool) -> Result<i32, Error>; }
#[cairn::interface]
pub trait Truth { fn call(&self, text: &str, bytes: &[u8], buffer: &mut [u8]) -> Result<bool, Error>; }
#[cairn::interface]
pub trait Wide { fn call(&self, caller: Caller, now: Now) -> Result<Measurement, Error>; }
#[cairn::interface]
pub trait Tuple { fn call(&self, thread: CallerThread, pair: Pair) -> Result<(u64, bool, Mode), Error>; }
#[cairn::interface]
pub trait Small { fn call(&self, mode: Mode) -> Result<Mode, Error>; }
#[cairn::interface]
pub trait Deep { fn call(&self, nested: Nested) -> Result<Nested, Refused>; }
#[cairn::interface]
pub trait Plain { fn open(&self, place: Place) -> Result<Object<dyn Word>, Error>; fn call(&self) -> Result<usize, Refused>; }
#[cairn::interface]
pub trait Opens { fn open(&self, place: Place, first: u64) -> Result<Object<dyn Word>, Refused>; }
"#;
const INTERFACES: [&str; 9] =
    ["Nothing", "Word", "Truth", "Wide", "Tuple", "Small", "Deep", "Plain", "Opens"];

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A program that uses the names that the book's table says are in the library.
fn documented_names(root: &Path) -> String {
    let book = std::fs::read_to_string(root.join("docs/components.md")).unwrap();
    let rows = book.lines().filter(|line| line.starts_with("| `cairn"));
    // In modules of their own: two crates may have one name.
    let uses: Vec<String> = rows
        .zip(0..)
        .map(|(row, number)| {
            let words: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
            format!("mod row{number} {{ use {}::{{{}}}; }}\n", words[0], words[1..].join(", "))
        })
        .collect();
    assert!(uses.len() > 6, "{uses:?}");
    format!(
        "#![no_std]\n#![no_main]\n#![allow(unused_imports)]\n{}cairn::component! {{ name: \"names\" }}\n",
        uses.concat()
    )
}

#[test]
fn a_client_of_any_interface_compiles_with_the_names_in_the_book() {
    let root = paths::source();
    // A workspace of its own, below `target`, so that nothing of the repository's is touched.
    let folder = paths::target().join("new-clients");
    let _ = std::fs::remove_dir_all(folder.join("clients"));
    let _ = std::fs::remove_dir_all(folder.join("drivers"));
    let path = |name: &str| format!("{{ path = {:?} }}", root.join(name));
    let (cairn, shared, virtio) =
        (path("lib/cairn"), path("interfaces/system"), path("lib/virtio"));
    let (drivers, apps) = (path("interfaces/drivers"), path("interfaces/apps"));
    write(
        &folder,
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"contract\", \"clients\", \"drivers\"]\n[profile.dev]\ndebug = false\n",
    );
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let package = "[package]\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    write(
        &folder,
        "contract/Cargo.toml",
        &format!("{package}name = \"new-contract\"\n[dependencies]\ncairn = {cairn}\n"),
    );
    let modules =
        "mod new_registers;\nmod new_virtio;\npub use new_registers::*;\npub use new_virtio::*;\n";
    write(&folder, "contract/src/lib.rs", &format!("{CONTRACT}{modules}"));
    for name in ["clients", "drivers"] {
        let manifest = format!(
            "{package}name = \"new-{name}\"\n[dependencies]\ncairn = {cairn}\ncairn-interfaces = {shared}\n\
             cairn-driver-interfaces = {drivers}\ncairn-app-interfaces = {apps}\n\
             new-contract = {{ path = \"../contract\" }}\ncairn-virtio = {virtio}\n"
        );
        write(&folder, &format!("{name}/Cargo.toml"), &manifest);
    }

    let own = Contract { package: "new-contract".into(), folder: "contract".into() };
    let own_items = Items::read(&folder, "contract/src").unwrap();
    let shared = [(SHARED, "system"), (DRIVERS, "drivers"), (APPS, "apps")].map(|(name, place)| {
        let items = Items::read(&root, &format!("interfaces/{place}/src")).unwrap();
        (Contract { package: name.into(), folder: format!("interfaces/{place}") }, items)
    });
    let known = crate::interfaces::own_names().unwrap().into_iter().map(|(package, name)| {
        let (contract, items) = shared.iter().find(|(one, _)| one.package == package).unwrap();
        (contract, items, name)
    });
    let layout = Layout::of_project().unwrap();
    let mut made = 0;
    let all = INTERFACES.iter().map(|name| (&own, &own_items, (*name).to_owned())).chain(known);
    for (contract, items, interface) in all {
        let call = items.call(&interface).unwrap();
        let name = format!("client-{made}");
        let names = Names::new(&name, &layout).unwrap();
        let template = include_str!("../../templates/client/main.rs.in");
        let text = fill(&names, template, "server.export", &interface, contract, &call);
        assert!(!text.contains('@'), "{text}");
        write(&folder, &format!("clients/src/bin/{name}.rs"), &text);
        made += 1;
    }
    assert!(made > 30, "{made} clients");

    for (name, kind) in [("new-virtio", Kind::Virtio), ("new-registers", Kind::Registers)] {
        let names = Names::of_driver(name, &layout).unwrap();
        let files = driver::files(&names, kind, "device");
        let text = |end: &str| &files.iter().find(|(path, _)| path.ends_with(end)).unwrap().1;
        let interface = text(&names.interface_file());
        write(&folder, &format!("contract/src/{}.rs", names.module), interface);
        // Its interface is in the crate that all share, which these tests leave alone.
        let own = &names.interface;
        let used = |package: &str| format!("use {package}::{own};");
        let main = text("main.rs").replace(&used("cairn_driver_interfaces"), &used("new_contract"));
        // A library of its own, in a module.
        let library = text("lib.rs").replace("#![no_std]\n#![forbid(unsafe_code)]\n", "");
        let in_module = main.replace(&format!("use {}::", names.fill("@crate@")), "use library::");
        let main = format!("{in_module}\nmod library {{ {} }}\n", library.replace("//!", "//"));
        write(&folder, &format!("drivers/src/bin/{name}.rs"), &main);
    }

    write(&folder, "drivers/src/bin/names.rs", &documented_names(&root));

    let run = |subcommand, package, target: &[&str]| {
        let mut command = cargo::cargo(subcommand, &folder);
        command.args(["--offline", "--bins", "--package", package]).args(target);
        command.arg("--target-dir").arg(folder.join("target"));
        if !target.is_empty() {
            cargo::with_library(&mut command);
        }
        let output = command.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{messages}{told}");
        assert!(!messages.contains("warning"), "{messages}");
        told.matches("ok. 1 passed").count()
    };
    for package in ["new-clients", "new-drivers"] {
        run("check", package, &["--target", cargo::TARGET]);
    }
    // Tests on the host; the product's has those of drivers.
    assert_eq!(run("test", "new-clients", &[]), made);
}
