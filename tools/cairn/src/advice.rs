//! `./cairn check --placements`: what each instance would save in the kernel domain, and what it would put at risk.
//!
//! Every instance is tried: the description is read once more with another placement in it, checked, connected and laid out, as if
//! somebody had written it. So what can be placed, and the instructions of each call, are what a build would make of it. Instances that
//! share a domain are tried together.

use crate::build::{self, Parts};
use crate::counts::Counts;
use crate::{lines, paths, unsafe_code};
use anyhow::{Context, Result, anyhow, bail};
use cairn_description::model::Role;
use cairn_description::{Disk, Files};
use cairn_image::{Nucleus, Report};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::io;
use std::path::Path;

/// Most connections that are shown of each.
const SHOWN: usize = 6;

/// The advice on a system.
pub struct Advice {
    system: String,
    /// Calls of the profile, and the instructions that they take between caller and callee.
    counted: Option<(u64, u64)>,
    /// The instances, who saves most first.
    rows: Vec<Row>,
}

/// Instances of one domain in another placement.
struct Row {
    /// Their names.
    names: Vec<String>,
    /// Lines of their sources.
    lines: usize,
    /// They can have unsafe code.
    has_unsafe_code: bool,
    /// They can do everything as they are.
    is_trusted: bool,
    /// They are in the kernel domain: what is said is what they save there.
    is_there: bool,
    outcome: Result<Saving, String>,
}

/// What calls take less in the kernel domain.
struct Saving {
    /// Instructions, of all calls that were counted; without a profile of each method once.
    instructions: i64,
    /// By how many calls.
    calls: u64,
    /// The connections whose calls take another number, that of the greatest saving first.
    connections: Vec<Connection>,
}

/// A connection whose calls differ.
struct Connection {
    /// `CLIENT.IMPORT to SERVER.EXPORT`.
    name: String,
    calls: u64,
    /// Instructions in domains and in the kernel domain, of all its calls.
    domain: u64,
    kernel: u64,
}

/// A method over a connection: client, import, method.
type Method = (String, String, String);

/// Instructions of a call of each method, with the export that it leads to.
type Ways = BTreeMap<Method, (String, u64)>;

/// Tries all instances of `system` in the kernel domain, weighed by the calls in the file `profile`.
pub fn advise(system: &str, board: Option<&str>, profile: Option<&Path>) -> Result<Advice> {
    let counts = profile.map(|file| Counts::read(file).map(|counts| (file, counts))).transpose()?;
    let parts = Parts::new(system, board)?;
    let (nucleus, _) = build::nucleus()?;
    let now = ways(&build::lay_out_with(&parts, &nucleus)?.report);
    let calls = match &counts {
        Some((file, counts)) => Some(by_method(file, counts, &parts, &now)?),
        None => None,
    };
    let weight =
        |method: &Method| calls.as_ref().map_or(1, |calls| calls.get(method).copied().unwrap_or(0));
    let trial = Trial { parts: &parts, board, nucleus: &nucleus };
    let mut rows = Vec::new();
    for index in 0..parts.system.described().len() {
        let fellows: Vec<usize> = parts.system.fellows(index).collect();
        if fellows[0] == index {
            rows.push(trial.row(&fellows, &now, &weight)?);
        }
    }
    // What cannot be placed stands last.
    let key = |row: &Row| row.outcome.as_ref().map_or(i64::MIN, |saving| saving.instructions);
    rows.sort_by_key(|row| std::cmp::Reverse(key(row)));
    let counted = calls.as_ref().map(|calls| {
        let executed = now.iter().map(|(method, (_, way))| way * weight(method));
        (calls.values().sum(), executed.sum())
    });
    Ok(Advice { system: parts.system.name.to_string(), counted, rows })
}

fn ways(report: &Report) -> Ways {
    let of = |instance: &cairn_image::InstanceReport| {
        let client = instance.name.clone();
        let portals = instance.portals.iter().map(move |portal| {
            let method = (client.clone(), portal.import.clone(), portal.method.clone());
            (method, (portal.server.clone(), portal.instructions))
        });
        portals.collect::<Vec<_>>()
    };
    report.instances.iter().flat_map(of).collect()
}

