//! What the documents say of files is so: the book is complete, links lead somewhere, descriptions pass
//! the checker, code that names the file it comes from is in that file, tests that are named are there, and
//! files have no more lines than it says.
#![forbid(unsafe_code)]

use cairn_description::{Disk, Files, components, load_from};
use cairn_tool::doc::pages;
use cairn_tool::paths;
use regex::Regex;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// A document: its path from the root, and its lines.
struct Document {
    path: String,
    lines: Vec<String>,
}

/// A block of code: the number of its first line, its language, its lines.
struct Block {
    line: usize,
    language: String,
    lines: Vec<String>,
}

fn documents() -> Vec<Document> {
    let documents = pages::documents(&paths::source()).expect("readable").into_values();
    let documents: Vec<Document> = documents
        .map(|pages::Document { path, text }| {
            let lines = text.lines().map(str::to_owned).collect();
            Document { path, lines }
        })
        .collect();
    assert!(documents.len() > 20, "only {} documents", documents.len());
    documents
}

impl Document {
    /// Its text without blocks of code, and these.
    fn parts(&self) -> (Vec<(usize, &str)>, Vec<Block>) {
        let (mut text, mut blocks) = (Vec::new(), Vec::new());
        let mut inside: Option<Block> = None;
        for (number, line) in (1..).zip(&self.lines) {
            let fence = line.trim_start().strip_prefix("```");
            match (fence, &mut inside) {
                (Some(language), None) => {
                    let language = language.to_owned();
                    inside = Some(Block { line: number + 1, language, lines: Vec::new() });
                }
                (Some(_), Some(_)) => blocks.extend(inside.take()),
                (None, Some(block)) => block.lines.push(line.clone()),
                (None, None) => text.push((number, line.as_str())),
            }
        }
        assert!(inside.is_none(), "{}: a block of code does not end", self.path);
        (text, blocks)
    }
}

#[test]
fn links_lead_somewhere() {
    let root = paths::source();
    let documents = pages::documents(&root).unwrap();
    let dead = pages::dead_links(&root, &documents);
    assert!(dead.is_empty(), "{}", dead.join("\n"));
    let count: usize = documents.values().map(|document| document.links().len()).sum();
    assert!(count > 30, "only {count} links were found");
}

#[test]
fn every_page_is_in_the_book() {
    let documents = documents();
    let summary = &pages::documents(&paths::source()).unwrap()["docs/SUMMARY.md"];
    let listed: Vec<String> = summary.links().into_iter().map(|link| link.file).collect();
    for document in &documents {
        let is_page = document.path.starts_with("docs/") && document.path != summary.path;
        let count = listed.iter().filter(|file| **file == document.path).count();
        assert!(
            !is_page || count == 1,
            "{} is in docs/SUMMARY.md {count} times: add a line for it, once",
            document.path
        );
    }
}

/// The repository with one more system.
struct WithSystem {
    disk: Disk,
    path: String,
    text: String,
}

impl Files for WithSystem {
    fn read(&self, path: &str) -> io::Result<String> {
        if path == self.path { Ok(self.text.clone()) } else { self.disk.read(path) }
    }
    fn list(&self, folder: &str) -> Vec<String> {
        self.disk.list(folder)
    }
    fn content_size(&self, path: &str) -> io::Result<Option<u64>> {
        self.disk.content_size(path)
    }

    fn is_component(&self, folder: &str) -> bool {
        self.disk.is_component(folder)
    }
}

/// A block is a whole description if it has the table `[system]`.
#[test]
fn descriptions_pass_the_checker() {
    let mut count = 0;
    for document in documents() {
        for block in document.parts().1 {
            if !block.language.starts_with("toml")
                || !block.lines.iter().any(|line| line == "[system]")
            {
                continue;
            }
            count += 1;
            let place = format!("{}:{}", document.path, block.line);
            let text = block.lines.join("\n") + "\n";
            let table: toml::Table =
                text.parse().unwrap_or_else(|error| panic!("{place}: {error}"));
            let name = table["system"]["name"].as_str().expect("a name").to_owned();
            // A description that extends another has what is different only.
            let instances = table.get("instance").and_then(|table| table.as_table());
            for (instance, keys) in instances.into_iter().flatten() {
                let component = keys.get("component").and_then(|key| key.as_str());
                let Some(component) = component else { continue };
                let found = components::folder(&paths::files(), component);
                assert!(
                    found.is_ok(),
                    "{place}: `{instance}` runs {component}, which is not there"
                );
            }
            let files =
                WithSystem { disk: paths::files(), path: format!("systems/{name}.toml"), text };
            if let Err(report) = load_from(&files, &name, None) {
                panic!("{place}:\n{report}");
            }
        }
    }
    assert!(count > 0, "no document has an example of a description");
}

