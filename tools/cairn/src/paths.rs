//! Where things are in the repository.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// A path beside `path` that no other call returns, in this process or another that runs.
pub fn temporary(path: &Path) -> PathBuf {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    path.with_extension(format!("new-{}-{call}", std::process::id()))
}
