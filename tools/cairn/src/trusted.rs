//! How much source everyone in a system has to trust: that of the nucleus, of the components that hold a role, of those in the kernel
//! domain, and of the libraries of this repository that are compiled into them.

use crate::build::Parts;
use crate::cargo;
use crate::lines::{self, compiled};
use anyhow::Result;
use cairn_description::model::{Instance, Role};

/// Lines of the sources, without blank lines, comments and tests. What runs on the host, build scripts and macros, is not among them.
pub fn lines(parts: &Parts) -> Result<usize> {
    let mut files = compiled(&cargo::build_nucleus()?)?;
    for instance in parts.system.instances.iter().filter(|instance| is_trusted(instance)) {
        files.extend(compiled(parts.file(instance))?);
    }
    files.iter().map(|file| lines::of_program(file)).sum()
}

/// Whether it could break what others rely on. The idle component's role lets it wait, that of who keeps the shelf lets it read, and
/// nothing else.
fn is_trusted(instance: &Instance) -> bool {
    let has_power = |role| !matches!(role, Role::Idle | Role::ShelfKeeper);
    instance.is_in_kernel() || instance.role.is_some_and(has_power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placements::Placements;

    #[test]
    fn who_is_in_the_kernel_domain_is_trusted_too() {
        let trusted = |placements| {
            let parts = Parts::placed("bench/systems/placement", None, placements).unwrap();
            let trusted = parts.system.instances.iter().filter(|instance| is_trusted(instance));
            let names: Vec<String> = trusted.map(|instance| instance.name.to_string()).collect();
            (names, lines(&parts).unwrap())
        };
        let (names, domain) = trusted(Placements::Domain);
        assert_eq!(
            names,
            [
                "scheduler",
                "interrupts",
                "supervisor",
                "memory",
                "names",
                "portals",
                "log",
                "loader"
            ]
        );
        let (names, system) = trusted(Placements::System);
        assert_eq!((names[2].as_str(), names[7].as_str(), names.len()), ("idle", "clock", 11));
        let (names, kernel) = trusted(Placements::Kernel);
        assert!(names.len() > 12 && !names.contains(&"shell".to_owned()), "{names:?}");
        assert!(5_000 < domain && domain < system && system < kernel, "{domain} {system} {kernel}");
    }
}
