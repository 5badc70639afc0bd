//! What sources are called in an image, where a panic says its place: by names that are the same in whichever folder and
//! for whoever the image is built.
//!
//! A member of a workspace is called from the workspace's folder, Cairn's own in a product `cairn/...`, other people's from the
//! folder that theirs lies in: `heapless-0.9.3/src/vec.rs`. Symbols for the debugger and for reports are as they were: there the
//! files are found by their paths.

use crate::packages::{self, Packages};
use crate::paths::{self, Workspace};
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Flags of Rust's compiler for what is compiled of a workspace.
pub fn for_rust(workspace: &Workspace) -> Result<Vec<String>> {
    let packages = packages::of_workspace(&workspace.folder)?;
    let mut names = of(&packages, &workspace.folder);
    // What build scripts make.
    names.insert(workspace.target.clone(), "target");
    // Of several that fit the last counts, and a longer path is behind those that it begins with.
    let names = names.iter().map(|(path, name)| flag("--remap-path-prefix", path, name));
    Ok(["--remap-path-scope=macro".to_owned()].into_iter().chain(names).collect())
}

/// Flags of the compiler of C for files of Cairn's, and of a package that is fetched into this folder.
pub fn for_c(package: Option<(PathBuf, &str)>) -> Vec<String> {
    let own = (paths::source(), "cairn");
    let own = paths::is_product().then_some(own);
    // As in Rust, the last counts.
    let names = own.into_iter().chain(package);
    names.map(|(path, name)| flag("-fmacro-prefix-map", &path, name)).collect()
}

fn flag(option: &str, path: &Path, name: &str) -> String {
    format!("{option}={}={name}", path.display())
}

/// What folders are called, but for the workspace's own, from which cargo calls its members.
fn of(packages: &Packages, workspace: &Path) -> BTreeMap<PathBuf, &'static str> {
    let source = paths::source();
    let mut names = BTreeMap::new();
    for package in packages.all() {
        // As the compiler is told, which may be through symbolic links.
        let mut as_told = package.roots().flat_map(Path::ancestors);
        let Some(folder) = as_told.find(|one| paths::real(one) == package.folder()) else {
            continue;
        };
        let is_member = package.source.is_none() && folder.starts_with(workspace);
        if is_member {
            continue;
        }
        let (round, name) = match package.folder().strip_prefix(&source) {
            Ok(below) => (folder.ancestors().nth(below.components().count()), "cairn"),
            Err(_) => (folder.parent(), ""),
        };
        names.extend(round.map(|round| (round.to_owned(), name)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_says_where_the_sources_of_others_lie() {
        let source = paths::source();
        let names = of(&packages::of_workspace(&source).unwrap(), &source);
        let (path, name) = names.first_key_value().expect("crates of others");
        assert!(path.join("heapless-0.9.3").is_dir() && name.is_empty(), "{names:?}");
        assert!(!names.keys().any(|path| path.starts_with(&source)), "{names:?}");
        // As a product beside it has it.
        let names = of(&packages::of_workspace(&source).unwrap(), Path::new("/product"));
        assert_eq!(names[&source], "cairn");
    }

    #[test]
    fn a_package_in_c_has_its_name() {
        let flags = for_c(Some(("/cache/lua5.4-1".into(), "lua5.4")));
        assert_eq!(flags, ["-fmacro-prefix-map=/cache/lua5.4-1=lua5.4"]);
    }
}
