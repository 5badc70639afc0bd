//! `./cairn new client NAME SERVER`: a component that calls an interface which is served already.

use super::call::{Call, Items};
use super::names::Names;
use super::{Made, SYSTEM, read, write_all};
use crate::{build, interfaces, paths, test};
use anyhow::{Context, Result, anyhow, bail};
use cairn_loader::Export;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, value};

/// The crate of the interfaces that the system shares.
const SHARED: &str = "cairn-interfaces";

/// What the new component calls.
struct Server {
    instance: String,
    export: String,
    interface: String,
    contract: Contract,
    call: Call,
}

/// The crate that declares an interface.
pub(super) struct Contract {
    pub(super) package: String,
    /// Its folder, a path from the root.
    pub(super) folder: String,
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
    let component = component_of(instance)?;
    let exports = build::component(&component)?.descriptor.exports;
    let export = choose(instance, &exports, export)?;
    let (contract, items) = contract_of(root, &component, export)?;
    let interface = export.interface.name.clone();
    let server = Server {
        instance: instance.to_owned(),
        export: export.name.clone(),
        call: items.call(&interface)?,
        interface,
        contract,
    };
    let file = items.file(&server.interface).expect("it has been called");
    make(root, &names, &server, file)
}

/// The crate that declares an export's interface: the one that the system shares, or one that the server depends on.
fn contract_of(root: &Path, component: &str, export: &Export) -> Result<(Contract, Items)> {
    let name = &export.interface.name;
    let is_shared =
        interfaces::find(name).is_ok_and(|known| known.version == export.interface.version);
    let crates = match is_shared {
        true => vec![Contract { package: SHARED.to_owned(), folder: "interfaces".to_owned() }],
        false => neighbours(root, component)?,
    };
    for contract in crates {
        let items = Items::read(root, &format!("{}/src", contract.folder))?;
        if items.file(name).is_some() {
            return Ok((contract, items));
        }
    }
    bail!(
        "`{}` is of the interface `{name}`, which is declared neither in interfaces/src/ nor in a crate that \
         {component}/Cargo.toml names by its path; move it into a crate that client and server depend on, as \
         examples/valves/contract",
        export.name
    )
}

/// The crates that a component's manifest names by their paths.
fn neighbours(root: &Path, component: &str) -> Result<Vec<Contract>> {
    let Ok(text) = std::fs::read_to_string(root.join(component).join("Cargo.toml")) else {
        // In C all interfaces are shared ones.
        return Ok(Vec::new());
    };
    let manifest: DocumentMut = text.parse().with_context(|| format!("{component}/Cargo.toml"))?;
    let dependencies = manifest.get("dependencies").and_then(Item::as_table_like);
    let neighbours = dependencies.into_iter().flat_map(|table| table.iter());
    Ok(neighbours
        .filter_map(|(package, dependency)| {
            let path = dependency.as_table_like()?.get("path")?.as_str()?;
            let mut parts: Vec<&str> = component.split('/').collect();
            for part in path.split('/') {
                match part {
                    ".." => drop(parts.pop()?),
                    "." | "" => {}
                    part => parts.push(part),
                }
            }
            Some(Contract { package: package.to_owned(), folder: parts.join("/") })
        })
        .collect())
}

/// The folder of the component of an instance of the system, which may be in a description that it extends.
fn component_of(instance: &str) -> Result<String> {
    let system = cairn_description::load_from(&paths::files(), SYSTEM, None)
        .map_err(|report| anyhow!("{report}"))?;
    let Some(index) = system.instance(instance) else {
        let names: Vec<String> = system.instances.iter().map(|one| one.name.to_string()).collect();
        bail!(
            "{SYSTEM} has no instance `{instance}`{}; expected INSTANCE or INSTANCE.EXPORT, of {}",
            test::nearest(instance, &names),
            names.join(", ")
        );
    };
    Ok(system.instances[index].folder.clone())
}

