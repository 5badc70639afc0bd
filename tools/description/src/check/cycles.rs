//! Cycles of calls. A call on a new stack holds an activation of its callee until it returns; a
//! thread that comes back to an instance on a cycle needs a second one while it holds the first,
//! and threads that all do so wait for each other for ever. Calls that run to completion take no
//! activation and never wait, so they are exempt; so is a cycle of nothing but shared stacks. An instance
//! that calls itself harms nobody but those who call it, so it may where its connection says `stack = "new"`.

use crate::model::{Connection, StackMode, System};
use crate::place::Located;
use crate::report::{Error, Report};
use std::collections::VecDeque;

/// An instance and whom it calls.
type Edge<'a> = (usize, &'a Located<usize>);

/// Whom an instance calls, by its imports and where it misses pages, and on which stack.
fn calls(system: &System, client: usize) -> impl Iterator<Item = (&Located<usize>, StackMode)> {
    let imports = system.instances[client].imports.iter();
    let is_meant =
        move |connection: &Connection| *connection.target == client && connection.says_stack;
    let imports = imports.filter(move |connection| !is_meant(connection));
    let imports = imports.map(|connection| (&connection.target, *connection.stack));
    imports.chain(system.paged(client).map(|(_, pager)| (&pager.instance, StackMode::New)))
}

pub(super) fn check(system: &System, report: &mut Report) {
    let mut reported = vec![false; system.instances.len()];
    for client in 0..system.instances.len() {
        for (target, stack) in calls(system, client) {
            if stack != StackMode::New || reported[client] {
                continue;
            }
            let Some(back) = path(system, **target, client) else {
                continue;
            };
            report.push(error(system, (client, target), &back));
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
        for (target, stack) in calls(system, client) {
            let exempt = stack == StackMode::RunToCompletion;
            if !exempt && **target != start && reached_by[**target].is_none() {
                reached_by[**target] = Some((client, target));
                queue.push_back(**target);
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
    for (_, target) in [first].iter().chain(back) {
        chain.push_str(&format!(" -> `{}`", name(***target)));
    }
    let help = match back {
        [] => {
            "let it call the function itself; or say that its calls of itself have enough `stacks`: \
             `{ to = \"INSTANCE.EXPORT\", stack = \"new\" }`"
        }
        _ => {
            "break the cycle: let one of these instances wait on a semaphore, or share a section, \
             instead of calling"
        }
    };
    let error = Error::new(
        &first.1.place,
        format!("a cycle of calls can run out of stacks: {chain}"),
        "expected calls that never lead back to their caller",
        help,
    );
    back.iter().fold(error, |error, (client, target)| {
        let text = format!("`{}` calls `{}`", name(*client), name(***target));
        error.note(&target.place, text)
    })
}
