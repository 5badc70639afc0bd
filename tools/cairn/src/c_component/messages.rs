//! What the compiler says of a component. Of a mistake in an argument of one of Cairn's macros it says much more than once, and most of
//! it is about the macro: of that, the first message of each line is left, with what was expected.

use std::fmt::Write;

/// A message: an error or a warning, or a note of one.
struct Message<'a> {
    file: &'a str,
    /// Line and column.
    at: &'a str,
    kind: &'a str,
    text: &'a str,
    /// The line of the source, and what points into it.
    excerpt: Vec<&'a str>,
}

impl<'a> Message<'a> {
    /// File and line.
    fn place(&self) -> (&'a str, &'a str) {
        (self.file, self.at.split(':').next().unwrap_or_default())
    }
}

/// A message with its notes.
struct Group<'a> {
    /// As the compiler has it.
    lines: Vec<&'a str>,
    /// Its notes behind it.
    messages: Vec<Message<'a>>,
}

/// `FILE:LINE:COLUMN: KIND: TEXT`.
fn message(line: &str) -> Option<Message<'_>> {
    let (place, rest) = line.split_once(": ")?;
    let kinds = ["fatal error", "error", "warning", "note"];
    let (kind, text) = rest.split_once(": ").filter(|(kind, _)| kinds.contains(kind))?;
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let parts: Vec<&str> = place.rsplitn(3, ':').collect();
    let file = match parts.as_slice() {
        [column, line, file] if is_number(line) && is_number(column) => file,
        _ => return None,
    };
    Some(Message { file, at: &place[file.len() + 1..], kind, text, excerpt: Vec::new() })
}

fn groups(text: &str) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    // Lines before a message that belong to it: where the file was included, and the function.
    let mut before = Vec::new();
    for line in text.lines() {
        match (message(line), groups.last_mut()) {
            (Some(note), Some(group)) if note.kind == "note" => {
                group.lines.append(&mut before);
                group.lines.push(line);
                group.messages.push(note);
            }
            (Some(message), _) => {
                before.push(line);
                groups.push(Group { lines: std::mem::take(&mut before), messages: vec![message] });
            }
            (None, Some(group)) if line.starts_with(' ') && before.is_empty() => {
                group.lines.push(line);
                group.messages.last_mut().expect("a group has one").excerpt.push(line);
            }
            _ => before.push(line),
        }
    }
    groups.push(Group { lines: before, messages: Vec::new() });
    groups
}

/// The compiler's messages as they are shown. `folders` have Cairn's headers, and those that are made of interfaces.
pub fn shown(text: &str, folders: &[&str]) -> String {
    let is_cairns = |message: &Message<'_>| folders.iter().any(|one| message.file.starts_with(one));
    let groups = groups(text);
    let mut said: Vec<(&str, &str)> = Vec::new();
    let mut shown = String::new();
    for group in &groups {
        let own = group.messages.iter().find(|message| !is_cairns(message));
        let (Some(own), Some(first), true) =
            (own, group.messages.first(), group.messages.iter().any(is_cairns))
        else {
            group.lines.iter().for_each(|line| shown += &format!("{line}\n"));
            continue;
        };
        if said.contains(&own.place()) {
            continue;
        }
        said.push(own.place());
        // What is said of it first may be a warning, and what follows from it the error.
        let of_line = groups.iter().filter_map(|group| {
            let other = group.messages.iter().find(|message| !is_cairns(message))?;
            (other.place() == own.place()).then(|| group.messages[0].kind)
        });
        let kind = of_line.into_iter().find(|kind| *kind != "warning").unwrap_or(first.kind);
        let _ = writeln!(shown, "{}:{}: {kind}: {}", own.file, own.at, as_written(first.text));
        own.excerpt.iter().for_each(|line| shown += &format!("{line}\n"));
        expected(group, &mut shown);
    }
    shown
}

