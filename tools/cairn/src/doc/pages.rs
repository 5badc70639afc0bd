//! The documents of a tree: their headings, and where their links lead.

use crate::paths;
use anyhow::{Context, Result};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders with what was built, and with what other people wrote.
const OF_OTHERS: [&str; 2] = ["target", "vendor"];

/// A document.
pub struct Document {
    /// Its path from the tree's root.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// A link to a file.
pub struct Link {
    /// The line that it is in.
    pub line: usize,
    /// The file or folder, from the tree's root, out of which it may lead.
    pub file: String,
    /// The heading.
    pub anchor: Option<String>,
}

/// What is understood beside CommonMark.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES
}

/// The documents of the tree in a folder, by their paths.
pub fn documents(root: &Path) -> Result<BTreeMap<String, Document>> {
    let mut documents = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .with_context(|| format!("cannot read {}", paths::shown(&folder)))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() && !path.is_symlink() {
                let is_other_tree = path.join(".git").exists();
                let is_own = !name.starts_with('.') && !OF_OTHERS.contains(&name) && !is_other_tree;
                folders.extend(is_own.then_some(path));
            } else if name.ends_with(".md") {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", paths::shown(&path)))?;
                let path = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                documents.insert(path.clone(), Document { path, text });
            }
        }
    }
    Ok(documents)
}

impl Document {
    /// The names of its headings in links, in order, as GitHub makes them.
    pub fn anchors(&self) -> Vec<String> {
        let (mut anchors, mut title) = (Vec::new(), None::<String>);
        let mut known = BTreeMap::<String, usize>::new();
        for event in Parser::new_ext(&self.text, options()) {
            match (event, &mut title) {
                (Event::Start(Tag::Heading { .. }), _) => title = Some(String::new()),
                (Event::Text(text) | Event::Code(text), Some(title)) => title.push_str(&text),
                (Event::End(TagEnd::Heading(_)), _) => {
                    let anchor = anchor(&title.take().unwrap_or_default());
                    let before = known.entry(anchor.clone()).or_default();
                    anchors.push(match before {
                        0 => anchor,
                        _ => format!("{anchor}-{before}"),
                    });
                    *before += 1;
                }
                _ => {}
            }
        }
        anchors
    }

    /// Its first heading, or its path.
    pub fn title(&self) -> &str {
        let heading = self.text.lines().find_map(|line| line.strip_prefix("# "));
        heading.unwrap_or(&self.path)
    }

    /// Its links to files.
    pub fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (event, range) in Parser::new_ext(&self.text, options()).into_offset_iter() {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            else {
                continue;
            };
            if let Some((file, anchor)) = self.target(&dest_url) {
                let line = self.text[..range.start].matches('\n').count() + 1;
                links.push(Link { line, file, anchor });
            }
        }
        links
    }

    /// The file and the heading of a link of this document's; none if it is no link to a file.
    pub(super) fn target(&self, link: &str) -> Option<(String, Option<String>)> {
        if link.contains("://") || link.starts_with("mailto:") {
            return None;
        }
        let (file, anchor) = match link.split_once('#') {
            Some((file, anchor)) => (file, Some(anchor.to_owned())),
            None => (link, None),
        };
        let folder = Path::new(&self.path).parent().unwrap_or(Path::new(""));
        let file = match file {
            "" => self.path.clone(),
            file => plain(&folder.join(file)).display().to_string(),
        };
        Some((file, anchor))
    }
}

fn anchor(title: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
    title.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// `path` without `.`, and without `..` but at its beginning, which leads out of the tree.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, component| {
        match component {
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
        plain
    })
}

/// What links of documents lead nowhere, each with file and line.
pub fn dead_links(root: &Path, documents: &BTreeMap<String, Document>) -> Vec<String> {
    let mut dead = Vec::new();
    for document in documents.values() {
        for Link { line, file, anchor } in document.links() {
            let place = format!("{}:{line}", paths::shown(&root.join(&document.path)));
            let target = documents.get(&file);
            if target.is_none() && !root.join(&file).exists() {
                dead.push(format!("{place}: there is no {file}"));
            } else if let (Some(target), Some(anchor)) = (target, anchor) {
                let anchors: BTreeSet<String> = target.anchors().into_iter().collect();
                if !anchors.contains(&anchor) {
                    let near = anchors.iter().filter(|one| strsim::jaro(one, &anchor) > 0.7);
                    let near = near.map(|one| format!(", did you mean `{one}`?")).next();
                    let near = near.unwrap_or_default();
                    dead.push(format!("{place}: {file} has no heading `{anchor}`{near}"));
                }
            }
        }
    }
    dead
}
