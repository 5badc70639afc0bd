//! `./cairn install`: a command on the PATH that hands over to the Cairn of the product that it is called in.

use crate::paths;
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The script; without a product round it, it is the command of the tree `own`.
pub fn launcher(own: Option<&Path>) -> String {
    let text = |path: Option<&Path>| path.map_or(String::new(), |path| path.display().to_string());
    let rust = std::env::var_os("CAIRN_CARGO").map(PathBuf::from).filter(|_| own.is_some());
    include_str!("../templates/launcher.sh.in")
        .replace("@root@", &text(own))
        .replace("@rust@", &text(rust.as_deref().and_then(Path::parent)))
}

/// Installs it; returns what to tell the user.
pub fn install(folder: Option<&Path>) -> Result<String> {
    let source = paths::source();
    if source.display().to_string().contains('\'') {
        bail!(
            "{}: a path with `'` in it cannot be written into a script; move the tree",
            source.display()
        );
    }
    let folder = match folder {
        Some(folder) => std::path::absolute(folder)?,
        None => usual_folder()?,
    };
    let file = folder.join("cairn");
    let before = fs::read_to_string(&file).unwrap_or_default();
    if file.exists() && !before.contains("cairn COMMAND: hands over") {
        bail!(
            "{} is there already and is not Cairn's; remove it, or say --to FOLDER",
            file.display()
        );
    }
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, launcher(Some(&source))))
        .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot write {}", file.display()))?;
    let mut told = format!(
        "installed {}: in a product it hands over to the product's Cairn, elsewhere to {}\n",
        file.display(),
        source.display()
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|one| one == folder) {
        told +=
            &format!("{0} is not in PATH; add to ~/.profile: PATH={0}:$PATH\n", folder.display());
    }
    Ok(told)
}

/// `~/.local/bin`, or where cargo puts commands if only that is in PATH.
fn usual_folder() -> Result<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.context("HOME is not set; say --to FOLDER")?;
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    let folders = [home.join(".local/bin"), cargo.join("bin")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        folders.iter().find(|folder| std::env::split_paths(&path).any(|one| one == **folder));
    Ok(found.unwrap_or(&folders[0]).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_installed_and_nobody_elses_is_overwritten() {
        let folder = std::env::temp_dir().join(format!("cairn-install-{}", std::process::id()));
        let told = install(Some(&folder)).unwrap();
        assert!(told.contains("is not in PATH"), "{told}");
        install(Some(&folder)).unwrap();
        let text = fs::read_to_string(folder.join("cairn")).unwrap();
        assert!(text.contains(&format!("own='{}'", paths::source().display())), "{text}");
        assert!(!text.contains("@root@") && !text.contains("@rust@"));
        fs::write(folder.join("cairn"), "#!/bin/sh\n").unwrap();
        let error = install(Some(&folder)).unwrap_err().to_string();
        assert!(error.contains("is not Cairn's"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
