//! The files of which a description consists: those that it extends lie below it.

use crate::document;
use crate::files::Files;
use crate::load::{descriptions, open};
use crate::model::Role;
use crate::names::suggestion;
use crate::place::{Located, Source};
use crate::report::{Error, Report};
use crate::table::{Table, Value};
use crate::tree::{Data, Entry, Node};
use std::sync::Arc;

/// Most files of a description.
const FILES_MAXIMUM: usize = 32;

/// The files of the description at `path` as one tree, each over what it extends.
pub(crate) fn merged(files: &dyn Files, path: &str, report: &mut Report) -> Result<Node, Report> {
    let mut layers = Layers { files, open: Vec::new(), done: Vec::new(), report };
    let top = layers.add(open(files, path)?)?;
    let mut trees = layers.done.into_iter().map(|layer| layer.tree).collect::<Vec<_>>();
    for lower in &mut trees[..top] {
        if let Some(system) = lower.get_mut("system") {
            // Each file has a name of its own.
            system.remove("name");
        }
    }
    let merged = trees.into_iter().reduce(|lower, upper| upper.over(lower));
    Ok(merged.expect("the file at `path` is one"))
}

/// Takes instances out of the files that one extends, and the roles that they have there.
fn leave_out(layers: &mut [Layer], below: &[usize], without: &Entry, report: &mut Report) {
    const EXAMPLE: &str = "without = [\"console\"]";
    let Data::Array(names) = &without.value.data else {
        report.push(Error::new(
            &without.value.place,
            "`without` has the wrong type",
            "expected an array of instances' names",
            format!("write for example: {EXAMPLE}"),
        ));
        return;
    };
    if below.is_empty() {
        report.push(Error::new(
            &without.key,
            "`without` in a description that extends none",
            "expected the key `extends` beside it",
            "remove it, or write for example: extends = \"base\"",
        ));
        return;
    }
    for node in names {
        let Some(name) = node.text("without", EXAMPLE, report) else { continue };
        let mut removed = false;
        for layer in below {
            let tree = &mut layers[*layer].tree;
            let instances = tree.get_mut("instance");
            removed |= instances.is_some_and(|instances| instances.remove(name).is_some());
            let Some(system) = tree.get_mut("system") else { continue };
            for role in Role::ALL.iter().map(|role| role.key()) {
                if system.get(role).and_then(Node::as_text) == Some(name) {
                    system.remove(role);
                }
            }
        }
        if !removed {
            let instances = |layer: &usize| layers[*layer].tree.get("instance")?.entries();
            let known = below.iter().filter_map(instances).flatten();
            let known = known.map(|entry| entry.name.as_str());
            report.push(Error::new(
                &node.place,
                format!("no instance `{name}` to be left out"),
                "expected an instance of a description that this one extends",
                suggestion(name, "they have", known, "remove it"),
            ));
        }
    }
}

struct Layers<'a> {
    files: &'a dyn Files,
    /// Files that extend each other, the last of which is being read.
    open: Vec<String>,
    /// Those that are read, each behind those that it extends.
    done: Vec<Layer>,
    report: &'a mut Report,
}

/// A file that is read.
struct Layer {
    path: String,
    tree: Node,
    /// Those that it extends, and that they extend, as indexes, sorted.
    below: Vec<usize>,
}

