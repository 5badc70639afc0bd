//! Bad descriptions with the exact report that each must give, and good ones that must load.
//!
//! `BLESS=1 cargo test -p cairn-description` writes the reports anew; look at the difference.

use crate::common::{Tree, check, check_any, descriptions};
use cairn_description::{Files, load_from};
use std::io;

/// A product over the files of Cairn's.
struct Product(Tree);

impl Files for Product {
    fn read(&self, path: &str) -> io::Result<String> {
        self.0.read(path)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.0.list(folder)
    }

    fn is_component(&self, folder: &str) -> bool {
        self.0.is_component(folder)
    }

    fn content_size(&self, path: &str) -> io::Result<Option<u64>> {
        self.0.content_size(path)
    }

    fn is_foreign(&self, path: &str) -> bool {
        path != self.0.path
    }
}

#[test]
fn an_error_says_which_files_are_cairns() {
    let errors = |rest: &str| {
        let text = format!("[system]\nname = 'own'\nextends = './hello.toml'\n{rest}\n");
        let product = Product(Tree::new("good/own.toml", &text));
        load_from(&product, "good/own.toml", None).unwrap_err().to_string()
    };
    let foreign = "= note: not yours, but of Cairn's tree: `good/hello.toml`; write your own value";
    let text = errors("supervisor = 'hello'\n[instance.hello]\npriority = 3");
    assert!(text.contains(foreign), "{text}");
    let text = errors("supervisor = 'helo'");
    assert!(!text.contains("Cairn's tree"), "{text}");
}

#[test]
fn every_bad_description_gives_its_report() {
    let bless = std::env::var_os("BLESS").is_some();
    let paths = descriptions("bad");
    assert!(paths.len() >= 60, "only {} bad descriptions", paths.len());
    let mut failures = Vec::new();
    for path in &paths {
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let text = std::fs::read_to_string(path).expect("readable");
        let report = match check_any(&format!("bad/{name}"), &text) {
            Ok(()) => {
                failures.push(format!("{name}: nothing is found wrong"));
                continue;
            }
            Err(report) => report,
        };
        for error in report.errors() {
            let parts = [&error.message, &error.label, &error.help];
            assert!(parts.iter().all(|part| !part.is_empty()), "{name}: {error:?}");
        }
        let rendered = report.to_string();
        assert!(!rendered.contains('\x1b'), "{name}: colour in plain text");
        let expected_path = path.with_extension("expected");
        if bless {
            std::fs::write(&expected_path, &rendered).expect("writable");
            continue;
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if rendered != expected {
            failures.push(format!("{name}:\n--- expected\n{expected}\n--- found\n{rendered}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_report_belongs_to_a_description() {
    for entry in std::fs::read_dir(crate::common::folder().join("bad")).expect("the folder exists")
    {
        let path = entry.expect("readable").path();
        assert!(path.with_extension("toml").exists(), "{} is left over", path.display());
    }
}

#[test]
fn every_good_description_loads() {
    let paths = descriptions("good");
    assert!(paths.len() >= 15, "only {} good descriptions", paths.len());
    for path in &paths {
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let text = std::fs::read_to_string(path).expect("readable");
        if let Err(report) = check(&format!("good/{name}"), &text) {
            panic!("{name}:\n{report}");
        }
    }
}
