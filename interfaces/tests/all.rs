//! The list of all interfaces has every interface.

use cairn_interfaces::ALL;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_interface_is_in_the_list() {
    let mut written = BTreeSet::new();
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for after in text.split("#[cairn::interface]").skip(1) {
            let (_, name) = after.split_once("pub trait ").expect("the mark stands before a trait");
            let end = name.find(|one: char| !one.is_alphanumeric()).unwrap();
            written.insert(name[..end].to_owned());
        }
    }
    let listed =
        ALL.iter().map(|interface| cairn::abi::descriptor::name_text(&interface.name).to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), written, "add what is missing to src/all.rs");
}
