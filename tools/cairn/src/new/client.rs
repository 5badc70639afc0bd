//! `./cairn new client NAME SERVER`: a component that calls an interface which is served already.

use super::call::{Call, Items};
use super::names::{Names, dependencies};
use super::product::relative;
use super::{Made, read, with_member, write_all};
use crate::layout::{Contract, Layout, SHARED};
use crate::{components, interfaces, paths, test};
use anyhow::{Context, Result, anyhow, bail};
use cairn_description::System;
use cairn_description::copies::ranges;
use cairn_description::model::Open;
use cairn_loader::{Export, Interface};
use std::path::Path;
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// What the new component calls.
struct Server {
    instance: String,
    export: String,
    /// Who may open it, if the description says that.
    open: Option<Vec<String>>,
    interface: String,
    contract: Contract,
    call: Call,
}

/// Makes the component `name` in a project, a client of `server` in its system: an instance, or `INSTANCE.EXPORT`.
/// Returns what to tell the user.
pub fn client(layout: &Layout, name: &str, server: &str) -> Result<String> {
    let names = Names::new(name, layout)?;
    names.refuse_folders()?;
    names.refuse_package()?;
    let (instance, export) = match server.split_once('.') {
        Some((instance, export)) => (instance, Some(export)),
        None => (server, None),
    };
    let system = cairn_description::load_from(&paths::files(), &layout.system, None)
        .map_err(|report| anyhow!("{report}"))?;
    let component = component_of(&system, instance)?;
    let exports = components::component(&component)?.descriptor.exports;
    let export = choose(instance, &exports, export)?;
    let (contract, items) = contract_of(layout, export)?;
    let interface = export.interface.name.clone();
    let server = Server {
        instance: instance.to_owned(),
        export: export.name.clone(),
        open: open(&system, instance, &export.name),
        call: items.call(&interface)?,
        interface,
        contract,
    };
    let file = items.file(&server.interface).expect("it has been called");
    make(&names, &server, file)
}

/// The crate that declares an export's interface.
fn contract_of(layout: &Layout, export: &Export) -> Result<(Contract, Items)> {
    let Interface { name, version, .. } = &export.interface;
    if let Some(package) = interfaces::library_of(name, *version)? {
        let folder = paths::shown(package.folder());
        let items = Items::read(&layout.root, &format!("{folder}/src"))?;
        if items.file(name).is_some() {
            return Ok((Contract { package: package.name.clone(), folder }, items));
        }
    }
    bail!(
        "`{}` is of the interface `{name}`, which no library of the workspace has at its root; move it into a crate that client \
         and server depend on, as examples/valves/contract",
        export.name
    )
}

/// The folder of the component of an instance.
fn component_of(system: &System, instance: &str) -> Result<String> {
    if let Some(found) = system.instances.iter().find(|one| **one.name == *instance) {
        return Ok(found.folder.clone());
    }
    let names: Vec<String> = system.instances.iter().map(|one| one.name.to_string()).collect();
    bail!(
        "{} has no instance `{instance}`{}; expected INSTANCE or INSTANCE.EXPORT, of {}",
        system.name.place.path(),
        test::nearest(instance, &names),
        ranges(names.iter().map(String::as_str), str::to_owned).join(", ")
    );
}

