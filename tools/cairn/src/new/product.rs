//! `./cairn new product DIR`: a workspace of one's own, outside of Cairn's tree, with a component that builds, runs and is
//! tested.

use super::names::Names;
use super::{made_component, told, write_files};
use crate::layout::Layout;
use crate::paths;
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Where the product finds Cairn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cairn {
    /// In this folder.
    Path(PathBuf),
    /// In a repository of git's, in a revision or in its newest.
    Git {
        /// Its address.
        url: String,
        /// A commit or a tag.
        revision: Option<String>,
    },
}

macro_rules! templates {
    ($(($path:literal, $file:literal),)*) => {
        [$(($path, include_str!(concat!("../../templates/product/", $file))),)*]
    };
}

const TEMPLATES: [(&str, &str); 8] = templates![
    ("Cargo.toml", "Cargo.toml.in"),
    (".gitignore", "gitignore.in"),
    (".vscode/settings.json", "settings.json.in"),
    (".github/workflows/test.yml", "test.yml.in"),
    ("README.md", "README.md.in"),
    ("interfaces/Cargo.toml", "interfaces.toml.in"),
    ("interfaces/src/lib.rs", "interfaces.rs.in"),
    ("systems/@name@.toml", "system.toml.in"),
];

/// Makes the product in a folder, called as that; returns what to tell the user.
pub fn product(shown: &Path, cairn: &Cairn) -> Result<String> {
    let folder = std::path::absolute(shown)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    refuse(&folder, &name)?;
    let files = files(&folder, &name, cairn);
    write_files(&folder, files)?;
    let launcher = folder.join("cairn");
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", launcher.display()))?;
    let component = made_component(&Layout::read(&folder)?, &name)?;
    write_files(&folder, component.files)?;
    // Whoever has no git has the files.
    let mut git = Command::new("git");
    let _ = git.args(["init", "--quiet", "--initial-branch=main"]).current_dir(&folder).status();

    let mut rows = vec![
        ("made", "Cargo.toml".to_owned(), "a workspace, which depends on Cairn".to_owned()),
        ("made", "rust-toolchain.toml".to_owned(), "the Rust of that Cairn".to_owned()),
        ("made", "cairn".to_owned(), "hands over to that Cairn's command".to_owned()),
        (
            "made",
            ".github/, .vscode/, .taplo.toml".to_owned(),
            match cairn {
                Cairn::Path(_) => {
                    "tests at every push, if CAIRN_REPOSITORY there says where Cairn is"
                }
                Cairn::Git { .. } => "tests at every push",
            }
            .to_owned()
                + "; an editor's settings",
        ),
        ("made", "interfaces/".to_owned(), "its own interfaces".to_owned()),
        ("made", format!("systems/{name}.toml"), "its system".to_owned()),
    ];
    rows.extend(component.rows);
    if let Some(next) = rows.iter().position(|(verb, ..)| *verb == "next") {
        rows.insert(next, ("next", format!("cd {}", shown.display()), String::new()));
        rows[next + 1].0 = "";
    }
    Ok(told(&rows))
}

/// Refuses a folder that has something in it, and a name that its first component cannot have.
fn refuse(folder: &Path, name: &str) -> Result<()> {
    let mut taken = fs::read_dir(folder).into_iter().flatten().flatten();
    if let Some(entry) = taken.find(|entry| entry.file_name() != ".git") {
        bail!(
            "{} is there already, with {} in it; expected a new folder, or an empty one",
            folder.display(),
            entry.file_name().to_string_lossy()
        );
    }
    if let Some(outer) = folder.ancestors().skip(1).find(|outer| outer.join("Cargo.toml").exists())
    {
        bail!(
            "{} would be inside of the package or workspace of {}; expected a folder outside of any",
            folder.display(),
            outer.display()
        );
    }
    let layout = Layout { prefix: String::new(), ..Layout::read(&paths::source())? };
    Names::new(name, &layout)?.refuse_meanings()
}

