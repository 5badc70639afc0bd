//! The files of which a description consists: those that it extends lie below it.

use crate::document;
use crate::files::Files;
use crate::load::{descriptions, open};
use crate::model::Role;
use crate::names::suggestion;
use crate::place::{Located, Source};
use crate::report::{Error, Report};
use crate::table::{Table, Value};
use crate::tree::{Data, Node};
use std::sync::Arc;

/// Most files of a description.
const FILES_MAXIMUM: usize = 32;

/// The files of the description at `path` as trees, the lowest first: what each extends lies below it, once.
pub(crate) fn layers(files: &dyn Files, path: &str) -> Result<Vec<Node>, Report> {
    let mut layers = Layers { files, open: Vec::new(), done: Vec::new() };
    layers.add(open(files, path)?)?;
    Ok(layers.done.into_iter().map(|(_, tree)| tree).collect())
}

/// One tree of files that lie over each other, the lowest first.
pub(crate) fn merged(layers: Vec<Node>, report: &mut Report) -> Option<Node> {
    layers.into_iter().reduce(|mut lower, mut upper| {
        if let Some(system) = lower.get_mut("system") {
            // Each file has a name of its own.
            system.remove("name");
        }
        if let Some(without) = upper.get_mut("system").and_then(|system| system.remove("without")) {
            leave_out(&mut lower, &without.value, report);
        }
        upper.over(lower)
    })
}

/// Takes instances out of a tree, and the roles that they have there.
fn leave_out(lower: &mut Node, without: &Node, report: &mut Report) {
    let Data::Array(names) = &without.data else {
        report.push(Error::new(
            &without.place,
            "`without` has the wrong type",
            "expected an array of instances' names",
            "write for example: without = [\"console\"]",
        ));
        return;
    };
    for node in names {
        let Some(name) = node.text("without", "without = [\"console\"]", report) else { continue };
        let removed = lower.get_mut("instance").and_then(|instances| instances.remove(name));
        if removed.is_none() {
            let known = lower.get("instance").and_then(Node::entries).unwrap_or_default();
            let known = known.iter().map(|entry| entry.name.as_str());
            report.push(Error::new(
                &node.place,
                format!("no instance `{name}` to be left out"),
                "expected an instance of a description that this one extends",
                suggestion(name, "they have", known, "remove it"),
            ));
        }
        if let Some(system) = lower.get_mut("system") {
            for role in Role::ALL.iter().map(|role| role.key()) {
                if system.get(role).and_then(Node::as_text) == Some(name) {
                    system.remove(role);
                }
            }
        }
    }
}

struct Layers<'a> {
    files: &'a dyn Files,
    /// Files that extend each other, the last of which is being read.
    open: Vec<String>,
    /// Those that are read, with their paths.
    done: Vec<(String, Node)>,
}

impl Layers<'_> {
    fn add(&mut self, source: Arc<Source>) -> Result<(), Report> {
        let mut report = Report::new();
        let Some(tree) = document::parse(&source, &mut report) else { return Err(report) };
        let extended = extended(&tree, &mut report);
        report.into_result(())?;
        self.open.push(source.path().to_owned());
        for name in extended {
            let path = extended_path(source.path(), &name);
            if self.open.contains(&path) || self.open.len() + self.done.len() >= FILES_MAXIMUM {
                return Err(self.endless(&name, &path).into());
            }
            if !self.done.iter().any(|(done, _)| *done == path) {
                let below = self.find(&name, &path)?;
                self.add(below)?;
            }
        }
        self.open.pop();
        self.done.push((source.path().to_owned(), tree));
        Ok(())
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
                &format!(
                    "write it; \"./NAME\" and \"../NAME\" are found from the folder of this file, others from `systems/`"
                ),
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
        let extends = top.take("system")?.as_table("`[system]`")?.take("extends")?;
        match extends.is_array() {
            true => {
                let all = extends.array("[\"base\"]", report)?;
                let read: Vec<_> = all.iter().map(|one| path(one, report)).collect();
                read.into_iter().collect()
            }
            false => Some(vec![path(&extends, report)?]),
        }
    };
    read(report).unwrap_or_default()
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
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
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
