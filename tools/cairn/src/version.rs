//! What `cairn --version` says: which Cairn this is, and what builds it.

use crate::paths;
use std::path::Path;
use std::process::Command;

/// The first line that a program answers, if it does.
fn answer(
    program: impl AsRef<std::ffi::OsStr>,
    arguments: &[&str],
    folder: &Path,
) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

/// The revision of Cairn's own tree, with `-modified` behind it if the tree is not as it was there; `None` outside of git.
pub fn revision() -> Option<String> {
    let source = paths::source();
    // A tree without a repository may lie in another one's.
    source.join(".git").exists().then_some(())?;
    let hash = answer("git", &["rev-parse", "HEAD"], &source)?;
    let modified = answer("git", &["status", "--porcelain", "--untracked-files=no"], &source)?;
    Some(if modified.is_empty() { hash } else { hash + "-modified" })
}

/// For people: the release, the revision, the tree, the Rust that builds it.
pub fn long() -> String {
    let source = paths::source();
    let rust = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let rust = answer(rust, &["--version"], &source).unwrap_or_else(|| "no rustc".to_owned());
    let revision = revision().unwrap_or_else(|| "of no revision".to_owned());
    let version = env!("CARGO_PKG_VERSION");
    format!("{version} ({revision})\ntree: {}\nbuilt with: {rust}", source.display())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_version_says_what_it_is_of() {
        let text = super::long();
        assert!(text.contains(env!("CARGO_PKG_VERSION")) && text.contains("rustc 1."), "{text}");
    }
}
