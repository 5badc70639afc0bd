//! What else in a system serves an interface: where a connection could lead as well.

use crate::build::Parts;
use cairn_description::connect::ConnectedImport;
use cairn_description::copies::{merged, ranges};

/// Exports beside that of a connection that serve its interface in the same version, as `INSTANCE.EXPORT`. Of copies the
/// connection names the one that is meant, so others of the same are none.
pub fn of(parts: &Parts, connected: &ConnectedImport) -> Vec<String> {
    let components = parts.components();
    let wanted = &components[connected.target].descriptor.exports[connected.export].interface;
    let mut found = Vec::new();
    let table = |server: usize| parts.system.instances[server].table();
    let described = parts.system.described().len();
    for (server, component) in components.iter().enumerate().take(described) {
        if server != connected.target && table(server) == table(connected.target) {
            continue;
        }
        for (index, export) in component.descriptor.exports.iter().enumerate() {
            let is_same = (&export.interface.name, export.interface.version)
                == (&wanted.name, wanted.version);
            if is_same && (server, index) != (connected.target, connected.export) {
                found.push(format!("{}.{}", parts.system.instances[server].name, export.name));
            }
        }
    }
    found
}

/// A line for each connection that could lead elsewhere.
pub fn report(parts: &Parts) -> String {
    let mut lines = Vec::new();
    let components = parts.components();
    for (client, instance) in parts.system.described().iter().enumerate() {
        for connected in &parts.connected.imports[client] {
            let others = of(parts, connected);
            if others.is_empty() {
                continue;
            }
            let connection = &instance.imports[connected.connection];
            let export = &components[connected.target].descriptor.exports[connected.export];
            lines.push(format!(
                "{}.{}: {} of {}.{}, which {} serves as well",
                instance.name,
                *connection.import,
                export.interface.name,
                parts.system.instances[connected.target].name,
                export.name,
                ranges(others.iter().map(String::as_str), str::to_owned).join(", ")
            ));
        }
    }
    merged(lines).iter().map(|line| format!("{line}\n")).collect()
}
