//! The commands: their names, what they take, what they do.

use crate::screen::Screen;
use crate::{
    attach, bench, call, control, listing, loading, log, recording, sandbox, shelf, tools, top,
    wrap,
};
use cairn_shell::complete::Completer;
use cairn_shell::history::LINE;
use cairn_shell::words::{Word, split};
use core::fmt::{Result, Write};

/// A command.
struct Command {
    name: &'static str,
    /// As the help shows it.
    arguments: &'static str,
    help: &'static str,
    /// Fewest and most words behind the name.
    count: (usize, usize),
    /// What its first word can be.
    names: Names,
    run: fn(&[Word], &mut Screen) -> Result,
}

/// Words that a command takes.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    None,
    Instances,
    Exports,
    Benchmarks,
}

const ANY: usize = usize::MAX;

static COMMANDS: [Command; 36] = [
    Command {
        name: "help",
        arguments: "",
        help: "this list",
        count: (0, 0),
        names: Names::None,
        run: help,
    },
    Command {
        name: "ps",
        arguments: "[-m]",
        help: "components: domain, state, memory, threads; -m: what each used of heap and stacks",
        count: (0, 1),
        names: Names::None,
        run: listing::instances,
    },
    Command {
        name: "threads",
        arguments: "",
        help: "threads: home, priority, what they wait for, time used",
        count: (0, 0),
        names: Names::None,
        run: listing::threads,
    },
    Command {
        name: "top",
        arguments: "",
        help: "who has the processor, in the next second",
        count: (0, 0),
        names: Names::None,
        run: top::run,
    },
    Command {
        name: "portals",
        arguments: "[NAME]",
        help: "portals of all components, or of one: index, specification, to whom",
        count: (0, 1),
        names: Names::Instances,
        run: listing::portals,
    },
    Command {
        name: "grants",
        arguments: "[NAME]",
        help: "what components have passed on, and to whom, with which rights",
        count: (0, 1),
        names: Names::Instances,
        run: listing::grants,
    },
    Command {
        name: "names",
        arguments: "",
        help: "what can be opened: name, interface, by whom",
        count: (0, 0),
        names: Names::None,
        run: listing::names,
    },
    Command {
        name: "mem",
        arguments: "",
        help: "memory and portal code, used and free",
        count: (0, 0),
        names: Names::None,
        run: listing::memory,
    },
    Command {
        name: "log",
        arguments: "[-f] [NAME [LEVEL]]",
        help: "what components log; -f goes on until a key; LEVEL: off to trace",
        count: (0, 2),
        names: Names::Instances,
        run: log::run,
    },
    Command {
        name: "shelf",
        arguments: "",
        help: "packages of the image: what can be loaded",
        count: (0, 0),
        names: Names::None,
        run: shelf::run,
    },
    Command {
        name: "uptime",
        arguments: "",
        help: "time since the start",
        count: (0, 0),
        names: Names::None,
        run: listing::uptime,
    },
    Command {
        name: "call",
        arguments: "NAME METHOD ARGS...",
        help: "calls a method; `call NAME` lists them",
        count: (1, ANY),
        names: Names::Exports,
        run: call::run,
    },
    Command {
        name: "attach",
        arguments: "NAME",
        help: "types for a component with a terminal of its own; ctrl-] comes back",
        count: (1, 1),
        names: Names::Instances,
        run: attach::run,
    },
    Command {
        name: "crash",
        arguments: "NAME",
        help: "makes a component fault",
        count: (1, 1),
        names: Names::Instances,
        run: control::crash,
    },
    Command {
        name: "kill",
        arguments: "NAME",
        help: "ends a component",
        count: (1, 1),
        names: Names::Instances,
        run: control::kill,
    },
    Command {
        name: "restart",
        arguments: "NAME",
        help: "starts a component anew",
        count: (1, 1),
        names: Names::Instances,
        run: control::restart,
    },
    Command {
        name: "load",
        arguments: "PACKAGE [as NAME]",
        help: "makes a component of a package",
        count: (1, 3),
        names: Names::None,
        run: loading::load,
    },
    Command {
        name: "unload",
        arguments: "NAME",
        help: "ends a component, and takes back all that it had",
        count: (1, 1),
        names: Names::Instances,
        run: loading::unload,
    },
    Command {
        name: "wrap",
        arguments: "NAME with INTERPOSER",
        help: "calls to a component go through another; `*`: all calls, with `--client NAME`",
        count: (3, 7),
        names: Names::Instances,
        run: wrap::wrap,
    },
    Command {
        name: "unwrap",
        arguments: "NAME",
        help: "they do not any more; `with INTERPOSER`: of many this one",
        count: (1, 7),
        names: Names::Instances,
        run: wrap::unwrap,
    },
    Command {
        name: "wraps",
        arguments: "",
        help: "who stands between whom",
        count: (0, 0),
        names: Names::None,
        run: wrap::list,
    },
    Command {
        name: "trace",
        arguments: "NAME",
        help: "keeps the calls to a component; again: shows them; `--to FILE` for a viewer",
        count: (1, 7),
        names: Names::Instances,
        run: tools::trace,
    },
    Command {
        name: "count",
        arguments: "NAME",
        help: "counts them for each method; again: shows it",
        count: (1, 5),
        names: Names::Instances,
        run: tools::count,
    },
    Command {
        name: "delay",
        arguments: "NAME MICROSECONDS",
        help: "lets them wait",
        count: (2, 6),
        names: Names::Instances,
        run: tools::delay,
    },
    Command {
        name: "limit",
        arguments: "NAME CALLS_A_SECOND",
        help: "lets them wait if they are more",
        count: (2, 6),
        names: Names::Instances,
        run: tools::limit,
    },
    Command {
        name: "inject",
        arguments: "NAME METHOD ERROR",
        help: "answers an error instead; `every N`: not always",
        count: (3, 9),
        names: Names::Instances,
        run: tools::inject,
    },
    Command {
        name: "record",
        arguments: "NAME",
        help: "records them; `record NAME FILE` writes that as a file, which can be typed in",
        count: (1, 6),
        names: Names::Instances,
        run: recording::record,
    },
    Command {
        name: "replay",
        arguments: "NAME",
        help: "answers them as they were recorded; again: which were not",
        count: (1, ANY),
        names: Names::Instances,
        run: recording::replay,
    },
    Command {
        name: "sandbox",
        arguments: "PACKAGE [as NAME] [allow SERVER...]",
        help: "loads it; it can call nobody else; `sandbox NAME` shows what was refused",
        count: (1, ANY),
        names: Names::None,
        run: sandbox::run,
    },
    Command {
        name: "replace",
        arguments: "NAME with PACKAGE [within MILLISECONDS]",
        help: "gives a component another content; its callers wait",
        count: (1, 5),
        names: Names::Instances,
        run: loading::replace,
    },
    Command {
        name: "move",
        arguments: "NAME kernel|domain|with OTHER [within MILLISECONDS]",
        help: "a component goes on in the kernel, with another or in its domain; its callers wait",
        count: (1, 5),
        names: Names::Instances,
        run: loading::move_to,
    },
    Command {
        name: "bench",
        arguments: "[NAME]",
        help: "measures calls, a yield, a semaphore, opening a name, here and now",
        count: (0, 1),
        names: Names::Benchmarks,
        run: bench::run,
    },
    Command {
        name: "echo",
        arguments: "WORDS...",
        help: "says the words again",
        count: (0, ANY),
        names: Names::None,
        run: echo,
    },
    Command {
        name: "clear",
        arguments: "",
        help: "clears the screen",
        count: (0, 0),
        names: Names::None,
        run: clear,
    },
    Command {
        name: "reboot",
        arguments: "",
        help: "starts the machine anew",
        count: (0, 0),
        names: Names::None,
        run: control::reboot,
    },
    Command {
        name: "halt",
        arguments: "[STATUS]",
        help: "stops the machine; the status is that of ./cairn run",
        count: (0, 1),
        names: Names::None,
        run: control::halt,
    },
];