/// The file that a block's first line names, in a comment of its own: `// components/system/clock/src/main.rs`.
fn source(block: &Block) -> Option<&str> {
    let line = block.lines.first()?.trim();
    let marks = ["//", "#", "/*"];
    let comment = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
    let name = comment.trim_end_matches("*/").trim();
    let is_path = name.contains('/') && name.contains('.') && !name.contains([' ', ':']);
    is_path.then_some(name)
}

/// Such a block is pieces of that file, in any order; between two stands a comment with three dots. How far
/// lines are indented does not count.
#[test]
fn code_is_in_the_file_that_it_names() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for document in documents() {
        for block in document.parts().1 {
            let Some(name) = source(&block) else { continue };
            count += 1;
            let place = format!("{}:{}", document.path, block.line);
            let Ok(file) = std::fs::read_to_string(paths::source().join(name)) else {
                wrong.push(format!("{place}: there is no {name}"));
                continue;
            };
            let file: Vec<&str> = file.lines().map(str::trim).collect();
            let is_gap =
                |line: &String| ["// ...", "# ...", "/* ... */", "..."].contains(&line.trim());
            for piece in block.lines[1..].split(is_gap) {
                let piece: Vec<&str> = piece.iter().map(|line| line.trim()).collect();
                let piece = match piece.split_first() {
                    Some((&"", rest)) => rest,
                    _ => &piece[..],
                };
                let piece = match piece.split_last() {
                    Some((&"", rest)) => rest,
                    _ => piece,
                };
                if !piece.is_empty() && !file.windows(piece.len()).any(|lines| lines == piece) {
                    wrong.push(format!("{place}: {name} has no longer\n{}", piece.join("\n")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 10, "only {count} blocks name their file");
}

/// The Rust files of a folder and of those below it, and their texts.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() && file != "target" && !file.starts_with('.') {
            sources(&path, found);
        } else if file.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

#[test]
fn files_have_less_than_500_lines() {
    let mut files = Vec::new();
    sources(&paths::source(), &mut files);
    files.retain(|(_, text)| text.lines().count() >= 500);
    let long: Vec<_> = files.iter().map(|(path, _)| path).collect();
    assert!(long.is_empty(), "{long:?}");
}

/// What holds an invariant is named by a sentence; a test that was renamed holds nothing there.
#[test]
fn tests_that_invariants_name_are_there() {
    let mut files = Vec::new();
    sources(&paths::source(), &mut files);
    let function = Regex::new(r"fn (\w+)").unwrap();
    let there: BTreeSet<&str> = files
        .iter()
        .flat_map(|(_, text)| function.captures_iter(text))
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    let text = std::fs::read_to_string(paths::source().join("docs/invariants.md")).unwrap();
    let sentence = Regex::new("`([a-z0-9]+(?:_[a-z0-9]+){3,})`").unwrap();
    let named: BTreeSet<&str> =
        sentence.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(named.len() > 10, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !there.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A table that a reader takes for all there is has a row for each.
#[test]
fn tables_of_commands_and_methods_are_complete() {
    let page = |path: &str| std::fs::read_to_string(paths::source().join(path)).unwrap();
    let missing = |page: &str, names: &[String]| -> Vec<String> {
        let is_there = |name: &str| {
            page.lines().any(|line| {
                line.starts_with("| `")
                    && line
                        .split('`')
                        .skip(1)
                        .step_by(2)
                        .any(|code| code.split([' ', '(']).next() == Some(name))
            })
        };
        names.iter().filter(|name| !is_there(name)).cloned().collect()
    };
    let commands = page("components/apps/shell/src/commands.rs");
    let commands: Vec<String> = Regex::new(r#"(?m)^        name: "(\w+)""#)
        .unwrap()
        .captures_iter(&commands)
        .map(|found| found[1].to_owned())
        .collect();
    assert!(commands.len() > 10, "{commands:?}");
    let none: [String; 0] = [];
    assert_eq!(missing(&page("docs/reference/shell.md"), &commands), none, "commands");

    let supervisor = cairn_tool::interfaces::own("Supervisor").unwrap().interface;
    let methods: Vec<String> =
        supervisor.methods.iter().map(|method| method.name.clone()).collect();
    assert_eq!(missing(&page("docs/components.md"), &methods), none, "methods of `Supervisor`");
    assert_eq!(missing("| `ps`, `mem(x)` |", &["ps".into(), "mem".into()]), none);
    assert_eq!(missing("`ps`\n| `other ps` |", &["ps".into()]), ["ps"]);
}
