//! From files to a checked system.

use crate::board::{Board, Emulation};
use crate::check;
use crate::components;
use crate::draft::{self, Draft};
use crate::expand;
use crate::extend;
use crate::files::{Disk, Files};
use crate::model::System;
use crate::moves;
use crate::names::{list, nearest, suggestion};
use crate::offered;
use crate::place::{Located, Place, Source};
use crate::report::{Error, Report};
use crate::resolve;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Loads the system called `system` (`systems/SYSTEM.toml`, or with a `/` in it the path of a file below
/// `root`, with or without `.toml`) with its board, or with another one, and checks all that the descriptions
/// alone can show.
pub fn load(root: &Path, system: &str, board: Option<&str>) -> Result<System, Report> {
    load_from(&Disk::new(root), system, board)
}

/// The same, from any [`Files`].
pub fn load_from(files: &dyn Files, system: &str, board: Option<&str>) -> Result<System, Report> {
    load_with(files, system, board, &[])
}

/// The value of a variable, by its name.
pub type Setting = (String, String);

/// The same, with values of variables, which take the place of those that the description gives them.
pub fn load_with(
    files: &dyn Files,
    system: &str,
    board: Option<&str>,
    settings: &[Setting],
) -> Result<System, Report> {
    load_packing(files, system, board, settings, None)
}

/// The same, with a package of this name: if the description has none, it is the component of that name, or at
/// that path, with its defaults.
pub fn load_packing(
    files: &dyn Files,
    system: &str,
    board: Option<&str>,
    settings: &[Setting],
    package: Option<&str>,
) -> Result<System, Report> {
    let path = description_path(system);
    let file = path.rsplit('/').next().unwrap_or(&path);
    let expected_name = file.strip_suffix(".toml").unwrap_or(file);
    let mut report = Report::new();
    let tree = extend::merged(files, &path, &mut report)?;
    let draft = expand::expand(tree, settings, &mut report)
        .and_then(|tree| draft::read(&tree, &mut report));
    let Some(mut draft) = draft else {
        offered::name_parts(files, &mut report);
        return Err(failed(report));
    };
    if let Some(board) = board {
        // As if it stood in a file of this name: errors show what was asked for.
        let asked = Source::new("--board", board);
        draft.board = Located::new(board.to_owned(), Place::new(&asked, 0..board.len()));
    }
    if let Some(package) = package {
        let asked = Source::new("cairn pack", package);
        let name = Located::new(package.to_owned(), Place::new(&asked, 0..package.len()));
        draft.add_package(&name, &mut report);
    }
    let board = find_board(files, &draft, &mut report);
    check_own_name(&draft.name, expected_name, &mut report);
    let folders = find_components(files, &draft, &mut report);
    let Some(board) = board else {
        return Err(failed(report));
    };
    let Some(mut system) = resolve::resolve(draft, files, &folders, board, &mut report) else {
        offered::name_parts(files, &mut report);
        return Err(failed(report));
    };
    check::check(&mut system, &mut report);
    moves::add_other_places(&mut system);
    report.into_result(system)
}

/// The file of a system, however it is named: in `systems/`, or by its path.
fn description_path(system: &str) -> String {
    let stem = system.strip_suffix(".toml").unwrap_or(system);
    if stem.contains('/') { format!("{stem}.toml") } else { format!("systems/{stem}.toml") }
}

/// Loads the board called `name` alone (`boards/NAME.toml`).
pub fn load_board(files: &dyn Files, name: &str) -> Result<Board, Report> {
    let board = Board::parse(&open(files, &format!("boards/{name}.toml"))?)?;
    let mut report = Report::new();
    check_core(files, &board, &mut report);
    report.into_result(board)
}

/// Where cores that can be simulated have a folder each, with this file.
const CORES: &str = "boards/rtl";
const CORE_FILE: &str = "core.sh";

fn check_core(files: &dyn Files, board: &Board, report: &mut Report) {
    let Some(Emulation::Simulator(simulator)) = &board.emulation else { return };
    let is_core =
        |name: &str| files.list(&format!("{CORES}/{name}")).iter().any(|file| file == CORE_FILE);
    let core = &simulator.core;
    if is_core(core) {
        return;
    }
    let mut names = files.list(CORES);
    names.retain(|name| is_core(name));
    report.push(Error::new(
        &core.place,
        format!("unknown core `{core}`"),
        format!(
            "expected a core that can be simulated: a folder of {CORES} with {CORE_FILE} in it"
        ),
        suggestion(
            core,
            "the cores are",
            names.iter().map(String::as_str),
            &format!("add it to {CORES}, as its README says"),
        ),
    ));
}

fn failed(report: Report) -> Report {
    report.into_result(()).expect_err("whatever fails is reported")
}

pub(crate) fn open(files: &dyn Files, path: &str) -> Result<Arc<Source>, Report> {
    let source = if files.is_foreign(path) { Source::foreign } else { Source::new };
    files.read(path).map(|text| source(path.to_owned(), text)).map_err(|error| {
        let place = Place::new(&Source::new(path, ""), 0..0);
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let (label, help) = match error.kind() {
            io::ErrorKind::NotFound => {
                let names = descriptions(files, folder);
                let name = name.trim_end_matches(".toml");
                let help = suggestion(
                    name,
                    &format!("`{folder}` has"),
                    names.iter().map(String::as_str),
                    &format!("write the description {path}"),
                );
                ("expected a description, found no such file".to_owned(), help)
            }
            io::ErrorKind::InvalidData => (
                "expected text in UTF-8".to_owned(),
                "save the file in the encoding UTF-8".to_owned(),
            ),
            _ => (error.to_string(), "make the file readable".to_owned()),
        };
        Report::from(Error::new(&place, format!("cannot read {path}"), label, help))
    })
}

/// The names of the descriptions in a folder.
pub(crate) fn descriptions(files: &dyn Files, folder: &str) -> Vec<String> {
    let names = files.list(folder);
    names.iter().filter_map(|name| name.strip_suffix(".toml").map(str::to_owned)).collect()
}

/// The folder in which a board that is named so lies, and its name there: in `boards`, or where a name with a `/` says.
pub fn board_place(name: &str) -> (&str, &str) {
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    stem.rsplit_once('/').unwrap_or(("boards", stem))
}

fn find_board(files: &dyn Files, draft: &Draft, report: &mut Report) -> Option<Board> {
    let name = &draft.board;
    let (folder, file) = board_place(name);
    let path = format!("{folder}/{file}.toml");
    let boards = descriptions(files, folder);
    let shown = |board: &String| match name.contains('/') {
        true => format!("{folder}/{board}"),
        false => board.clone(),
    };
    let shown: Vec<String> = boards.iter().map(shown).collect();
    if !boards.iter().any(|board| board == file) {
        report.push(Error::new(
            &name.place,
            format!("unknown board `{name}`"),
            format!("expected the name of a file in `{folder}/`"),
            suggestion(
                name,
                "the boards are",
                shown.iter().map(String::as_str),
                &format!("write the description {path}"),
            ),
        ));
        return None;
    }
    match open(files, &path).and_then(|source| Board::parse(&source)) {
        Ok(board) => {
            check_own_name(&board.name, file, report);
            check_core(files, &board, report);
            Some(board)
        }
        Err(errors) => {
            report.append(errors);
            None
        }
    }
}

/// A description is found by its file's name and shown by its own: they must be the same.
fn check_own_name(name: &Located<String>, expected: &str, report: &mut Report) {
    if **name != expected {
        report.push(Error::new(
            &name.place,
            format!("the file is called `{expected}`, but its description `{name}`"),
            format!("expected \"{expected}\""),
            "give the file and the description the same name",
        ));
    }
}

/// The folder of each component that the draft names.
fn find_components(
    files: &dyn Files,
    draft: &Draft,
    report: &mut Report,
) -> HashMap<String, String> {
    let mut folders = HashMap::new();
    let (shelved, described): (Vec<_>, Vec<_>) =
        draft.packages.iter().partition(|package| package.has_defaults);
    let packages = described.iter().map(|package| &package.instance);
    let names: Vec<&str> = packages.clone().map(|package| package.name.as_str()).collect();
    let described = draft.instances.iter().chain(packages).map(|one| (one, None));
    let shelved = shelved.into_iter().map(|package| (&package.instance, Some(&*names)));
    for (instance, packages) in described.chain(shelved) {
        let component = &instance.component;
        match components::folder(files, component) {
            Ok(folder) => {
                folders.insert(component.value.clone(), folder);
            }
            Err(several) => {
                let error = not_one_component(files, component, &several);
                report.push(match packages {
                    Some(packages) if several.is_empty() => {
                        or_package(error, &instance.name, packages)
                    }
                    _ => error,
                });
            }
        }
    }
    folders
}

/// What is named as what can be loaded is perhaps a package, of which these have tables.
fn or_package(error: Error, name: &str, packages: &[&str]) -> Error {
    let label = format!("{}, or a table `[package.{name}]`", error.label);
    let near = nearest(name, packages.iter().copied());
    let help = match (near, error.help.strip_prefix("did you mean ")) {
        (Some(package), Some(component)) => {
            format!("did you mean the package `{package}`, or the component {component}")
        }
        (Some(package), None) => format!("did you mean the package `{package}`?"),
        (None, _) => error.help.clone(),
    };
    Error { label, help, ..error }
}

fn not_one_component(files: &dyn Files, component: &Located<String>, several: &[String]) -> Error {
    if !several.is_empty() {
        return Error::new(
            &component.place,
            format!("`{component}` is the name of several components"),
            format!("expected a name that one of {} has", several.join(", ")),
            format!("write its path, for example \"{}\"", several[0]),
        );
    }
    let inside = |parent: &str| -> Vec<String> {
        let paths = files.list(parent).into_iter().map(|name| format!("{parent}/{name}"));
        paths.filter(|path| files.is_component(path)).collect()
    };
    let known: Vec<String> = components::FOLDERS.into_iter().flat_map(inside).collect();
    let name_of = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let error = |expected: String, help: String| {
        let message = format!("unknown component `{component}`");
        Error::new(&component.place, message, format!("expected a component: {expected}"), help)
    };
    let otherwise = "make it with `./cairn new component NAME`";
    let Some((parent, name)) = component.rsplit_once('/') else {
        let names: Vec<String> = known.iter().map(|path| name_of(path)).collect();
        return error(
            format!("`{component}` in a folder of `components/`"),
            suggestion(
                component,
                "`components/*` has",
                names.iter().map(String::as_str),
                otherwise,
            ),
        );
    };
    let expected =
        format!("the folder `{component}` with `Cargo.toml`, or in C with `component.toml`");
    // A component at another path comes before those whose path is only like this one.
    if let Some(path) = known.iter().find(|path| name_of(path) == name) {
        return error(expected, format!("did you mean `{path}`?"));
    }
    let deeper = inside(component);
    if !deeper.is_empty() {
        return error(
            expected,
            format!("write one of {}", list(deeper.iter().map(String::as_str))),
        );
    }
    let siblings = inside(parent);
    let kind = format!("`{parent}` has");
    error(expected, suggestion(component, &kind, siblings.iter().map(String::as_str), otherwise))
}
