//! What packages become.

use crate::common::{check, folder};
use cairn_abi::InstanceId;
use cairn_description::arguments::Value;
use cairn_description::model::{Package, Restart, System};

#[test]
fn packages_are_those_with_a_table_and_those_of_the_shelf() {
    let path = "good/packages.toml";
    let text = std::fs::read_to_string(folder().join(path)).expect("readable");
    let (system, connected) = check(path, &text).unwrap_or_else(|report| panic!("{report}"));
    let names: Vec<&str> = system.packages.iter().map(|one| one.instance.name.as_str()).collect();
    assert_eq!(names, ["relay", "file", "plain", "echo"]);
    let shelf: Vec<usize> = system.shelf().map(|(place, _)| place).collect();
    assert_eq!(shelf, [0, 2, 3]);
    let [relay, file, plain, echo] = system.packages.as_slice() else { panic!() };
    assert_eq!((*relay.instance.memory, *relay.instance.children), (128 << 10, 3));
    assert_eq!((relay.instance.number, relay.instance.role), (InstanceId(0), None));
    assert_eq!((relay.instance.stacks.count, file.instance.stacks.count), (4, 2));
    assert_eq!(relay.exports[0].policy, "loader");
    assert_eq!([relay, file, plain, echo].map(|one| one.has_defaults), [false, false, true, true]);
    assert_eq!(*system.instances[system.instance("loader").unwrap()].children, 200);
    assert_eq!(*system.instances[0].children, 0);
    let [of_relay, of_file, ..] = connected.packages.as_slice() else { panic!() };
    assert_eq!(of_relay.imports, [Some(("echo".to_owned(), "echo".to_owned()))]);
    assert_eq!((of_relay.exports.as_slice(), of_file.arguments.len()), (&[Some(0)][..], 9));
    assert_eq!(of_file.arguments[4], Value::Text("A title".into()));
}

/// The packages that replace an instance, by that.
fn successor<'a>(system: &'a System, name: &str) -> &'a Package {
    let found = |package: &&Package| *package.instance.name == name;
    system.packages.iter().find(found).unwrap_or_else(|| panic!("no package {name}"))
}

#[test]
fn a_successor_has_what_its_instance_has_and_a_package_can() {
    let path = "good/successors.toml";
    let text = std::fs::read_to_string(folder().join(path)).expect("readable");
    let (mut system, connected) = check(path, &text).unwrap_or_else(|report| panic!("{report}"));
    let of = |name: &str| system.instance(name).unwrap();
    for (name, replaced) in [
        ("server2", "server"),
        ("console2", "console"),
        ("relay2", "relay"),
        ("client2", "client-2"),
        ("given2", "given"),
        ("given3", "given"),
    ] {
        let replaces = successor(&system, name).replaces.as_ref().map(|index| index.value);
        assert_eq!(replaces, Some(of(replaced)), "{name}");
    }
    let console = &successor(&system, "console2").instance;
    assert_eq!(console.folder, "components/drivers/console");
    assert_eq!((*console.memory, *console.stack, *console.priority), (128 << 10, 24 << 10, 200));
    assert_eq!((*console.semaphores, *console.restart), (3, Restart::OnFault));
    // What only the layout gives is the instance's alone.
    assert!(console.devices.is_empty() && console.sections.is_empty() && !*console.trusted);
    let export = &successor(&system, "console2").exports[0];
    assert_eq!((export.policy.as_str(), export.open.is_none()), ("", true));
    assert_eq!(export.longest_call.as_deref(), Some(&1_000_000_000));
    // What it says itself comes before its template, and that before the instance.
    let relay = &successor(&system, "relay2").instance;
    assert_eq!(relay.folder, "components/apps/relay");
    assert_eq!((*relay.heap, *relay.memory), (16 << 10, 64 << 10));
    assert_eq!((relay.stacks.count, relay.stacks.size), (3, 8 << 10));
    let server = &successor(&system, "server2").instance;
    assert_eq!((*server.names, *system.instances[of("server")].names), (0, 3));
    let client = &successor(&system, "client2").instance;
    assert_eq!((client.argument.as_str(), *client.memory), ("2", 32 << 10));
    // All at once of what grows.
    let given = &successor(&system, "given3").instance;
    assert_eq!((*given.stack, *given.stack_limit), (32 << 10, 0));
    let connected = |name: &str| {
        let place = system.packages.iter().position(|one| *one.instance.name == name).unwrap();
        &connected.packages[place]
    };
    let server = |name: &str| Some((name.to_owned(), "echo".to_owned()));
    assert_eq!(connected("relay2").imports, [server("echo")]);
    assert_eq!(connected("client2").imports, [server("relay")]);
    assert!(connected("given2").arguments.is_empty());
    assert_eq!(connected("given3").arguments[0], Value::Word(4));
    assert_eq!(connected("given3").arguments[4], Value::Text("A title".into()));
    // Who is replaced stays where that is possible.
    let (console, keeper) = (of("console"), of("keeper"));
    system.place_in_kernel(|_| true);
    assert!(!system.instances[console].is_in_kernel() && system.instances[keeper].is_in_kernel());
}
