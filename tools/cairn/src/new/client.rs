//! `./cairn new client NAME SERVER`: a component that calls an interface which is served already.

use super::names::Names;
use super::{Made, SYSTEM, read, write_all};
use crate::{build, interfaces, test};
use anyhow::{Context, Result, anyhow, bail};
use cairn_description::{Disk, components};
use cairn_loader::Export;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, value};

/// What the new component calls.
struct Server {
    instance: String,
    export: String,
    interface: String,
}

/// Makes the component `name` in the repository at `root`, a client of `server` in the system demo: an instance, or
/// `INSTANCE.EXPORT`. Returns what to tell the user.
pub fn client(root: &Path, name: &str, server: &str) -> Result<String> {
    let names = Names::new(name)?;
    names.refuse_folders(root)?;
    names.refuse_package(root)?;
    let (instance, export) = match server.split_once('.') {
        Some((instance, export)) => (instance, Some(export)),
        None => (server, None),
    };
    let description: DocumentMut =
        read(root, SYSTEM)?.parse().with_context(|| SYSTEM.to_owned())?;
    let component = component_of(root, &description, instance)?;
    let exports = build::component(&component)?.descriptor.exports;
    let export = choose(instance, &exports, export)?;
    let interface = &export.interface;
    let known =
        interfaces::find(&interface.name).ok().filter(|known| known.version == interface.version);
    if known.is_none() {
        bail!(
            "`{instance}.{}` is of the interface `{}`, which is not one of interfaces/src/; a client of it needs the \
             crate that declares it, as examples/valves/client does",
            export.name,
            interface.name
        );
    }
    make(
        root,
        &names,
        &Server {
            instance: instance.to_owned(),
            export: export.name.clone(),
            interface: interface.name.clone(),
        },
    )
}

/// The folder of the component of an instance.
fn component_of(root: &Path, description: &DocumentMut, instance: &str) -> Result<String> {
    let instances = instances(description)?;
    let Some(table) = instances.get(instance) else {
        let names: Vec<String> = instances.iter().map(|(name, _)| name.to_owned()).collect();
        bail!(
            "{SYSTEM} has no instance `{instance}`{}; expected INSTANCE or INSTANCE.EXPORT, of {}",
            test::nearest(instance, &names),
            names.join(", ")
        );
    };
    let component = table.get("component").and_then(Item::as_str);
    let component =
        component.with_context(|| format!("{SYSTEM}: `{instance}` names no component"))?;
    components::folder(&Disk::new(root), component)
        .map_err(|_| anyhow!("{SYSTEM}: the component `{component}` of `{instance}` is not there"))
}

fn instances(description: &DocumentMut) -> Result<&Table> {
    description
        .get("instance")
        .and_then(Item::as_table)
        .with_context(|| format!("{SYSTEM} has no tables [instance.NAME]"))
}

/// The export that is meant.
fn choose<'a>(instance: &str, exports: &'a [Export], wanted: Option<&str>) -> Result<&'a Export> {
    // Objects are not opened by name, but come from a method.
    let services: Vec<&Export> = exports.iter().filter(|export| !export.is_object).collect();
    let all: Vec<String> =
        services.iter().map(|export| format!("{instance}.{}", export.name)).collect();
    match (wanted, services.as_slice()) {
        (_, []) => bail!("`{instance}` serves nothing that could be called"),
        (None, [only]) => Ok(only),
        (None, _) => bail!("`{instance}` has several exports; write one of {}", all.join(", ")),
        (Some(wanted), _) => match services.iter().find(|export| export.name == wanted) {
            Some(found) => Ok(found),
            None => {
                bail!("`{instance}` has no export `{wanted}`; expected one of {}", all.join(", "))
            }
        },
    }
}