/// Without what types are called otherwise.
fn as_written(text: &str) -> String {
    let mut parts = text.split(" {aka ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('}').map_or("", |(_, rest)| rest))
}

/// What was expected, and what to do.
fn expected(group: &Group<'_>, shown: &mut String) {
    let first = group.messages[0].text;
    let texts = || group.messages.iter().map(|message| message.text);
    let member = texts().find_map(|text| {
        text.strip_prefix("(near initialization for '")?.strip_suffix("')")?.split_once('.')
    });
    if let Some(before) = texts().find(|text| text.starts_with("previous declaration")) {
        let _ = writeln!(
            shown,
            "   = expected: {}",
            as_written(before).trim_start_matches("previous declaration of ")
        );
        let server =
            texts().find_map(|text| text.split('\'').find(|word| word.ends_with("_SERVER")));
        let server = server.unwrap_or("the header");
        let _ = writeln!(shown, "   = help: write it as {server} declares it, by the interface");
    } else if let Some(client) =
        texts().find_map(|text| text.strip_prefix("previous definition of '")?.split('\'').next())
    {
        let _ = writeln!(
            shown,
            "   = help: `{client}` is what clients of the interface call: give the server another name than the interface's"
        );
    } else if first.contains("cairn_component' has no member") {
        let _ = writeln!(
            shown,
            "   = help: CAIRN_COMPONENT has .name, .main, .import_count, .imports, .export_count, .exports, .arguments"
        );
    } else if let Some((_, member)) = member {
        let _ = writeln!(shown, "   = it is taken for the member .{member}");
        let list = [
            (".imports[", "{ \"NAME\", FIRST_PORTAL, X_INTERFACE }"),
            (".exports[", "{ \"NAME\", 0, X_INTERFACE, X_ENTRIES(SERVER) }, with 1 for objects"),
            (".arguments[", "{ \"NAME\", CAIRN_ARGUMENT_*, HAS_DEFAULT, DEFAULT }"),
        ];
        let of = list.iter().find(|(start, _)| format!(".{member}").starts_with(start));
        if let Some((start, fields)) = of {
            let _ = writeln!(
                shown,
                "   = help: write each of {} as {fields}",
                start.trim_end_matches('[')
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{COMPILER, MACHINE};
    use super::*;
    use crate::{interfaces, paths, setup};
    use std::process::Command;

    const SOURCE: &str = r#"#include "console.h"
#include "echo.h"
enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT };
ECHO_SERVER(test)
#define NOTHING (struct cairn_reply){ 0, 0 }
struct cairn_reply test_add(uint64_t c, uint64_t l, uint64_t r) { (void)c, (void)l, (void)r; return NOTHING; }
static void run(void) {}
CAIRN_COMPONENT(
    .name = "test",
    .main = run,
    .import_count = 1,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(test) } });
"#;

    /// What is shown of the source with one thing in it replaced, compiled with and without what enters its functions.
    fn shown_with(correct: &str, mistaken: &str) -> [String; 2] {
        let folder = std::env::temp_dir().join(format!("cairn-messages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        for name in ["Console", "Echo"] {
            let of = interfaces::own(name).unwrap();
            write(&cairn_headers::file_name(&of.interface), &interfaces::header(&of).unwrap());
        }
        write(cairn_headers::ABI_FILE, &cairn_headers::abi());
        assert!(SOURCE.contains(correct));
        let own = folder.join("own");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("test.c"), SOURCE.replace(correct, mistaken)).unwrap();
        let library = paths::source().join("lib/c").display().to_string();
        let headers = folder.display().to_string();
        let texts = ["-DPLAIN", "-DCAIRN_ENTERED"].map(|entered| {
            let mut command = Command::new(COMPILER);
            command.args([
                "-march=rv64imac",
                "-mabi=lp64",
                "-Wall",
                "-Wextra",
                "-fsyntax-only",
                entered,
            ]);
            command.args(MACHINE).args([format!("-I{library}"), format!("-I{headers}")]);
            let output = command.arg("test.c").current_dir(&own).output().unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            shown(&text, &[&library, &headers])
        });
        std::fs::remove_dir_all(&folder).unwrap();
        texts
    }

    #[test]
    fn a_mistake_in_a_macros_argument_is_said_once_with_what_was_expected() {
        setup::need(setup::C_COMPILER).unwrap();
        for (correct, mistaken, lines, expected) in [
            (".main = run", ".mian = run", 4, "test.c:10:6: error: "),
            (".main = run", ".mian = run", 4, "= help: CAIRN_COMPONENT has .name, .main, "),
            ("\"echo\", 0,", "\"echo\",", 10, "test.c:14:28: error: "),
            ("\"echo\", 0,", "\"echo\",", 10, "= help: write each of .exports as { \"NAME\", 0, "),
            (
                ".import_count = 1",
                ".import_count = \"1\"",
                4,
                "= it is taken for the member .import_count",
            ),
            (
                "uint64_t r)",
                "uint32_t r)",
                5,
                "= expected: 'test_add' with type 'struct cairn_reply(uint64_t,  uint64_t,  uint64_t)'\n",
            ),
            (
                "ECHO_SERVER(test)",
                "ECHO_SERVER(echo)",
                9,
                "= help: `echo_add` is what clients of the interface call: give the server another name than the interface's\n",
            ),
            ("ENTRIES(test)", "ENTRIES(tset)", 3, "did you mean 'test_add'?"),
            (
                "{ (void)c,",
                "{ nothing(c);",
                4,
                "warning: implicit declaration of function 'nothing'",
            ),
        ] {
            let shown = shown_with(correct, mistaken);
            assert!(shown[0].contains(expected), "{}", shown[0]);
            assert!(
                shown.iter().all(|text| (1..=lines).contains(&text.lines().count())),
                "{shown:?}"
            );
        }
        assert_eq!(shown_with("test_add", "test_add"), ["", ""]);
    }
}
