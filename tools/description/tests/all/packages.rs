//! What packages become.

use crate::common::{check, folder};
use cairn_abi::InstanceId;
use cairn_description::arguments::Value;

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
    assert_eq!(relay.exports[0].policy, "loader file");
    assert_eq!([relay, file, plain, echo].map(|one| one.has_defaults), [false, false, true, true]);
    assert_eq!(*system.instances[system.instance("loader").unwrap()].children, 200);
    assert_eq!(*system.instances[0].children, 0);
    let [of_relay, of_file, ..] = connected.packages.as_slice() else { panic!() };
    assert_eq!(of_relay.imports, [Some(("echo".to_owned(), "echo".to_owned()))]);
    assert_eq!((of_relay.exports.as_slice(), of_file.arguments.len()), (&[Some(0)][..], 8));
    assert_eq!(of_file.arguments[4], Value::Text("A title".into()));
}