fn make(root: &Path, names: &Names, server: &Server) -> Result<String> {
    let name = names.name;
    let (file, source) = declaration(root, &server.interface)?;
    let (method, call) = call(&source, &server.interface).with_context(|| {
        format!(
            "`{}` has no method that takes numbers, texts and bytes only; write a client as docs/components.md shows",
            server.interface
        )
    })?;
    let traits = match server.interface.as_str() {
        "Console" => "Console".to_owned(),
        other => {
            let mut both = ["Console", other];
            both.sort_unstable();
            format!("{{{}}}", both.join(", "))
        }
    };
    let export = format!("{}.{}", server.instance, server.export);
    let fill = |template: &str| {
        names
            .fill(template)
            .replace("@server@", &export)
            .replace("@traits@", &traits)
            .replace("@Server@", &server.interface)
            .replace("@method@", &method)
            .replace("@call@", &call)
            .replace("@file@", &file)
    };
    let description = with_client(&read(root, SYSTEM)?, name, server)?;
    let made = Made {
        rows: vec![
            ("made", format!("components/apps/{name}/"), format!("a client of {export}")),
            ("made", format!("tests/{name}/test.toml"), "its test".to_owned()),
            ("added", format!("[instance.{name}]"), format!("to {SYSTEM}, connected")),
            ("next", "./cairn run".to_owned(), format!("in the shell: restart {name}")),
            ("", format!("./cairn test {name}"), "runs its test".to_owned()),
        ],
        files: vec![
            (
                format!("components/apps/{name}/Cargo.toml"),
                fill(include_str!("../../templates/component/Cargo.toml.in")),
            ),
            (
                format!("components/apps/{name}/src/main.rs"),
                fill(include_str!("../../templates/client/main.rs.in")),
            ),
            (
                format!("components/apps/{name}/README.md"),
                fill(include_str!("../../templates/client/README.md.in")),
            ),
            (
                format!("tests/{name}/test.toml"),
                fill(include_str!("../../templates/client/test.toml.in")),
            ),
            (SYSTEM.to_owned(), description),
        ],
    };
    write_all(root, made)
}

/// The file that declares an interface, and its text.
fn declaration(root: &Path, interface: &str) -> Result<(String, String)> {
    let folder = root.join("interfaces/src");
    for entry in std::fs::read_dir(&folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .flatten()
    {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        if text.contains(&format!("pub trait {interface} {{")) {
            let file = entry.file_name();
            return Ok((format!("interfaces/src/{}", file.to_string_lossy()), text));
        }
    }
    bail!("no file of interfaces/src/ has a line `pub trait {interface} {{`")
}

/// The first method of an interface, by its declaration, that can be called with values written down: its name, and
/// the call.
fn call(source: &str, interface: &str) -> Option<(String, String)> {
    let (_, body) = source.split_once(&format!("pub trait {interface} {{"))?;
    let (body, _) = body.split_once("\n}")?;
    let code: String = body.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    code.split(';').find_map(|method| {
        let (_, method) = method.split_once("fn ")?;
        let (name, rest) = method.split_once('(')?;
        let (parameters, _) = rest.split_once(')')?;
        let mut number = 1;
        let mut values = Vec::new();
        for parameter in parameters.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let Some((_, kind)) = parameter.split_once(':') else { continue };
            values.push(match kind.trim() {
                "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
                    number += 1;
                    number.to_string()
                }
                "bool" => "false".to_owned(),
                "&str" => "\"hello\"".to_owned(),
                "&[u8]" => "b\"hello\\n\"".to_owned(),
                "&mut [u8]" => "&mut [0; 64]".to_owned(),
                // The portal fills these in.
                "Caller" | "CallerThread" | "Now" | "PortalIndex" => continue,
                _ => return None,
            });
        }
        Some((name.to_owned(), format!("{name}({})", values.join(", "))))
    })
}

