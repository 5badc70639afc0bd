//! `./cairn doc`: the book and the documentation of the interfaces, as one site that needs no server.

pub mod pages;
mod site;

use crate::cargo::{self, TARGET};
use crate::packages::{self, Package};
use crate::paths;
use anyhow::{Context, Result, bail};
use site::Site;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where in the site the documentation of the crates is.
const API: &str = "api";

/// Where in a product's site Cairn's own is.
const OF_CAIRN: &str = "cairn/";

/// Folders of crates that no component of others is linked with.
const NOT_FOR_OTHERS: [&str; 3] = ["tests", "bench", "examples"];

/// Makes the site in `target/doc`, and returns its first page. A link that leads nowhere is an error.
pub fn make() -> Result<PathBuf> {
    let (project, source) = (paths::project(), paths::source());
    let mut trees = vec![(project.as_path(), String::new())];
    if paths::is_product() {
        trees.push((&source, OF_CAIRN.to_owned()));
    }
    let documents = trees.iter().map(|(root, _)| pages::documents(root));
    let documents: Vec<BTreeMap<_, _>> = documents.collect::<Result<_>>()?;
    let mut dead = Vec::new();
    for ((root, _), documents) in trees.iter().zip(&documents) {
        dead.extend(pages::dead_links(root, documents));
    }
    if !dead.is_empty() {
        bail!("links lead nowhere:\n{}", dead.join("\n"));
    }
    let output = paths::target().join("doc");
    if output.exists() {
        fs::remove_dir_all(&output)
            .with_context(|| format!("cannot remove {}", paths::shown(&output)))?;
    }
    let crates = crates(&output.join(API))?;
    let mut led = BTreeSet::new();
    for ((root, below), documents) in trees.iter().zip(&documents) {
        let up = "../".repeat(below.matches('/').count());
        let api = crates.iter().map(|name| (name.clone(), format!("{up}{API}/{name}/index.html")));
        let mut further: Vec<(String, String)> = api.collect();
        if paths::is_product() {
            let (title, first) = match up.as_str() {
                "" => ("Cairn", format!("{OF_CAIRN}index.html")),
                up => ("Of the product", format!("{up}index.html")),
            };
            further.insert(0, (title.to_owned(), first));
        }
        let output = output.join(below);
        let other = below.is_empty().then_some((&*source, OF_CAIRN));
        led = Site { root, documents, output: &output, further, other }.write(&led)?;
    }
    Ok(output.join("index.html"))
}

/// Shows a page in the browser; whether there is one.
pub fn open(page: &Path) -> Result<bool> {
    let status = Command::new("xdg-open").arg(page).status();
    Ok(status
        .context("cannot start xdg-open, which knows the browser; open the page yourself")?
        .success())
}

/// Makes the documentation of what components are linked with, and returns the names of the crates.
fn crates(output: &Path) -> Result<Vec<String>> {
    let workspace = paths::project_workspace();
    let packages = packages::of_workspace(&workspace.folder)?;
    let trees = [paths::project(), paths::source()];
    let is_for_others = |package: &&Package| {
        let below = trees.iter().find_map(|tree| package.folder().strip_prefix(tree).ok());
        let is_left = |below: &Path| NOT_FOR_OTHERS.iter().any(|one| below.starts_with(one));
        package.has_library() && !package.has_program() && below.is_some_and(|one| !is_left(one))
    };
    let library = packages.all().filter(|package| package.name == "cairn");
    let chosen: Vec<&Package> = library.chain(packages.on_cairn()).filter(is_for_others).collect();
    let mut names: Vec<String> = chosen.iter().map(|one| one.name.replace('-', "_")).collect();
    names.sort();
    let target = workspace.target.join("machine");
    let is_member = |package: &&Package| package.folder().starts_with(&workspace.folder);
    let (members, others): (Vec<&Package>, Vec<&Package>) = chosen.into_iter().partition(is_member);
    // Of both together cargo says that it does not know the others.
    for packages in [members, others].iter().filter(|packages| !packages.is_empty()) {
        let mut command = cargo::cargo("doc", &workspace.folder);
        command.args(["--no-deps", "--lib", "--target", TARGET, "--target-dir"]).arg(&target);
        command.env("CARGO_ENCODED_RUSTDOCFLAGS", "-Drustdoc::broken_intra_doc_links");
        cargo::with_library(&mut command);
        for package in packages {
            command.args(["--package", &package.id]);
        }
        cargo::artifacts(&mut command)?;
    }
    copy(&target.join(TARGET).join("doc"), output)?;
    Ok(names)
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", paths::shown(to)))?;
    let entries =
        fs::read_dir(from).with_context(|| format!("cannot read {}", paths::shown(from)))?;
    for entry in entries {
        let entry = entry?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied)?;
        } else {
            fs::copy(&path, &copied)
                .with_context(|| format!("cannot copy {}", paths::shown(&path)))?;
        }
    }
    Ok(())
}
