//! `./cairn graph`: a system as a picture.

use crate::alternatives;
use crate::build::Parts;
use cairn_description::System;
use cairn_description::model::{Open, StackMode};
use cairn_graph::{Export, Graph, Import, Node};

/// The drawing of a built system, as SVG.
pub fn draw(parts: &Parts) -> String {
    let system = &parts.system;
    let components = parts.components();
    let mut nodes = Vec::new();
    for (index, instance) in system.described().iter().enumerate() {
        let exports = components[index].descriptor.exports.iter();
        let exports = exports.map(|export| Export {
            name: export.name.clone(),
            interface: export.interface.name.clone(),
        });
        let mut imports = Vec::new();
        for (import, connected) in
            components[index].descriptor.imports.iter().zip(&parts.connected.imports[index])
        {
            let connection = &instance.imports[connected.connection];
            let role = system.instances[connected.target].role;
            let stack = match role {
                Some(role) if role.runs_to_completion() => StackMode::RunToCompletion,
                _ => *connection.stack,
            };
            imports.push(Import {
                name: import.name.clone(),
                interface: import.interface.name.clone(),
                specification: format!("{}{}", stack.letter(), connection.state.letter()),
                node: connected.target,
                export: connected.export,
                alternatives: alternatives::of(parts, connected),
                may_open: false,
            });
        }
        imports.extend(openings(parts, index));
        let device = |at: usize| {
            let device = &system.board.devices[at];
            let confined = if system.is_confined(index, at) { ", confined" } else { "" };
            match device.kind() {
                Some(kind) => format!("{} virtio-{}{confined}", device.shown(), kind.name()),
                None => device.name.to_string(),
            }
        };
        nodes.push(Node {
            name: instance.name.to_string(),
            component: components[index].descriptor.name.clone(),
            domain: instance.domain.0.into(),
            frame: frame(system, index),
            role: instance.role.map(|role| role.key().to_owned()),
            moves: instance.moves.is_some(),
            priority: *instance.priority,
            exports: exports.collect(),
            imports,
            devices: instance.devices.iter().map(|index| device(**index)).collect(),
            equals: 0,
        });
    }
    cairn_graph::draw(&Graph { title: system.name.to_string(), nodes })
}

/// The frame of an instance that shares a domain with others, or is in the kernel's.
fn frame(system: &System, index: usize) -> Option<String> {
    let instance = &system.instances[index];
    match (instance.is_in_kernel(), system.fellows(index).count()) {
        (true, _) => Some("kernel domain".to_owned()),
        (false, 1) => None,
        _ => Some(format!("domain {}", instance.domain)),
    }
}

/// Exports that the description lets instance `client` open by name, and does not connect it to. What
/// anyone may open is left out: it would lead everywhere.
fn openings(parts: &Parts, client: usize) -> Vec<Import> {
    let components = parts.components();
    let connected = &parts.connected;
    let mut openings = Vec::new();
    for (server, instance) in parts.system.described().iter().enumerate() {
        for (described, export) in instance.exports.iter().enumerate() {
            let Open::Instances(allowed) = &export.open else { continue };
            let index = connected.exports[server][described];
            let is_connected = connected.imports[client]
                .iter()
                .any(|import| import.target == server && import.export == index);
            if !allowed.contains(&client) || is_connected {
                continue;
            }
            openings.push(Import {
                name: format!("{}.{}", *instance.name, *export.name),
                interface: components[server].descriptor.exports[index].interface.name.clone(),
                specification: String::new(),
                alternatives: Vec::new(),
                node: server,
                export: index,
                may_open: true,
            });
        }
    }
    openings
}