/// The description with an instance of the client, connected; everything else as it was.
fn with_client(text: &str, name: &str, server: &Server) -> Result<String> {
    let mut document: DocumentMut = text.parse().with_context(|| SYSTEM.to_owned())?;
    let served = document["instance"][&server.instance]
        .as_table_mut()
        .and_then(|instance| instance.get_mut("exports")?.get_mut(&server.export)?.get_mut("open"))
        .and_then(Item::as_array_mut);
    if let Some(open) = served
        && !open.iter().any(|who| matches!(who.as_str(), Some(who) if who == "*" || who == name))
    {
        open.push(name);
    }
    let mut imports = Table::new();
    imports["console"] = value("console.console");
    imports["server"] = value(format!("{}.{}", server.instance, server.export));
    let mut instance = Table::new();
    instance["component"] = value(name);
    instance["memory"] = value("128K");
    instance["restart"] = value("on-fault");
    instance.insert("imports", Item::Table(imports));
    super::add_instance(&mut document, name, instance)?;
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_loader::Interface;

    #[test]
    fn the_first_method_that_takes_plain_values_is_called() {
        let source = "pub trait Other {\n    fn no(&self) -> R;\n}\n\npub trait Echo {\n    /// Opens; a comment.\n    \
                      fn open(&self, place: Place) -> R;\n    fn add(\n        &self,\n        caller: Caller,\n        \
                      left: u64,\n        text: &str,\n    ) -> R;\n    fn fill(&self, buffer: &mut [u8]) -> R;\n}\n";
        let (method, made) = call(source, "Echo").unwrap();
        assert_eq!((method.as_str(), made.as_str()), ("add", "add(2, \"hello\")"));
        assert_eq!(call("pub trait Echo {\n    fn a(&self, p: Place) -> R;\n}\n", "Echo"), None);
        assert_eq!(call(source, "Nothing"), None);
    }

    fn export(name: &str, is_object: bool) -> Export {
        let interface = Interface { name: "Echo".into(), version: 1, methods: Vec::new() };
        Export { name: name.into(), is_object, interface }
    }

    #[test]
    fn an_export_has_to_be_meant() {
        let one = [export("echo", false), export("line", true)];
        assert_eq!(choose("greeter", &one, None).unwrap().name, "echo");
        let says = |exports: &[Export], wanted| {
            choose("greeter", exports, wanted).map(|_| ()).unwrap_err().to_string()
        };
        let expected = "`greeter` has no export `line`; expected one of greeter.echo";
        assert_eq!(says(&one, Some("line")), expected);
        let two = [export("echo", false), export("other", false)];
        let expected = "`greeter` has several exports; write one of greeter.echo, greeter.other";
        assert_eq!(says(&two, None), expected);
        assert_eq!(choose("greeter", &two, Some("other")).unwrap().name, "other");
        assert_eq!(says(&one[1..], None), "`greeter` serves nothing that could be called");
    }

    #[test]
    fn the_server_lets_its_new_client_in() {
        let server =
            Server { instance: "greeter".into(), export: "echo".into(), interface: "Echo".into() };
        let text = "[instance.greeter]\ncomponent = \"greeter\"\n[instance.greeter.exports.echo]\nopen = [\"shell\"]\n";
        let added = with_client(text, "visitor", &server).unwrap();
        let expected = "\n[instance.visitor]\ncomponent = \"visitor\"\nmemory = \"128K\"\nrestart = \"on-fault\"\n\n\
                        [instance.visitor.imports]\nconsole = \"console.console\"\nserver = \"greeter.echo\"\n";
        let opened = text.replace("[\"shell\"]", "[\"shell\", \"visitor\"]");
        assert_eq!(added, format!("{opened}{expected}"));
        let anyone = text.replace("shell", "*");
        assert!(with_client(&anyone, "visitor", &server).unwrap().starts_with(&anyone));
        assert!(
            with_client(&added, "visitor", &server).unwrap_err().to_string().contains("already")
        );
    }

    #[test]
    fn an_instance_that_is_not_there() {
        let description: DocumentMut =
            "[instance.shell]\ncomponent = 'shell'\n[instance.greeter]\ncomponent = 'examples/greeter'\n"
                .parse()
                .unwrap();
        let root = crate::paths::root();
        let of = |instance| component_of(&root, &description, instance);
        let error = of("greter").unwrap_err().to_string();
        assert!(error.contains("no instance `greter`; did you mean `greeter`?"), "{error}");
        assert_eq!(of("shell").unwrap(), "components/apps/shell");
        assert_eq!(of("greeter").unwrap(), "examples/greeter");
    }
}