/// The export that is meant.
fn choose<'a>(instance: &str, exports: &'a [Export], wanted: Option<&str>) -> Result<&'a Export> {
    // Objects are not opened by name, but come from a method.
    let services: Vec<&Export> = exports.iter().filter(|export| !export.is_object).collect();
    let all: Vec<String> =
        services.iter().map(|export| format!("{instance}.{}", export.name)).collect();
    match (wanted, services.as_slice()) {
        (_, []) => bail!(
            "`{instance}` serves nothing that could be called; name an instance with exports: `names` in the shell lists them"
        ),
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

fn make(root: &Path, names: &Names, server: &Server, file: &str) -> Result<String> {
    let name = names.name;
    let export = format!("{}.{}", server.instance, server.export);
    let Server { interface, contract, call, .. } = server;
    let fill = |template| fill(names, template, &export, interface, contract, call);
    let mut manifest = fill(include_str!("../../templates/component/Cargo.toml.in"));
    if contract.package != SHARED {
        let Contract { package, folder } = contract;
        manifest += &format!("{package} = {{ path = \"../../../{folder}\" }}\n");
    }
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
            (format!("components/apps/{name}/Cargo.toml"), manifest),
            (
                format!("components/apps/{name}/src/main.rs"),
                fill(include_str!("../../templates/client/main.rs.in")),
            ),
            (
                format!("components/apps/{name}/README.md"),
                fill(include_str!("../../templates/client/README.md.in")).replace("@file@", file),
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

/// A template of a client's.
pub(super) fn fill(
    names: &Names,
    template: &str,
    export: &str,
    interface: &str,
    contract: &Contract,
    call: &Call,
) -> String {
    let mut imports = vec!["console: Console".to_owned()];
    let mut shared = vec!["Console"];
    if call.needs_portals {
        imports.push("portals: Portals".to_owned());
        shared.push("Portals");
    }
    imports.push(format!("server: {interface}"));
    let mut own = vec![interface];
    own.extend(call.types.iter().map(String::as_str));
    let uses = if contract.package == SHARED {
        shared.extend(own);
        used(SHARED, shared)
    } else {
        let mut uses = [used(SHARED, shared), used(&contract.package, own)];
        uses.sort_unstable();
        uses.join("\n")
    };
    names
        .fill(template)
        .replace("@server@", export)
        .replace("@uses@", &uses)
        .replace("@imports@", &imports.join(", "))
        .replace("@Server@", interface)
        .replace("@method@", &call.method)
        .replace("@arguments@", &call.arguments)
}

/// A `use` of names at a package's root.
fn used(package: &str, mut names: Vec<&str>) -> String {
    names.sort_unstable();
    names.dedup();
    let names = match names.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("{{{}}}", several.join(", ")),
    };
    format!("use {}::{names};", package.replace('-', "_"))
}

/// The description with an instance of the client, connected; everything else as it was.
fn with_client(text: &str, name: &str, server: &Server) -> Result<String> {
    let mut document: DocumentMut = text.parse().with_context(|| SYSTEM.to_owned())?;
    let served = document
        .get_mut("instance")
        .and_then(|instances| instances.get_mut(&server.instance)?.get_mut("exports"))
        .and_then(|exports| exports.get_mut(&server.export)?.get_mut("open"))
        .and_then(Item::as_array_mut);
    if let Some(open) = served
        && !open.iter().any(|who| matches!(who.as_str(), Some(who) if who == "*" || who == name))
    {
        open.push(name);
    }
    let mut imports = Table::new();
    imports["console"] = value("console.console");
    if server.call.needs_portals {
        imports["portals"] = value("portals.portals");
    }
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
        assert_eq!(
            says(&one[1..], None),
            "`greeter` serves nothing that could be called; name an instance with exports: `names` in the shell lists them"
        );
    }

    #[test]
    fn the_server_lets_its_new_client_in() {
        let call = Call {
            method: "add".into(),
            arguments: "2, 3".into(),
            types: Vec::new(),
            needs_portals: false,
        };
        let mut server = Server {
            instance: "greeter".into(),
            export: "echo".into(),
            interface: "Echo".into(),
            contract: Contract { package: SHARED.into(), folder: "interfaces".into() },
            call,
        };
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
        server.call.needs_portals = true;
        let with_objects = with_client(text, "visitor", &server).unwrap();
        assert!(with_objects.contains("\nportals = \"portals.portals\"\n"), "{with_objects}");
    }

    #[test]
    fn an_interface_may_be_in_a_crate_beside_its_server() {
        let root = crate::paths::source();
        let valves = |version| {
            let interface = Interface { name: "Valves".into(), version, methods: Vec::new() };
            Export { name: "valves".into(), is_object: false, interface }
        };
        let (contract, items) = contract_of(&root, "examples/valves/server", &valves(1)).unwrap();
        assert_eq!(contract.package, "cairn-example-valves-contract");
        assert_eq!(contract.folder, "examples/valves/contract");
        assert_eq!(items.file("Valves"), Some("examples/valves/contract/src/lib.rs"));
        for folder in ["components/drivers/console", "examples/c-greeter"] {
            let error = contract_of(&root, folder, &valves(1)).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("which is declared neither in interfaces/src/"), "{error}");
        }
    }

    #[test]
    fn an_instance_that_is_not_there() {
        let of = component_of;
        let error = of("greter").unwrap_err().to_string();
        assert!(error.contains("no instance `greter`; did you mean `greeter`?"), "{error}");
        assert_eq!(of("shell").unwrap(), "components/apps/shell");
        assert_eq!(of("greeter").unwrap(), "examples/greeter");
        assert_eq!(of("console").unwrap(), "components/drivers/console");
    }
}
