//! What sections begin with, and how large they are.

use crate::common::{check, folder};
use cairn_abi::address::SECTION_MAXIMUM;
use cairn_description::Report;
use cairn_description::model::System;

fn system(changed: &[(&str, &str)]) -> Result<System, Report> {
    let mut text = std::fs::read_to_string(folder().join("good/contents.toml")).expect("readable");
    for (old, new) in changed {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    Ok(check("good/contents.toml", &text)?.0)
}

#[test]
fn a_section_is_as_large_as_its_content_or_as_is_said() {
    let system = system(&[]).unwrap_or_else(|report| panic!("{report}"));
    let found: Vec<(&str, u64, Option<&str>)> = system
        .sections
        .iter()
        .map(|one| (one.name.as_str(), *one.size, one.content.as_ref().map(|path| path.as_str())))
        .collect();
    let expected = [
        ("text-1", 4096, Some("good/contents/1.txt")),
        ("text-2", 4096, Some("good/contents/2.txt")),
        ("root", 8192, Some("good/contents")),
        ("kept", 65536, Some("good/contents/1.txt")),
    ];
    assert_eq!(found, expected);
    let root = &system.sections[2];
    assert!(root.too_small(8192).is_none());
    let report = Report::from(root.too_small(8193).expect("it is")).to_string();
    for expected in ["good/contents.toml:", "expected at least 12K: `good/contents` has 8193 bytes"]
    {
        assert!(report.contains(expected), "expected `{expected}` in\n{report}");
    }
}

#[test]
fn a_content_is_found_from_where_its_line_stands() {
    let root = folder().join("good/contents").display().to_string();
    let moved = [("content = \"contents\"", &*format!("content = {root:?}"))];
    let system = system(&moved).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(system.sections[2].content.as_ref().map(|path| path.as_str()), Some(&*root));
    let text = "[system]\nname = 'over'\nextends = '../good/contents'\n";
    let (system, _) = check("systems/over.toml", text).unwrap_or_else(|report| panic!("{report}"));
    let content = system.sections[2].content.as_ref().map(|path| path.as_str());
    assert_eq!(content, Some("good/contents"), "of the file that it extends");
}

#[test]
fn a_content_can_be_as_large_as_a_section() {
    let file = std::env::temp_dir().join(format!("cairn-large-{}", std::process::id()));
    let load = |size: u64| {
        std::fs::File::create(&file).and_then(|file| file.set_len(size)).expect("room");
        let path = format!("content = {:?}", file.display().to_string());
        system(&[("content = \"contents\"", &*path), ("board = \"virtio\"", "board = \"large\"")])
    };
    assert_eq!(*load(SECTION_MAXIMUM).unwrap().sections[2].size, SECTION_MAXIMUM);
    let report = load(SECTION_MAXIMUM + 1).unwrap_err().to_string();
    std::fs::remove_file(&file).expect("it is there");
    assert!(report.contains("expected at most 16M, `") && report.contains("16777217"), "{report}");
}
