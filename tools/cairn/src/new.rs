//! `./cairn new component NAME`, `./cairn new client NAME SERVER`, `./cairn new driver NAME --device DEVICE`: a component that
//! builds, runs and is tested.

#[cfg(test)]
mod built;
mod call;
mod client;
mod driver;
mod names;

use anyhow::{Context, Result, bail};
pub use client::client;
pub use driver::driver;
use names::Names;
use std::path::Path;
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// The system that a new component becomes a part of.
const SYSTEM: &str = "systems/demo.toml";
const INTERFACES: &str = "interfaces/src/lib.rs";
const ALL_INTERFACES: &str = "interfaces/src/all.rs";

/// Makes the component `name` in the repository at `root`; returns what to tell the user.
pub fn component(root: &Path, name: &str) -> Result<String> {
    let names = Names::new(name)?;
    let Names { module, interface, .. } = &names;
    let files = [
        (
            format!("components/apps/{name}/Cargo.toml"),
            include_str!("../templates/component/Cargo.toml.in"),
        ),
        (
            format!("components/apps/{name}/src/main.rs"),
            include_str!("../templates/component/main.rs.in"),
        ),
        (
            format!("components/apps/{name}/README.md"),
            include_str!("../templates/component/README.md.in"),
        ),
        (
            format!("interfaces/src/{module}.rs"),
            include_str!("../templates/component/interface.rs.in"),
        ),
        (format!("tests/{name}/test.toml"), include_str!("../templates/component/test.toml.in")),
    ];
    names.refuse_folders(root)?;
    let interface_file = format!("interfaces/src/{module}.rs");
    names.refuse_path(root, &interface_file)?;
    names.refuse_taken(root)?;
    let mut files: Vec<(String, String)> =
        files.into_iter().map(|(path, template)| (path, names.fill(template))).collect();
    files.push((SYSTEM.to_owned(), with_instance(&read(root, SYSTEM)?, &names)?));
    files.push((INTERFACES.to_owned(), with_module(&read(root, INTERFACES)?, module)));
    files.push((
        ALL_INTERFACES.to_owned(),
        with_interface(&read(root, ALL_INTERFACES)?, interface)?,
    ));
    let rows = vec![
        ("made", format!("components/apps/{name}/"), "the component".to_owned()),
        ("made", interface_file, format!("its interface, {interface}")),
        ("made", format!("tests/{name}/test.toml"), "its test".to_owned()),
        ("added", format!("[instance.{name}]"), format!("to {SYSTEM}")),
        ("next", "./cairn run".to_owned(), format!("in the shell: call {name} double 21")),
        ("", format!("./cairn test {name}"), "runs its test".to_owned()),
    ];
    write_all(root, Made { files, rows })
}

/// What is new.
struct Made {
    /// Paths from the root, with what is in them. All are made before any is written, so that an error leaves nothing
    /// behind.
    files: Vec<(String, String)>,
    /// What to tell the user: a verb, what, a remark.
    rows: Vec<(&'static str, String, String)>,
}

/// Writes what is new; returns what to tell the user.
fn write_all(root: &Path, made: Made) -> Result<String> {
    for (path, text) in made.files {
        let path = root.join(path);
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let width = made.rows.iter().map(|(_, what, _)| what.len()).max().unwrap_or(0);
    let line = |(verb, what, text): &(&str, String, String)| {
        let gap = if *verb == "next" { "\n" } else { "" };
        format!("{gap}{verb:<7}{what:<width$}    {text}\n")
    };
    Ok(made.rows.iter().map(line).collect())
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path))
        .with_context(|| format!("cannot read {path}, to which the component has to be added"))
}

/// The description with an instance of the component, everything else as it was.
fn with_instance(text: &str, names: &Names) -> Result<String> {
    let mut document: DocumentMut = text.parse().with_context(|| SYSTEM.to_owned())?;
    let mut export = Table::new();
    export["open"] = value(Array::from_iter(["shell"]));
    let mut exports = Table::new();
    exports.set_implicit(true);
    exports.insert(&names.module, Item::Table(export));
    let mut instance = Table::new();
    instance["component"] = value(names.name);
    instance["memory"] = value("128K");
    instance["threads"] = value(0);
    instance["restart"] = value("on-fault");
    instance.insert("exports", Item::Table(exports));
    add_instance(&mut document, names.name, instance)?;
    Ok(document.to_string())
}

/// Adds an instance at the end of a description that does not have it.
fn add_instance(document: &mut DocumentMut, name: &str, mut instance: Table) -> Result<()> {
    let instances = document
        .get_mut("instance")
        .and_then(Item::as_table_mut)
        .with_context(|| format!("{SYSTEM} has no tables [instance.NAME]"))?;
    if instances.contains_key(name) {
        bail!("{SYSTEM} has an instance `{name}` already; choose another name, or remove it");
    }
    instance.decor_mut().set_prefix("\n");
    instances.insert(name, Item::Table(instance));
    Ok(())
}

