//! Where things are in the repository.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    match std::env::var_os("CAIRN_ROOT") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .canonicalize()
            .expect("the tool was built in the repository"),
    }
}

/// Where everything built goes.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None => root().join("target"),
    }
}

/// `path` as people write it: relative to the root if it is below it.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
