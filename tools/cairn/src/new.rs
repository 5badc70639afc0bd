//! `./cairn new component NAME`, `./cairn new client NAME SERVER`, `./cairn new driver NAME --device DEVICE`: a component that
//! builds, runs and is tested. `./cairn new interface NAME`: what such components call each other by. `./cairn new product DIR`: a
//! workspace for them.

#[cfg(test)]
mod built;
mod call;
mod client;
mod driver;
mod names;
mod product;

use crate::layout::Layout;
use anyhow::{Context, Result, bail};
pub use client::client;
pub use driver::driver;
use names::Names;
pub use product::{Cairn, product};
use std::path::Path;
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// Makes the component `name` in a project; returns what to tell the user.
pub fn component(layout: &Layout, name: &str) -> Result<String> {
    write_all(&layout.root, made_component(layout, name)?)
}

fn made_component(layout: &Layout, name: &str) -> Result<Made> {
    let names = Names::new(name, layout)?;
    let interface = &names.interface;
    let interface_file = names.interface_file();
    let root = &layout.root;
    let folder = format!("{}/{name}", layout.components);
    let system = layout.system_file();
    let files = [
        (format!("{folder}/Cargo.toml"), include_str!("../templates/component/Cargo.toml.in")),
        (format!("{folder}/src/main.rs"), include_str!("../templates/component/main.rs.in")),
        (format!("{folder}/README.md"), include_str!("../templates/component/README.md.in")),
        (interface_file.clone(), INTERFACE),
        (format!("tests/{name}/test.toml"), include_str!("../templates/component/test.toml.in")),
    ];
    names.refuse_folders()?;
    names.refuse_taken()?;
    let mut files: Vec<(String, String)> =
        files.into_iter().map(|(path, template)| (path, names.fill(template))).collect();
    files.push((system.clone(), with_instance(&read(root, &system)?, &names)?));
    files.push(declared(root, &names)?);
    files.extend(with_member(root, &folder)?);
    let rows = vec![
        ("made", format!("{folder}/"), "the component".to_owned()),
        ("made", interface_file, format!("its interface, {interface}")),
        ("made", format!("tests/{name}/test.toml"), "its test".to_owned()),
        ("added", format!("[instance.{name}]"), format!("to {system}")),
        ("next", "./cairn run".to_owned(), format!("in the shell: call {name} double 21")),
        ("", format!("./cairn test {name}"), "runs its test".to_owned()),
    ];
    Ok(Made { files, rows })
}

/// An interface to begin with.
const INTERFACE: &str = include_str!("../templates/component/interface.rs.in");

/// Makes an interface in a project, which nobody serves yet; returns what to tell the user.
pub fn interface(layout: &Layout, name: &str) -> Result<String> {
    let names = Names::new(name, layout)?;
    names.refuse_interface()?;
    let Names { module, interface, .. } = &names;
    let file = names.interface_file();
    let contract = names.contract.package.replace('-', "_");
    let rows = vec![
        ("made", file.clone(), format!("the interface {interface}")),
        (
            "next",
            format!("use {contract}::{interface};"),
            format!(
                "in a component: exports: {{ {module}: {interface} = SERVER }}, or imports: {{ {module}: {interface} }}"
            ),
        ),
    ];
    let files = vec![(file, names.fill(INTERFACE)), declared(&layout.root, &names)?];
    write_all(&layout.root, Made { files, rows })
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
    write_files(root, made.files)?;
    Ok(told(&made.rows))
}

