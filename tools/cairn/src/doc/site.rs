//! Documents as pages that a browser reads without a server.

use super::pages::{Document, options};
use crate::paths;
use anyhow::{Context, Result};
use pulldown_cmark::{CowStr, Event, Parser, Tag, html};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The table of contents, which stands beside every page.
pub const SUMMARY: &str = "docs/SUMMARY.md";
/// The first page.
pub const FIRST: &str = "README.md";

const STYLE: &str = include_str!("style.css");

/// A tree whose documents become pages.
pub struct Site<'a> {
    /// The tree.
    pub root: &'a Path,
    /// Its documents.
    pub documents: &'a BTreeMap<String, Document>,
    /// Where the pages go.
    pub output: &'a Path,
    /// What else the reader is led to: a title, and an address from the first page.
    pub further: Vec<(String, String)>,
    /// Another tree, and where its pages are from the first page.
    pub other: Option<(&'a Path, &'a str)>,
}

/// Where a link leads.
enum Place {
    /// To a page of this site, by its file's path.
    Own(String),
    /// To one of the other's, by its file's path there.
    Other(String),
    /// Nobody makes a page of it.
    None,
}

/// The address of a file's page, from the first page.
fn address(file: &str) -> String {
    match file.rsplit_once('.') {
        None if file.is_empty() => "index.html".to_owned(),
        Some((start, "md")) => format!("{start}.html"),
        Some((_, "svg" | "png" | "jpg")) => file.to_owned(),
        _ => format!("{file}.html"),
    }
}

/// From the page of a file back to the first page.
fn up(file: &str) -> String {
    "../".repeat(file.matches('/').count())
}

impl Site<'_> {
    /// Writes a page for each document in `docs`, each of `also`, and each file that a page leads to. Returns the files of the
    /// other tree that one leads to.
    pub fn write(&self, also: &BTreeSet<String>) -> Result<BTreeSet<String>> {
        let is_first = |path: &&String| path.starts_with("docs/") || *path == FIRST;
        let first = self.documents.keys().filter(is_first);
        let mut left: Vec<String> = first.chain(also).cloned().collect();
        let mut others = BTreeSet::new();
        let mut seen: BTreeSet<String> = left.iter().cloned().collect();
        while let Some(path) = left.pop() {
            let page = self.output.join(address(&path));
            let folder = page.parent().expect("a file is in a folder");
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            let Some(document) = self.documents.get(&path) else {
                self.write_file(&path, &page)?;
                continue;
            };
            for link in document.links() {
                match self.place(link.file) {
                    Place::Own(file) => left.extend(seen.insert(file.clone()).then_some(file)),
                    Place::Other(file) if !file.is_empty() => others.extend([file]),
                    Place::Other(_) | Place::None => {}
                }
            }
            let text = self.page(document.title(), &path, &self.render(document, &path, true));
            write(&page, &text)?;
        }
        let first = match self.documents.get(FIRST) {
            Some(first) => self.render(first, FIRST, true),
            None => String::new(),
        };
        write(&self.output.join("index.html"), &self.page("Contents", FIRST, &first))?;
        Ok(others)
    }

    /// Where a file is that a document of this tree leads to.
    fn place(&self, file: String) -> Place {
        if !file.starts_with("..") && !file.starts_with('/') {
            return Place::Own(file);
        }
        let real = paths::real(&self.root.join(file));
        let below = self.other.and_then(|(tree, _)| real.strip_prefix(tree).ok());
        below.map_or(Place::None, |below| Place::Other(below.display().to_string()))
    }

    /// A page of what is no document: pictures as they are, of others their text, of folders what is in them.
    fn write_file(&self, path: &str, page: &Path) -> Result<()> {
        let file = self.root.join(path);
        let shown = || format!("cannot read {}", paths::shown(&file));
        if page.ends_with(path) {
            fs::copy(&file, page).with_context(shown)?;
            return Ok(());
        }
        let text = if file.is_dir() {
            let names = fs::read_dir(&file).with_context(shown)?.flatten();
            let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("\n")
        } else {
            String::from_utf8_lossy(&fs::read(&file).with_context(shown)?).into_owned()
        };
        let content = format!("<h1>{}</h1>\n<pre>{}</pre>", escaped(path), escaped(&text));
        write(page, &self.page(path, path, &content))
    }

    /// A whole page with the contents beside it.
    fn page(&self, title: &str, path: &str, content: &str) -> String {
        let up = up(path);
        let mut beside = String::new();
        for (title, address) in &self.further {
            beside += &format!("<li><a href=\"{up}{address}\">{}</a></li>\n", escaped(title));
        }
        let contents = self.documents.get(SUMMARY);
        let contents = contents.map_or(String::new(), |summary| self.render(summary, path, false));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n<nav>\n<a href=\"{up}index.html\">First page</a>\n{contents}<ul>\n{beside}</ul>\n</nav>\n\
             <main>\n{content}\n</main>\n</body>\n</html>\n",
            escaped(title),
        )
    }

    /// A document's content for the page of a file, which may be another's; its headings can be led to if it is its own.
    fn render(&self, document: &Document, page: &str, has_anchors: bool) -> String {
        let up = up(page);
        let mut anchors = document.anchors().into_iter();
        let led = |link: CowStr<'static>| match document.target(&link) {
            Some((file, anchor)) => {
                let (below, file) = match (self.place(file), self.other) {
                    (Place::Own(file), _) => ("", file),
                    (Place::Other(file), Some((_, below))) => (below, file),
                    _ => return link,
                };
                let anchor = anchor.map_or(String::new(), |anchor| format!("#{anchor}"));
                format!("{up}{below}{}{anchor}", address(&file)).into()
            }
            None => link,
        };
        let events = Parser::new_ext(&document.text, options()).map(|event| match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let id = anchors.next().filter(|_| has_anchors).map(CowStr::from);
                Event::Start(Tag::Heading { level, id, classes, attrs })
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => Event::Start(Tag::Link {
                link_type,
                dest_url: led(dest_url.into_static()),
                title,
                id,
            }),
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                Event::Start(Tag::Image {
                    link_type,
                    dest_url: led(dest_url.into_static()),
                    title,
                    id,
                })
            }
            other => other,
        });
        let mut content = String::new();
        html::push_html(&mut content, events);
        content
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