/// The list of interfaces with one more, in alphabetical order.
fn with_module(text: &str, module: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (before, after) in [("mod ", ";"), ("pub use ", "::*;")] {
        let line = format!("{before}{module}{after}");
        let at = lines
            .iter()
            .position(|one| one.starts_with(before) && *one > line)
            .or_else(|| lines.iter().rposition(|one| one.starts_with(before)).map(|last| last + 1))
            .unwrap_or(lines.len());
        lines.insert(at, line);
    }
    lines.join("\n") + "\n"
}

/// The list of all interfaces with one more, in alphabetical order.
fn with_interface(text: &str, interface: &str) -> Result<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = format!("    {interface},");
    let first = lines.iter().position(|one| one == "all! {").map(|before| before + 1);
    let first = first.with_context(|| format!("{ALL_INTERFACES} has no line `all! {{`"))?;
    let at = lines[first..].iter().position(|one| *one > line || one == "}");
    lines.insert(first + at.with_context(|| format!("{ALL_INTERFACES}: `all!` has no end"))?, line);
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_added_in_order() {
        let text = "//! Doc.\nmod a;\nmod c;\n\npub use a::*;\npub use c::*;\n";
        let between =
            "//! Doc.\nmod a;\nmod b;\nmod c;\n\npub use a::*;\npub use b::*;\npub use c::*;\n";
        assert_eq!(with_module(text, "b"), between);
        let last =
            "//! Doc.\nmod a;\nmod c;\nmod d;\n\npub use a::*;\npub use c::*;\npub use d::*;\n";
        assert_eq!(with_module(text, "d"), last);
    }

    #[test]
    fn an_interface_is_added_in_order() {
        let text = "fn x() {}\nall! {\n    B,\n    D,\n}\n";
        assert_eq!(
            with_interface(text, "C").unwrap(),
            "fn x() {}\nall! {\n    B,\n    C,\n    D,\n}\n"
        );
        assert_eq!(
            with_interface(text, "E").unwrap(),
            "fn x() {}\nall! {\n    B,\n    D,\n    E,\n}\n"
        );
        assert!(with_interface("", "E").is_err());
    }

    #[test]
    fn an_instance_is_added_and_the_rest_stays() {
        let text = "[system] # here\nname   = 'demo'\n\n[instance.shell]\ncomponent = \"shell\"  # shell\n";
        let added = with_instance(text, &Names::new("new-one").unwrap()).unwrap();
        let expected = "\n[instance.new-one]\ncomponent = \"new-one\"\nmemory = \"128K\"\nthreads = 0\n\
                        restart = \"on-fault\"\n\n[instance.new-one.exports.new_one]\nopen = [\"shell\"]\n";
        assert_eq!(added, format!("{text}{expected}"));
        let error = with_instance(text, &Names::new("shell").unwrap()).unwrap_err();
        assert!(format!("{error}").contains("already"));
    }

    #[test]
    fn nothing_is_overwritten_and_an_error_leaves_nothing() {
        let root = std::env::temp_dir().join(format!("cairn-new-{}", std::process::id()));
        for folder in ["systems", "interfaces/src"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("Cargo.toml"), "[workspace]\nmembers = ['components/*/*']\n")
            .unwrap();
        std::fs::write(root.join(INTERFACES), "mod echo;\n\npub use echo::*;\n").unwrap();
        std::fs::write(root.join(ALL_INTERFACES), "all! {\n    Echo,\n}\n").unwrap();
        assert!(component(&root, "adder").is_err(), "there is no description");
        assert!(!root.join("components").exists());
        std::fs::write(root.join(SYSTEM), "[instance.shell]\ncomponent = 'shell'\n").unwrap();
        for folder in ["shelf", "shelf-two"] {
            // A component in a folder of another name than its package's.
            std::fs::create_dir_all(root.join("components/apps").join(folder)).unwrap();
            let manifest = root.join("components/apps").join(folder).join("Cargo.toml");
            std::fs::write(manifest, format!("[package]\nname = 'cairn-in-{folder}'\n")).unwrap();
        }
        let error = component(&root, "in-shelf").unwrap_err().to_string();
        assert!(error.contains("which components/apps/shelf has already"), "{error}");
        assert!(!root.join("interfaces/src/in_shelf.rs").exists());
        component(&root, "adder").unwrap();
        for file in [
            "components/apps/adder/src/main.rs",
            "interfaces/src/adder.rs",
            "tests/adder/test.toml",
        ] {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            assert!(!text.contains('@'), "{text}");
        }
        crate::system_tests::SystemTest::read(&root.join("tests/adder/test.toml")).unwrap();
        assert!(component(&root, "adder").is_err(), "it exists");
        std::fs::remove_dir_all(root).unwrap();
    }
}
