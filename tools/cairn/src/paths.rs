//! Where things are: in Cairn's own tree, or in the project that is worked on, which may be that tree.

use cairn_description::Disk;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A workspace of cargo's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Workspace {
    /// Its folder, where `Cargo.toml` and `Cargo.lock` are.
    pub folder: PathBuf,
    /// Where what is built of it goes.
    pub target: PathBuf,
}

/// Cairn's own tree: the nucleus, the system components, this command.
pub fn source() -> PathBuf {
    let built_of = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    real(&std::env::var_os("CAIRN_ROOT").map_or_else(built_of, PathBuf::from))
}

/// A path without symbolic links, as all that are compared have to be; one that leads nowhere as it is.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The project: the workspace of the current folder if that uses Cairn, else Cairn's own tree.
pub fn project() -> PathBuf {
    static PROJECT: OnceLock<PathBuf> = OnceLock::new();
    let find = || {
        let current = std::env::current_dir().ok();
        current.and_then(|folder| using_cairn(&folder)).unwrap_or_else(source)
    };
    PROJECT.get_or_init(find).clone()
}

/// Whether the project is not Cairn's own tree.
pub fn is_product() -> bool {
    project() != source()
}

/// The workspace round `folder`, if Cairn is among its packages.
fn using_cairn(folder: &Path) -> Option<PathBuf> {
    let workspace = workspace_round(folder)?;
    let manifest: toml::Table =
        std::fs::read_to_string(workspace.join("Cargo.toml")).ok()?.parse().ok()?;
    let table =
        |keys: &[&str]| keys.iter().try_fold(&manifest, |table, key| table.get(*key)?.as_table());
    let names = |keys: &[&str]| table(keys).is_some_and(|table| table.contains_key("cairn"));
    let is_locked = || {
        std::fs::read_to_string(workspace.join("Cargo.lock"))
            .is_ok_and(|lock| lock.lines().any(|line| line == "name = \"cairn\""))
    };
    let uses = table(&["workspace", "metadata", "cairn"]).is_some()
        || names(&["workspace", "dependencies"])
        || names(&["dependencies"])
        || is_locked();
    uses.then_some(workspace)
}

/// The workspace of cargo's round a folder: the nearest that says so, or a package alone.
fn workspace_round(folder: &Path) -> Option<PathBuf> {
    let manifests = || folder.ancestors().filter(|folder| folder.join("Cargo.toml").is_file());
    let says_so = |folder: &&Path| {
        std::fs::read_to_string(folder.join("Cargo.toml"))
            .ok()
            .and_then(|text| text.parse::<toml::Table>().ok())
            .is_some_and(|manifest| manifest.contains_key("workspace"))
    };
    manifests().find(says_so).or_else(|| manifests().next()).map(Path::to_owned)
}

/// A system as the command line names it, for the loader: a name, or the path of a description from the current folder or
/// from the project's, also through symbolic links.
pub fn system(argument: &str) -> Result<String, std::convert::Infallible> {
    let with_end = |end: &str| PathBuf::from(format!("{argument}{end}"));
    let is_path = argument.contains('/') || argument.ends_with(".toml");
    let mut files = ["", ".toml"].map(with_end).into_iter().filter(|file| file.is_file());
    let Some(file) = files.find_map(|file| file.canonicalize().ok()).filter(|_| is_path) else {
        return Ok(argument.to_owned());
    };
    let below = shown(&file);
    // A name without a folder would be looked for in `systems/`.
    Ok(if below.contains('/') { below } else { format!("./{below}") })
}

/// Whose benchmarks are measured: the project's, if it has a catalogue of them, else Cairn's.
pub fn bench() -> PathBuf {
    let project = project();
    if project.join("bench/benchmarks.toml").is_file() { project } else { source() }
}

/// The files that descriptions name: the project's, then Cairn's own.
pub fn files() -> Disk {
    Disk::over([project(), source()])
}

/// The folder of a component, as a description calls it.
pub fn component(folder: &str) -> PathBuf {
    files().component(folder).unwrap_or_else(|| project().join(folder))
}

/// The workspace in which the package in a folder is built, with its lock.
pub fn workspace_at(folder: &Path) -> Workspace {
    let project = project_workspace();
    match workspace_round(folder) {
        Some(round) if real(&round) == source() => own_workspace(),
        Some(round) => Workspace { folder: round, ..project },
        None => project,
    }
}

/// The project's workspace.
pub fn project_workspace() -> Workspace {
    Workspace { folder: project(), target: target() }
}

/// Cairn's own workspace.
pub fn own_workspace() -> Workspace {
    Workspace { folder: source(), target: source_target() }
}

/// Where everything goes that is built of the project.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None if is_product() => project().join("target"),
        None => source_target(),
    }
}