pub(crate) fn write_files(root: &Path, files: Vec<(String, String)>) -> Result<()> {
    for (path, text) in files {
        let path = root.join(path);
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn told(rows: &[(&'static str, String, String)]) -> String {
    let width = rows.iter().map(|(_, what, _)| what.len()).max().unwrap_or(0);
    let line = |(verb, what, text): &(&str, String, String)| {
        let gap = if *verb == "next" { "\n" } else { "" };
        let line = format!("{gap}{verb:<7}{what:<width$}    {text}");
        line.trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path))
        .with_context(|| format!("cannot read {path}, to which the component has to be added"))
}

/// The root of the crate of interfaces, with one more module.
fn declared(root: &Path, names: &Names) -> Result<(String, String)> {
    let file = names.contract.root_file();
    let text = with_module(&read(root, &file)?, &names.module);
    Ok((file, text))
}

/// The manifest of the workspace with one more member, unless a pattern of `members` is surely for it already. One that is
/// named twice is no mistake.
fn with_member(root: &Path, folder: &str) -> Result<Option<(String, String)>> {
    const MANIFEST: &str = "Cargo.toml";
    let mut manifest: DocumentMut =
        read(root, MANIFEST)?.parse().with_context(|| MANIFEST.to_owned())?;
    let members = inner(manifest.as_table_mut(), "workspace")
        .and_then(|workspace| {
            workspace.entry("members").or_insert(value(Array::new())).as_array_mut()
        })
        .with_context(|| format!("{MANIFEST}: `members` of [workspace] is no list"))?;
    if members.iter().filter_map(toml_edit::Value::as_str).any(|one| names_folder(one, folder)) {
        return Ok(None);
    }
    members.push(folder);
    Ok(Some((MANIFEST.to_owned(), manifest.to_string())))
}

/// Whether a member of the workspace is this folder, or a pattern for it, where a `*` is any one name.
fn names_folder(member: &str, folder: &str) -> bool {
    let (member, folder) = (member.split('/'), folder.split('/'));
    member.clone().count() == folder.clone().count()
        && member.zip(folder).all(|(member, name)| member == "*" || member == name)
}

/// The description with an instance of the component, everything else as it was.
fn with_instance(text: &str, names: &Names) -> Result<String> {
    let system = names.layout.system_file();
    let mut document: DocumentMut = text.parse().with_context(|| system.clone())?;
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
    add_instance(&mut document, &system, names.name, instance)?;
    Ok(document.to_string())
}

/// Adds an instance at the end of a description that does not have it.
fn add_instance(
    document: &mut DocumentMut,
    system: &str,
    name: &str,
    mut instance: Table,
) -> Result<()> {
    let instances = inner(document.as_table_mut(), "instance")
        .with_context(|| format!("{system}: `instance` is no table"))?;
    if instances.contains_key(name) {
        bail!("{system} has an instance `{name}` already; choose another name, or remove it");
    }
    instance.decor_mut().set_prefix("\n");
    // Without a place it would come behind the last table of the instance that is named last, which others' may follow.
    instance.set_position(Some(isize::MAX));
    instances.insert(name, Item::Table(instance));
    Ok(())
}

/// A table in a table, new if it is not there; without a header of its own unless it needs one.
fn inner<'a>(table: &'a mut Table, key: &str) -> Option<&'a mut Table> {
    let mut new = Table::new();
    new.set_implicit(true);
    table.entry(key).or_insert(Item::Table(new)).as_table_mut()
}

/// The list of interfaces with one more, in alphabetical order.
fn with_module(text: &str, module: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (before, after) in [("mod ", ";"), ("pub use ", "::*;")] {
        let line = format!("{before}{module}{after}");
        if !lines.iter().any(|one| one.starts_with(before)) {
            lines.push(String::new());
        }
        let at = lines
            .iter()
            .position(|one| one.starts_with(before) && *one > line)
            .or_else(|| lines.iter().rposition(|one| one.starts_with(before)).map(|last| last + 1))
            .unwrap_or(lines.len());
        lines.insert(at, line);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;
    use std::path::PathBuf;

    const MANIFEST: &str = "[workspace]\nmembers = ['components/*/*']\n[workspace.metadata.cairn]\n\
         system = 'demo'\ncomponents = 'components/apps'\ndrivers = 'components/drivers'\nprefix = 'cairn-'\n\
         [workspace.package]\nversion = '0.1.0'\nedition = '2024'\nlicense = 'MIT'\npublish = false\n[workspace.dependencies]\n";

    /// A new workspace with the folders of Cairn's own and one component, in the temporary folder.
    pub(super) fn workspace(name: &str) -> (PathBuf, Layout) {
        let root = std::env::temp_dir().join(format!("cairn-{name}-{}", std::process::id()));
        for folder in ["systems", "interfaces/src"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let mut manifest = MANIFEST.to_owned();
        for (name, folder) in [
            ("cairn", "lib/cairn"),
            ("cairn-interfaces", "interfaces/system"),
            ("cairn-driver-interfaces", "interfaces/drivers"),
            ("cairn-virtio", "lib/virtio"),
        ] {
            let path = paths::source().join(folder);
            manifest += &format!("{name}.path = {:?}\n", path.display().to_string());
        }
        std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
        std::fs::write(root.join("interfaces/src/lib.rs"), "mod echo;\n\npub use echo::*;\n")
            .unwrap();
        add_package(&root, "shelf");
        (root.clone(), Layout::read(&root).unwrap())
    }

    /// A component in a folder of another name than its package's.
    fn add_package(root: &Path, folder: &str) {
        let component = root.join("components/apps").join(folder);
        std::fs::create_dir_all(component.join("src")).unwrap();
        std::fs::write(component.join("src/main.rs"), "").unwrap();
        let manifest = format!("[package]\nname = 'cairn-in-{folder}'\n");
        std::fs::write(component.join("Cargo.toml"), manifest).unwrap();
    }

    #[test]
    fn a_module_is_added_in_order() {
        let text = "//! Doc.\nmod a;\nmod c;\n\npub use a::*;\npub use c::*;\n";
        let between =
            "//! Doc.\nmod a;\nmod b;\nmod c;\n\npub use a::*;\npub use b::*;\npub use c::*;\n";
        assert_eq!(with_module(text, "b"), between);
        let last =
            "//! Doc.\nmod a;\nmod c;\nmod d;\n\npub use a::*;\npub use c::*;\npub use d::*;\n";
        assert_eq!(with_module(text, "d"), last);
        assert_eq!(with_module("//! Doc.\n", "a"), "//! Doc.\n\nmod a;\n\npub use a::*;\n");
    }

    #[test]
    fn a_new_component_is_a_member_of_the_workspace() {
        let root = std::env::temp_dir().join(format!("cairn-member-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        let added = |manifest: &str| {
            std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
            with_member(&root, "components/adder").unwrap().map(|(_, text)| text)
        };
        assert_eq!(added("[workspace]\nmembers = ['components/*']\n"), None);
        assert_eq!(added("[workspace]\nmembers = ['components/adder']\n"), None);
        for manifest in
            ["[workspace]\nresolver = '3'\n", "[workspace]\nmembers = ['components/*/*']\n"]
        {
            let text = added(manifest).unwrap();
            let table: toml::Table = text.parse().unwrap();
            let members = table["workspace"]["members"].as_array().unwrap();
            assert_eq!(members.last().unwrap().as_str(), Some("components/adder"), "{text}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn an_instance_is_added_and_the_rest_stays() {
        let layout = Layout::of_project().unwrap();
        let text = "[system] # here\nname   = 'demo'\n\n[instance.shell]\ncomponent = \"shell\"  # shell\n";
        let added = with_instance(text, &Names::new("new-one", &layout).unwrap()).unwrap();
        let expected = "\n[instance.new-one]\ncomponent = \"new-one\"\nmemory = \"128K\"\nthreads = 0\n\
                        restart = \"on-fault\"\n\n[instance.new-one.exports.new_one]\nopen = [\"shell\"]\n";
        assert_eq!(added, format!("{text}{expected}"));
        let mixed =
            "[instance.shell]\n[instance.log]\n[package.guest]\n[instance.shell.exports.one]\n";
        let added = with_instance(mixed, &Names::new("new-one", &layout).unwrap()).unwrap();
        assert_eq!(added, format!("{mixed}{expected}"));
        let error = with_instance(text, &Names::new("shell", &layout).unwrap()).unwrap_err();
        assert!(format!("{error}").contains("already"));
    }

    #[test]
    fn nothing_is_overwritten_and_an_error_leaves_nothing() {
        let (root, layout) = workspace("new");
        assert!(component(&layout, "adder").is_err(), "there is no description");
        assert!(!root.join("components/apps/adder").exists());
        std::fs::write(root.join("systems/demo.toml"), "[instance.shell]\ncomponent = 'shell'\n")
            .unwrap();
        add_package(&root, "shelf-two");
        let error = component(&layout, "in-shelf").unwrap_err().to_string();
        assert!(error.contains("which components/apps/shelf has already"), "{error}");
        assert!(!root.join("interfaces/src/in_shelf.rs").exists());
        component(&layout, "adder").unwrap();
        for file in [
            "components/apps/adder/src/main.rs",
            "interfaces/src/adder.rs",
            "tests/adder/test.toml",
        ] {
            let text = std::fs::read_to_string(root.join(file)).unwrap();
            assert!(!text.contains('@'), "{text}");
        }
        crate::system_tests::SystemTest::read(&root.join("tests/adder/test.toml")).unwrap();
        assert!(component(&layout, "adder").is_err(), "it exists");
        std::fs::remove_dir_all(root).unwrap();
    }
}