/// The calls of a profile, which has to be one of this system.
fn by_method(
    file: &Path,
    counts: &Counts,
    parts: &Parts,
    now: &Ways,
) -> Result<BTreeMap<Method, u64>> {
    let again = "count it again, with `./cairn run SYSTEM --count FILE`";
    if counts.system != *parts.system.name {
        bail!(
            "{}: it has the calls of the system `{}`; expected those of `{}`: {again}",
            file.display(),
            cairn_abi::text::Visible::text(&counts.system),
            *parts.system.name
        );
    }
    let mut calls = BTreeMap::new();
    for counted in &counts.calls {
        let method = (counted.client.clone(), counted.import.clone(), counted.method.clone());
        if !now.contains_key(&method) {
            let name = format!("{}.{} {}", counted.client, counted.import, counted.method);
            bail!(
                "{}: it has calls of `{}`, which the system does not connect; expected a profile of the system as it is: {again}",
                file.display(),
                cairn_abi::text::Visible::text(&name),
            );
        }
        let sum = calls.entry(method).or_insert(0u64);
        // So that no sum of products is too large.
        *sum = sum.saturating_add(counted.calls).min(u64::from(u32::MAX) << 8);
    }
    Ok(calls)
}

/// How a placement is tried.
struct Trial<'a> {
    parts: &'a Parts,
    board: Option<&'a str>,
    nucleus: &'a Nucleus,
}

impl Trial<'_> {
    /// Tries the instances of one domain in the kernel's, or in one of their own if they are there.
    fn row(&self, fellows: &[usize], now: &Ways, weight: &dyn Fn(&Method) -> u64) -> Result<Row> {
        let instances = fellows.iter().map(|index| &self.parts.system.instances[*index]);
        let instances: Vec<_> = instances.collect();
        let is_there = instances[0].is_in_kernel();
        let sources = instances
            .iter()
            .map(|one| lines::of_component(&paths::component(&one.folder), self.parts.file(one)));
        let outcome = match self.placed(fellows, !is_there) {
            _ if instances[0].moves.is_some() => {
                Err("be placed there for good: it moves".to_owned())
            }
            _ if is_there && fellows.len() > 1 => {
                Err("be compared: no description can take their `fate` away".to_owned())
            }
            Ok(then) if is_there => Ok(saving(&then, now, weight)),
            Ok(then) => Ok(saving(now, &then, weight)),
            Err(error) => Err(first_line(&error.to_string())),
        };
        Ok(Row {
            names: instances.iter().map(|one| one.name.to_string()).collect(),
            lines: sources.sum::<Result<usize>>().context("a component's sources")?,
            has_unsafe_code: instances.iter().any(|one| !unsafe_code::is_forbidden(&one.folder)),
            // Who writes portal code or page tables is trusted by all.
            is_trusted: instances
                .iter()
                .all(|one| *one.trusted || matches!(one.role, Some(Role::Memory | Role::Portals))),
            is_there,
            outcome,
        })
    }

    /// The ways of all calls when these instances are placed in the kernel domain, or in a domain.
    fn placed(&self, fellows: &[usize], in_kernel: bool) -> Result<Ways> {
        let path = self.parts.system.name.place.path();
        let mut text =
            format!("[system]\nname = \"{NAME}\"\nextends = \"../{}\"\n", without_end(path));
        for (position, index) in fellows.iter().enumerate() {
            let instance = &self.parts.system.instances[*index];
            let _ = write!(text, "[instance.{}]\nplacement = ", *instance.name);
            if in_kernel {
                text += "\"kernel\"\n";
                if !unsafe_code::is_forbidden(&instance.folder) {
                    text += "trust = \"unsafe-code\"\n";
                }
                if fellows.len() > 1 {
                    let _ = writeln!(text, "fate = \"{NAME}\"");
                }
            } else if position == 0 {
                text += "\"domain\"\n";
            } else {
                let leader = &self.parts.system.instances[fellows[0]].name;
                let _ = writeln!(text, "{{ with = \"{}\" }}", **leader);
            }
        }
        let files = With { disk: paths::files(), text };
        let system = cairn_description::load_from(&files, PATH, self.board)
            .map_err(|report| anyhow!("{report}"))?;
        let parts = self.parts.described_by(system)?;
        Ok(ways(&build::lay_out_with(&parts, self.nucleus)?.report))
    }
}

/// The description that a trial extends the system's by: it is in no file.
const NAME: &str = "placements";
const PATH: &str = "target/placements.toml";

fn without_end(path: &str) -> &str {
    path.strip_suffix(".toml").unwrap_or(path)
}

