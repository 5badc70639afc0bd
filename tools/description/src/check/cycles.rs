//! Cycles of calls. A call on a new stack holds an activation of its callee until it returns; a
//! thread that comes back to an instance on a cycle needs a second one while it holds the first,
//! and threads that all do so wait for each other for ever. Calls that run to completion take no
//! activation and never wait, so they are exempt; so is a cycle of nothing but shared stacks.

use crate::model::{Connection, StackMode, System};
use crate::report::{Error, Report};
use std::collections::VecDeque;

/// A connection and the instance whose import it is.
type Edge<'a> = (usize, &'a Connection);

pub(super) fn check(system: &System, report: &mut Report) {
    let mut reported = vec![false; system.instances.len()];
    for (client, instance) in system.instances.iter().enumerate() {
        for connection in &instance.imports {
            if *connection.stack != StackMode::New || reported[client] {
                continue;
            }
            let Some(back) = path(system, *connection.target, client) else {
                continue;
            };
            report.push(error(system, (client, connection), &back));
            reported[client] = true;
            back.iter().for_each(|(through, _)| reported[*through] = true);
        }
    }
}

/// A shortest chain of calls from `start` to `end`; empty if they are the same.
fn path(system: &System, start: usize, end: usize) -> Option<Vec<Edge<'_>>> {
    let mut reached_by: Vec<Option<Edge<'_>>> = vec![None; system.instances.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(client) = queue.pop_front() {
        if client == end {
            break;
        }
        for connection in &system.instances[client].imports {
            let target = *connection.target;
            let exempt = *connection.stack == StackMode::RunToCompletion;
            if !exempt && target != start && reached_by[target].is_none() {
                reached_by[target] = Some((client, connection));
                queue.push_back(target);
            }
        }
    }
    let mut edges = Vec::new();
    let mut at = end;
    while at != start {
        let edge = reached_by[at]?;
        edges.push(edge);
        at = edge.0;
    }
    edges.reverse();
    Some(edges)
}

fn error(system: &System, first: Edge<'_>, back: &[Edge<'_>]) -> Error {
    let name = |instance: usize| system.instances[instance].name.as_str();
    let mut chain = format!("`{}`", name(first.0));
    for (_, connection) in [first].iter().chain(back) {
        chain.push_str(&format!(" -> `{}`", name(*connection.target)));
    }
    let error = Error::new(
        &first.1.target.place,
        format!("a cycle of calls can run out of stacks: {chain}"),
        "expected calls that never lead back to their caller",
        "break the cycle: let one of these instances wait on a semaphore, or share a section, \
         instead of calling",
    );
    back.iter().fold(error, |error, (client, connection)| {
        let text = format!("`{}` calls `{}`", name(*client), name(*connection.target));
        error.note(&connection.target.place, text)
    })
}