/// Who may open an export, where the description says that not everyone may.
fn open(system: &System, instance: &str, export: &str) -> Option<Vec<String>> {
    let instance = system.instances.iter().find(|one| **one.name == *instance)?;
    let export = instance.exports.iter().find(|one| **one.name == *export)?;
    export.open_place.as_ref()?;
    match &export.open {
        Open::Anyone => None,
        Open::Instances(those) => {
            Some(those.iter().map(|index| system.instances[*index].name.to_string()).collect())
        }
    }
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

fn make(names: &Names, server: &Server, file: &str) -> Result<String> {
    let Names { name, layout, .. } = names;
    let root = &layout.root;
    let own_folder = format!("{}/{name}", layout.components);
    let system = layout.system_file();
    let export = format!("{}.{}", server.instance, server.export);
    let Server { interface, contract, call, .. } = server;
    let fill = |template| fill(names, template, &export, interface, contract, call);
    let mut manifest = include_str!("../../templates/component/Cargo.toml.in").to_owned();
    if has_dependency(root, &contract.package)? {
        manifest = manifest.replace("@dependencies@", &dependencies(&[&contract.package]));
    } else {
        let Contract { package, folder } = contract;
        let path = relative(&root.join(&own_folder), &root.join(folder));
        manifest += &format!("{package} = {{ path = \"{}\" }}\n", path.display());
    }
    let manifest = fill(&manifest);
    let description = with_client(&read(root, &system)?, names, server)?;
    let made = Made {
        rows: vec![
            ("made", format!("{own_folder}/"), format!("a client of {export}")),
            ("made", format!("tests/{name}/test.toml"), "its test".to_owned()),
            ("added", format!("[instance.{name}]"), format!("to {system}, connected")),
            ("next", "./cairn run".to_owned(), format!("in the shell: restart {name}")),
            ("", format!("./cairn test {name}"), "runs its test".to_owned()),
        ],
        files: vec![
            (format!("{own_folder}/Cargo.toml"), manifest),
            (
                format!("{own_folder}/src/main.rs"),
                fill(include_str!("../../templates/client/main.rs.in")),
            ),
            (
                format!("{own_folder}/README.md"),
                fill(include_str!("../../templates/client/README.md.in")).replace("@file@", file),
            ),
            (
                format!("tests/{name}/test.toml"),
                fill(include_str!("../../templates/client/test.toml.in")),
            ),
            (system.clone(), description),
        ]
        .into_iter()
        .chain(with_member(root, &own_folder)?)
        .collect(),
    };
    write_all(root, made)
}

/// Whether the workspace says where a package is.
fn has_dependency(root: &Path, package: &str) -> Result<bool> {
    let manifest: toml::Table = read(root, "Cargo.toml")?.parse().context("Cargo.toml")?;
    let all = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    Ok(all.is_some_and(|all| all.get(package).is_some()))
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
    let mock = format!("{interface}Mock");
    let (types, answer, assertion) = match &call.reply {
        Some((reply, types)) => (
            types.as_slice(),
            format!(".{}(|{}| Ok({reply}))", call.method, vec!["_"; call.parameters].join(", ")),
            format!(
                "assert_eq!(said, std::format!(\"@name@: @server@ @method@: {{:?}}\\n\", Ok::<_, ()>({reply})));"
            ),
        ),
        None => (
            [].as_slice(),
            String::new(),
            "assert!(said.starts_with(\"@name@: @server@ @method@: Err(\"), \"{said}\");"
                .to_owned(),
        ),
    };
    let mocks = if contract.package == SHARED {
        used(SHARED, ["ConsoleMock", &mock].into_iter().chain(of(types, &call.types)).collect())
    } else {
        let own = [mock.as_str()].into_iter().chain(of(types, &call.types)).collect();
        let mut mocks = [used(SHARED, vec!["ConsoleMock"]), used(&contract.package, own)];
        mocks.sort_unstable();
        mocks.join("\n    ")
    };
    names
        .fill(&template.replace("@assertion@", &assertion))
        .replace("@mocks@", &mocks)
        .replace("@answer@", &answer)
        .replace("@server@", export)
        .replace("@uses@", &uses)
        .replace("@imports@", &imports.join(", "))
        .replace("@Server@", interface)
        .replace("@method@", &call.method)
        .replace("@arguments@", &call.arguments)
}

/// The types that are not among those which are used already.
fn of<'a>(types: &'a [String], used: &'a [String]) -> impl Iterator<Item = &'a str> {
    types.iter().filter(|one| !used.contains(one)).map(String::as_str)
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
fn with_client(text: &str, names: &Names, server: &Server) -> Result<String> {
    let name = names.name;
    let system = names.layout.system_file();
    let mut document: DocumentMut = text.parse().with_context(|| system.clone())?;
    let served = document
        .get_mut("instance")
        .and_then(|instances| instances.get_mut(&server.instance)?.get_mut("exports"))
        .and_then(|exports| exports.get_mut(&server.export)?.get_mut("open"))
        .and_then(Item::as_array_mut);
    match (served, &server.open) {
        (Some(open), _) => {
            let is_in = |who: &toml_edit::Value| matches!(who.as_str(), Some(who) if who == "*" || who == name);
            if !open.iter().any(is_in) {
                open.push(name);
            }
        }
        // What it extends says who may; a list takes the place of that.
        (None, Some(open)) => {
            let mut table = document.as_table_mut();
            let is_there =
                table.get("instance").and_then(|all| all.get(&server.instance)).is_some();
            for key in ["instance", &server.instance, "exports", &server.export] {
                table = super::inner(table, key).with_context(|| format!("{system}: `{key}`"))?;
            }
            table["open"] = value(Array::from_iter(open.iter().map(String::as_str).chain([name])));
            if !is_there {
                table.set_position(Some(isize::MAX));
            }
        }
        (None, None) => {}
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
    super::add_instance(&mut document, &system, name, instance)?;
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            parameters: 2,
            reply: None,
        };
        let mut server = Server {
            instance: "greeter".into(),
            export: "echo".into(),
            open: None,
            interface: "Echo".into(),
            contract: Contract { package: SHARED.into(), folder: "interfaces/system".into() },
            call,
        };
        let text = "[instance.greeter]\ncomponent = \"greeter\"\n[instance.greeter.exports.echo]\nopen = [\"shell\"]\n";
        let layout = Layout::of_project().unwrap();
        let visitor = Names::new("visitor", &layout).unwrap();
        let added = with_client(text, &visitor, &server).unwrap();
        let expected = "\n[instance.visitor]\ncomponent = \"visitor\"\nmemory = \"128K\"\nrestart = \"on-fault\"\n\n\
                        [instance.visitor.imports]\nconsole = \"console.console\"\nserver = \"greeter.echo\"\n";
        let opened = text.replace("[\"shell\"]", "[\"shell\", \"visitor\"]");
        assert_eq!(added, format!("{opened}{expected}"));
        let anyone = text.replace("shell", "*");
        assert!(with_client(&anyone, &visitor, &server).unwrap().starts_with(&anyone));
        assert!(
            with_client(&added, &visitor, &server).unwrap_err().to_string().contains("already")
        );
        server.open = Some(vec!["shell".into()]);
        let extending = with_client("[system]\nextends = \"demo\"\n", &visitor, &server).unwrap();
        let opened = "\n[instance.greeter.exports.echo]\nopen = [\"shell\", \"visitor\"]\n";
        assert!(extending.contains(opened), "{extending}");
        server.call.needs_portals = true;
        let with_objects = with_client(text, &visitor, &server).unwrap();
        assert!(with_objects.contains("\nportals = \"portals.portals\"\n"), "{with_objects}");
    }

    #[test]
    fn an_interface_may_be_in_a_crate_beside_its_server() {
        let layout = Layout::of_project().unwrap();
        let valves = interfaces::find(&paths::project_workspace(), "Valves").unwrap();
        let mut interface = valves.interface;
        let valves = |interface| Export { name: "valves".into(), is_object: false, interface };
        let (contract, items) = contract_of(&layout, &valves(interface.clone())).unwrap();
        assert_eq!(contract.package, "cairn-example-valves-contract");
        assert_eq!(contract.folder, "examples/valves/contract");
        assert_eq!(items.file("Valves"), Some("examples/valves/contract/src/lib.rs"));
        interface.version += 1;
        let error = contract_of(&layout, &valves(interface)).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("which no library of the workspace has at its root"), "{error}");
    }

    #[test]
    fn an_instance_that_is_not_there() {
        let demo = cairn_description::load_from(&paths::files(), "demo", None).unwrap();
        let of = |instance| component_of(&demo, instance);
        let error = of("greter").unwrap_err().to_string();
        assert!(error.contains("no instance `greter`; did you mean `greeter`?"), "{error}");
        assert_eq!(of("shell").unwrap(), "components/apps/shell");
        assert_eq!(of("greeter").unwrap(), "examples/greeter");
        assert_eq!(of("console").unwrap(), "components/drivers/console");
    }
}