/// The repository's files with one more.
struct With {
    disk: Disk,
    text: String,
}

impl Files for With {
    fn read(&self, path: &str) -> io::Result<String> {
        if path == PATH { Ok(self.text.clone()) } else { self.disk.read(path) }
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.disk.list(folder)
    }

    fn content_size(&self, path: &str) -> io::Result<Option<u64>> {
        self.disk.content_size(path)
    }

    fn is_component(&self, folder: &str) -> bool {
        self.disk.is_component(folder)
    }
}

/// What is said of an error, without where it is.
fn first_line(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

fn saving(domain: &Ways, kernel: &Ways, weight: &dyn Fn(&Method) -> u64) -> Saving {
    let mut connections: BTreeMap<String, Connection> = BTreeMap::new();
    for (method, (server, before)) in domain {
        let Some((_, after)) = kernel.get(method).filter(|(_, after)| after != before) else {
            continue;
        };
        let name = format!("{}.{} to {server}", method.0, method.1);
        let empty = Connection { name: name.clone(), calls: 0, domain: 0, kernel: 0 };
        let connection = connections.entry(name).or_insert(empty);
        let calls = weight(method);
        connection.calls += calls;
        connection.domain += before * calls;
        connection.kernel += after * calls;
    }
    let mut connections: Vec<Connection> =
        connections.into_values().filter(|connection| connection.calls > 0).collect();
    connections.sort_by_key(|connection| std::cmp::Reverse(connection.saved()));
    Saving {
        instructions: connections.iter().map(Connection::saved).sum(),
        calls: connections.iter().map(|connection| connection.calls).sum(),
        connections,
    }
}

impl Connection {
    fn saved(&self) -> i64 {
        self.domain as i64 - self.kernel as i64
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            out,
            "{}: instructions that calls take less, there and back, if an instance is in the kernel domain",
            self.system
        )?;
        match self.counted {
            Some((calls, executed)) => {
                writeln!(
                    out,
                    "{calls} calls were counted, which take {executed} between caller and callee"
                )?;
            }
            None => writeln!(
                out,
                "each method once; weighed by the calls of a run with --profile FILE"
            )?,
        }
        let head = ["instance", "calls", "saved", "of all", "lines", "unsafe code"];
        writeln!(
            out,
            "\n{:<28} {:>10} {:>10} {:>7} {:>6}  {}",
            head[0], head[1], head[2], head[3], head[4], head[5]
        )?;
        for row in &self.rows {
            row.write(out, self.counted.map(|(_, executed)| executed))?;
        }
        writeln!(
            out,
            "\nIn the kernel domain an error in a component's unsafe code, or of the compiler, reaches everything: its lines are then trusted\n\
             by all. Not counted: what opens windows, and calls of semaphores, locks and what is opened at run time."
        )
    }
}

impl Row {
    fn write(&self, out: &mut fmt::Formatter, executed: Option<u64>) -> fmt::Result {
        let names = self.names.join(", ");
        let trust = if self.has_unsafe_code { "yes: needs trust = \"unsafe-code\"" } else { "no" };
        let trusted = if self.is_trusted { ", trusted with everything already" } else { "" };
        let trust = format!("{trust}{trusted}");
        let saving = match &self.outcome {
            Ok(saving) => saving,
            Err(error) => {
                return writeln!(
                    out,
                    "{names:<28} {:>10} {:>10} {:>7} {:>6}  {trust}\n  cannot: {error}",
                    "-", "-", "-", self.lines
                );
            }
        };
        let part = match executed {
            Some(executed) if executed > 0 => {
                format!("{:.1} %", 100.0 * saving.instructions as f64 / executed as f64)
            }
            _ => "-".to_owned(),
        };
        let there = if self.is_there { ", in the kernel domain already" } else { "" };
        writeln!(
            out,
            "{names:<28} {:>10} {:>10} {part:>7} {:>6}  {trust}{there}",
            saving.calls, saving.instructions, self.lines
        )?;
        for connection in saving.connections.iter().take(SHOWN) {
            let mean = |instructions: u64| instructions as f64 / connection.calls as f64;
            writeln!(
                out,
                "  {:<58} {:>8} x {:>5.1} -> {:>5.1}",
                connection.name,
                connection.calls,
                mean(connection.domain),
                mean(connection.kernel)
            )?;
        }
        match saving.connections.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more"),
        }
    }
}