fn files(folder: &Path, name: &str, cairn: &Cairn) -> Vec<(String, String)> {
    let dependency = |folder_of_crate: &str| match cairn {
        Cairn::Path(tree) => {
            let path = tree.join(folder_of_crate);
            format!("path = {:?}", relative(folder, &path).display().to_string())
        }
        Cairn::Git { url, revision: Some(revision) } => {
            format!("git = {url:?}, rev = {revision:?}")
        }
        Cairn::Git { url, revision: None } => format!("git = {url:?}"),
    };
    let place = match cairn {
        Cairn::Path(tree) => relative(folder, tree).display().to_string(),
        Cairn::Git { url, .. } => url.clone(),
    };
    let place_cairn = match cairn {
        Cairn::Path(_) => include_str!("../../templates/product/place-cairn.yml.in"),
        Cairn::Git { .. } => "",
    };
    let fill = |text: &str| {
        text.replace("@place-cairn@", place_cairn)
            .replace("@name@", name)
            .replace("@where@", &place)
            .replace("@cairn@", &dependency("lib/cairn"))
            .replace("@cairn-app-interfaces@", &dependency("interfaces/apps"))
            .replace("@cairn-driver-interfaces@", &dependency("interfaces/drivers"))
            .replace("@cairn-interfaces@", &dependency("interfaces/system"))
            .replace("@cairn-virtio@", &dependency("lib/virtio"))
    };
    let mut files = TEMPLATES.map(|(path, text)| (fill(path), fill(text))).to_vec();
    files.extend(crate::schema::files());
    files.push(("rust-toolchain.toml".to_owned(), toolchain()));
    files.push(("cairn".to_owned(), crate::install::launcher(None)));
    // The crates that Cairn was tested with; cargo drops what is not needed.
    let lock = fs::read_to_string(paths::source().join("Cargo.lock"));
    files.extend(lock.ok().map(|lock| ("Cargo.lock".to_owned(), lock)));
    files
}

/// The Rust of this Cairn, without the targets that only its own tests need.
fn toolchain() -> String {
    let text = include_str!("../../../../rust-toolchain.toml");
    let channel = text.lines().find(|line| line.starts_with("channel")).unwrap_or_default();
    format!(
        "# The Rust of the Cairn that Cargo.lock pins.\n[toolchain]\n{channel}\nprofile = \"minimal\"\n\
         components = [\"rustfmt\", \"clippy\", \"rust-src\"]\n\
         targets = [\"riscv64imac-unknown-none-elf\", \"riscv64gc-unknown-none-elf\"]\n"
    )
}

/// A path from a folder, if both have more than the root in common; else the path itself.
pub(super) fn relative(from: &Path, to: &Path) -> PathBuf {
    let both =
        from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    if both < 2 {
        return to.to_owned();
    }
    let up = from.components().skip(both).map(|_| Component::ParentDir);
    up.chain(to.components().skip(both)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_where_both_move_together() {
        let path = |from, to| relative(Path::new(from), Path::new(to)).display().to_string();
        assert_eq!(path("/home/me/thermostat", "/home/me/cairn/lib"), "../cairn/lib");
        assert_eq!(path("/tmp/x", "/home/me/cairn"), "/home/me/cairn");
    }

    #[test]
    fn nothing_is_overwritten_or_nested() {
        let root = std::env::temp_dir().join(format!("cairn-new-product-{}", std::process::id()));
        let cairn = Cairn::Path(paths::source());
        let error = |name: &str| product(&root.join(name), &cairn).unwrap_err().to_string();
        fs::create_dir_all(root.join("full/src")).unwrap();
        assert!(error("full").contains("with src in it"), "{}", error("full"));
        assert!(error("Bad").contains("`Bad` cannot be its name"));
        assert!(error("cairn").contains("a crate's name"), "{}", error("cairn"));
        assert!(!root.join("cairn").exists());
        let inside = product(&paths::source().join("examples/thing"), &cairn).unwrap_err();
        assert!(inside.to_string().contains("would be inside of"), "{inside}");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn every_name_is_filled_in() {
        let git =
            Cairn::Git { url: "https://example.org/cairn".into(), revision: Some("v1".into()) };
        for cairn in [git, Cairn::Path("/home/me/cairn".into())] {
            let files = files(Path::new("/home/me/heater"), "heater", &cairn);
            let made = |path: &str| path != "Cargo.lock" && !path.ends_with(".json");
            for (path, text) in files.iter().filter(|(path, _)| made(path)) {
                // These are as they should be.
                let rest = text.replace("checkout@v4", "").replace("$@", "");
                assert!(!rest.contains('@') && !path.contains('@'), "{path}: {text}");
            }
        }
    }
}