impl Layers<'_> {
    /// Reads a file, and before it what it extends and what has not been read yet. Its index.
    fn add(&mut self, source: Arc<Source>) -> Result<usize, Report> {
        let mut report = Report::new();
        let Some(mut tree) = document::parse(&source, &mut report) else { return Err(report) };
        let extended = extended(&tree, &mut report);
        report.into_result(())?;
        self.open.push(source.path().to_owned());
        let mut below = Vec::new();
        for name in extended {
            let path = extended_path(source.path(), &name);
            if self.open.contains(&path) || self.open.len() + self.done.len() >= FILES_MAXIMUM {
                return Err(self.endless(&name, &path).into());
            }
            let layer = match self.done.iter().position(|done| done.path == path) {
                Some(layer) => layer,
                None => self.add(self.find(&name, &path)?)?,
            };
            below.push(layer);
            below.extend(&self.done[layer].below);
        }
        below.sort_unstable();
        below.dedup();
        self.open.pop();
        if let Some(without) = tree.get_mut("system").and_then(|system| system.remove("without")) {
            leave_out(&mut self.done, &below, &without, self.report);
        }
        self.done.push(Layer { path: source.path().to_owned(), tree, below });
        Ok(self.done.len() - 1)
    }

    fn find(&self, name: &Located<String>, path: &str) -> Result<Arc<Source>, Report> {
        if self.files.read(path).is_ok() {
            return open(self.files, path);
        }
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let names = descriptions(self.files, folder);
        Err(Report::from(Error::new(
            &name.place,
            format!("unknown system `{name}`"),
            format!("expected the file `{path}`"),
            suggestion(
                name.rsplit('/').next().unwrap_or(name),
                &format!("`{folder}` has"),
                names.iter().map(String::as_str),
                "write it; \"./NAME\" and \"../NAME\" are found from the folder of this file, others from `systems/`",
            ),
        )))
    }

    fn endless(&self, name: &Located<String>, path: &str) -> Error {
        let circle = self.open.iter().skip_while(|open| *open != path).cloned();
        let circle: Vec<String> = circle.chain([path.to_owned()]).collect();
        Error::new(
            &name.place,
            format!("`{name}` cannot be extended here"),
            match self.open.contains(&circle[0]) {
                true => format!(
                    "expected a description that does not extend itself: {}",
                    circle.join(" extends ")
                ),
                false => format!("expected at most {FILES_MAXIMUM} files of one description"),
            },
            "let one of them stand for itself: leave out `extends` there",
        )
    }
}

/// What a description extends: a name, or a list.
fn extended(tree: &Node, report: &mut Report) -> Vec<Located<String>> {
    let read = |report: &mut Report| {
        let mut top = Table::top(tree, "the system description");
        paths(&top.take("system")?.as_table("`[system]`")?.take("extends")?, report)
    };
    read(report).unwrap_or_default()
}

/// What is written in `extends`.
pub(crate) fn paths(extends: &Value<'_>, report: &mut Report) -> Option<Vec<Located<String>>> {
    if !extends.is_array() {
        return Some(vec![path(extends, report)?]);
    }
    let all = extends.array("[\"base\"]", report)?;
    let read: Vec<_> = all.iter().map(|one| path(one, report)).collect();
    read.into_iter().collect()
}

fn path(value: &Value<'_>, report: &mut Report) -> Option<Located<String>> {
    let text = value.text("base", report)?;
    let part = |part: &str| part == ".." || part == "." || crate::names::is_path(part);
    if text.split('/').all(part) && text.rsplit('/').next() != Some("..") {
        return Some(text);
    }
    value.invalid(
        "expected a description in `systems/`, or one found from the folder of this file",
        "write for example \"base\" or \"../NAME\"",
        report,
    );
    None
}

/// The path of a description that the one at `file` extends: one below `systems/`, or found from the folder of `file` if
/// it begins with a dot.
fn extended_path(file: &str, name: &str) -> String {
    let path = format!("{}.toml", name.strip_suffix(".toml").unwrap_or(name));
    if !name.starts_with('.') {
        return format!("systems/{path}");
    }
    beside(file, &path)
}

/// The path of what a file calls so from its own folder.
pub(crate) fn beside(file: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !last.is_empty()) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::extended_path;

    #[test]
    fn paths_begin_in_the_folder_of_the_file() {
        let path = |name| extended_path("tests/hello/hello.toml", name);
        assert_eq!(path("demo"), "systems/demo.toml");
        assert_eq!(path("./other"), "tests/hello/other.toml");
        assert_eq!(path("./parts/other.toml"), "tests/hello/parts/other.toml");
        assert_eq!(path("parts/core"), "systems/parts/core.toml");
        assert_eq!(path("../../systems/base"), "systems/base.toml");
        assert_eq!(path("../../../other"), "../other.toml");
        assert_eq!(extended_path("/home/a/systems/x.toml", "../base"), "/home/a/base.toml");
    }
}