/// Where everything goes that is built of Cairn's own tree.
pub fn source_target() -> PathBuf {
    let said = |name| std::env::var_os(name).map(PathBuf::from);
    said("CAIRN_TARGET")
        .or_else(|| said("CARGO_TARGET_DIR"))
        .unwrap_or_else(|| source().join("target"))
}

/// `path` as people write it: relative to the project if it is below it.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(project()).unwrap_or(path).display().to_string()
}

/// A path beside `path` that no other call returns, in this process or another that runs.
pub fn temporary(path: &Path) -> PathBuf {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    path.with_extension(format!("new-{}-{call}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("cairn-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap()
    }

    #[test]
    fn a_system_is_found_by_any_path() {
        let found = |argument: &str| system(argument).unwrap();
        assert_eq!(found("demo"), "demo");
        assert_eq!(found("no/such"), "no/such");
        let systems = project().join("systems");
        let demo = systems.join("demo");
        for path in [demo.clone(), demo.with_extension("toml")] {
            assert_eq!(found(&path.display().to_string()), "systems/demo.toml");
        }
        let outside = folder("paths");
        std::os::unix::fs::symlink(&systems, outside.join("link")).unwrap();
        assert_eq!(found(&outside.join("link/demo").display().to_string()), "systems/demo.toml");
        let own = outside.join("own.toml");
        fs::write(&own, "").unwrap();
        assert_eq!(found(&own.display().to_string()), own.display().to_string());
        fs::remove_dir_all(outside).unwrap();
    }

    #[test]
    fn a_workspace_that_uses_cairn_is_a_project() {
        let outside = folder("project");
        let inner = outside.join("components/one");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(using_cairn(&inner), None);
        fs::write(inner.join("Cargo.toml"), "[package]\nname = 'one'\n").unwrap();
        fs::write(outside.join("Cargo.toml"), "[workspace]\nmembers = ['components/one']\n")
            .unwrap();
        assert_eq!(using_cairn(&inner), None);
        fs::write(outside.join("Cargo.lock"), "[[package]]\nname = \"cairn\"\n").unwrap();
        assert_eq!(using_cairn(&inner), Some(outside.clone()));
        fs::remove_file(outside.join("Cargo.lock")).unwrap();
        let manifest = "[workspace.dependencies]\ncairn = { path = '../cairn' }\n";
        fs::write(outside.join("Cargo.toml"), manifest).unwrap();
        assert_eq!(using_cairn(&inner), Some(outside.clone()));
        fs::remove_dir_all(outside).unwrap();
    }

    #[test]
    fn the_launcher_takes_the_same_workspace() {
        let outside = folder("launcher");
        let inner = outside.join("components/one");
        fs::create_dir_all(&inner).unwrap();
        fs::write(outside.join("launcher"), crate::install::launcher(None)).unwrap();
        // In place of cargo: what it is asked is told, and goes no further.
        fs::write(outside.join("cargo"), "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(outside.join("cargo"), Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", outside.display(), std::env::var("PATH").unwrap());
        let launched = || {
            let mut launcher = Command::new("sh");
            launcher.arg(outside.join("launcher")).current_dir(&inner).env("PATH", &path);
            let told = String::from_utf8(launcher.output().unwrap().stderr).unwrap();
            let told = told.split_once("cargo cannot read ")?.1.split_once("/Cargo.toml,")?.0;
            Some(PathBuf::from(told))
        };
        let write = |outer: &str, own: &str| {
            fs::write(outside.join("Cargo.toml"), outer).unwrap();
            fs::write(inner.join("Cargo.toml"), own).unwrap();
        };
        let (package, workspace) = ("[package]\nname = 'one'\n", "[workspace]\n");
        let uses = |table: &str| format!("{package}{table}\ncairn = {{ path = '../cairn' }}\n");
        for (outer, own, found) in [
            (workspace.to_owned(), uses("[dependencies]"), None),
            (uses("[ workspace.dependencies ] # all"), package.to_owned(), Some(&outside)),
            (package.to_owned(), uses("[dependencies]"), Some(&inner)),
            (uses("[dependencies]"), package.to_owned(), None),
            (package.to_owned(), uses("[features]"), None),
            (package.to_owned(), uses("[patch.crates-io]"), None),
            (package.to_owned(), uses("[dependencies.other]"), None),
            (
                package.to_owned(),
                format!("{package}[dependencies.cairn]\npath = '..'\n"),
                Some(&inner),
            ),
            ("[workspace.metadata.cairn]\n".to_owned(), package.to_owned(), Some(&outside)),
            (format!("{workspace}[workspace.metadata.other]\n"), package.to_owned(), None),
            (
                "[workspace.dependencies]\ncairn.path = '..'\n".to_owned(),
                package.to_owned(),
                Some(&outside),
            ),
        ] {
            write(&outer, &own);
            let both = (launched(), using_cairn(&inner));
            assert_eq!(both, (found.cloned(), found.cloned()), "{outer}\n{own}");
        }
        fs::remove_dir_all(outside).unwrap();
    }
}
