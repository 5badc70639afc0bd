//! How much source everyone in a system has to trust: that of the nucleus, of the components that hold a role, of those in the kernel
//! domain, and of the libraries of this repository that are compiled into them.

use crate::build::Parts;
use crate::{cargo, lines};
use anyhow::{Context, Result};
use cairn_description::model::{Instance, Role};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Lines of the sources, without blank lines, comments and tests. What runs on the host, build scripts and macros, is not among them.
pub fn lines(parts: &Parts) -> Result<usize> {
    let mut files = compiled(&cargo::build_nucleus()?)?;
    for instance in parts.system.instances.iter().filter(|instance| is_trusted(instance)) {
        files.extend(compiled(parts.file(instance))?);
    }
    files.iter().map(|file| lines::of_program(file)).sum()
}

/// Whether it could break what others rely on. The idle component's role lets it wait, and nothing else.
fn is_trusted(instance: &Instance) -> bool {
    instance.is_in_kernel() || instance.role.is_some_and(|role| role != Role::Idle)
}

/// The sources of an executable, as cargo noted them beside it.
fn compiled(executable: &Path) -> Result<BTreeSet<PathBuf>> {
    let notes = executable.with_extension("d");
    let text = std::fs::read_to_string(&notes)
        .with_context(|| format!("cannot read {}", notes.display()))?;
    Ok(sources(&text))
}

/// The files of a note `TARGET: FILE FILE...` in which a blank of a name has a `\` before it.
fn sources(note: &str) -> BTreeSet<PathBuf> {
    let files = note.split_once(": ").map_or("", |(_, files)| files.trim());
    let files = files.replace("\\ ", "\0");
    let files = files.split_whitespace().map(|file| PathBuf::from(file.replace('\0', " ")));
    let on_host = |file: &Path| {
        file.ends_with("build.rs")
            || file.components().any(|part| part.as_os_str() == "cairn-macros")
    };
    files.filter(|file| !on_host(file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placements::Placements;

    #[test]
    fn host_files_are_left_out_and_blanks_belong_to_names() {
        let note =
            "/t/x: /a/src/main.rs /a/build.rs /lib/cairn-macros/src/lib.rs /b\\ c/src/lib.rs\n";
        let expected = ["/a/src/main.rs", "/b c/src/lib.rs"].map(PathBuf::from);
        assert_eq!(sources(note), expected.into());
    }

    #[test]
    fn who_is_in_the_kernel_domain_is_trusted_too() {
        let trusted = |placements| {
            let parts = Parts::placed("bench/systems/placement", None, placements).unwrap();
            let trusted = parts.system.instances.iter().filter(|instance| is_trusted(instance));
            let names: Vec<String> = trusted.map(|instance| instance.name.to_string()).collect();
            (names, lines(&parts).unwrap())
        };
        let (names, domain) = trusted(Placements::Domain);
        assert_eq!(names, ["scheduler", "interrupts", "supervisor", "memory", "names", "portals"]);
        let (names, system) = trusted(Placements::System);
        assert_eq!(names[6..], ["idle", "clock"]);
        let (names, kernel) = trusted(Placements::Kernel);
        assert!(names.len() > 12 && !names.contains(&"shell".to_owned()), "{names:?}");
        assert!(5_000 < domain && domain < system && system < kernel, "{domain} {system} {kernel}");
    }
}