/// The first line.
pub fn greet(screen: &mut Screen) -> Result {
    writeln!(screen, "Cairn. Type `help` for what can be done here, `halt` to leave.")
}

/// Says that a line was not done because it was too long.
pub fn refuse(screen: &mut Screen) -> Result {
    writeln!(screen, "error: a line has at most {LINE} characters; nothing was done")
}

/// Does what a line says.
pub fn run(line: &str, screen: &mut Screen) -> Result {
    let words = match split(line) {
        Ok(words) => words,
        Err(mistake) => return writeln!(screen, "error: {}", mistake.text()),
    };
    let Some((name, words)) = words.split_first() else { return Ok(()) };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name.as_str()) else {
        return writeln!(screen, "error: no command `{name}`; `help` lists them all");
    };
    if words.len() < command.count.0 || words.len() > command.count.1 {
        let space = if command.arguments.is_empty() { "" } else { " " };
        return writeln!(screen, "error: expected `{}{space}{}`", command.name, command.arguments);
    }
    (command.run)(words, screen)
}

fn help(_words: &[Word], screen: &mut Screen) -> Result {
    for command in &COMMANDS {
        let width = 24usize.saturating_sub(command.name.len());
        writeln!(screen, "  {} {:width$} {}", command.name, command.arguments, command.help)?;
    }
    writeln!(screen, "keys: arrows, home, end, tab completes, ctrl-a e k u w c l as usual")
}

fn echo(words: &[Word], screen: &mut Screen) -> Result {
    for (position, word) in words.iter().enumerate() {
        write!(screen, "{}{word}", if position > 0 { " " } else { "" })?;
    }
    writeln!(screen)
}

fn clear(_words: &[Word], screen: &mut Screen) -> Result {
    write!(screen, "\x1b[2J\x1b[H")
}

/// Completes commands and names.
pub struct Commands;

impl Completer for Commands {
    fn candidates(&self, words: &str, take: &mut dyn FnMut(&str)) {
        let mut before = words.split_whitespace();
        let Some(first) = before.next() else {
            return COMMANDS.iter().for_each(|command| take(command.name));
        };
        let names = COMMANDS
            .iter()
            .find(|command| command.name == first)
            .map_or(Names::None, |command| command.names);
        match (names, before.next(), before.next()) {
            (Names::Instances, None, None) => listing::each_instance(|_, name| take(name)),
            (Names::Benchmarks, None, None) => bench::NAMES.iter().for_each(|name| take(name)),
            (Names::Exports, None, None) => listing::each_name(|name| take(name)),
            (Names::Exports, Some(export), None) => {
                call::each_method(export, |method| take(method.name))
            }
            _ => {}
        }
    }
}
