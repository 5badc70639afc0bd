//! What `docs/reference/system-description.md` says of each key.

use std::collections::HashMap;

const TEXT: &str = include_str!("../../../../docs/reference/system-description.md");

/// The reference's rows, by paths such as `instance.*.memory`.
pub(super) struct Reference(HashMap<String, String>);

impl Reference {
    pub fn new() -> Reference {
        let mut rows = HashMap::new();
        // The table whose keys are told, and that in which such a one is written.
        let (mut path, mut outer) = (String::new(), String::new());
        for line in TEXT.lines() {
            if line.starts_with('#') {
                let title = code(line).unwrap_or_default();
                path = match table_of(title) {
                    Some(table) => table,
                    None => format!("{outer}.{title}"),
                };
                if line.starts_with("## ") {
                    outer = path.clone();
                }
                continue;
            }
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, cells @ .., _] = cells.as_slice() else { continue };
            let cells = match cells {
                // The boards' table has the path in its first column.
                [table, rest @ ..] if cells.len() == 5 => {
                    path = code(table).and_then(table_of).unwrap_or(path);
                    rest
                }
                _ => cells,
            };
            let [key, _, default, text] = cells else { continue };
            if let Some(key) = code(key) {
                let default = match *default {
                    "required" | "none" | "see below" => String::new(),
                    default => format!("\n\nDefault: {default}"),
                };
                rows.insert(format!("{path}.{key}"), plain(text) + &plain(&default));
            }
        }
        Reference(rows)
    }

    /// What it says of the key at `path`.
    pub fn text(&self, path: &str) -> Option<&str> {
        if let Some(text) = self.0.get(path) {
            return Some(text);
        }
        // A template says what an instance does, and so does a package.
        let as_instance =
            ["template.", "package."].into_iter().find_map(|kind| path.strip_prefix(kind));
        let path = match as_instance {
            Some(rest) => format!("instance.{rest}"),
            None => path.to_owned(),
        };
        let of_all = || {
            // What is in a table of names is told below that table's own title.
            let (table, key) = path.rsplit_once('.')?;
            self.0.get(&format!("{}.{key}", table.strip_suffix(".*")?))
        };
        self.0.get(&path).or_else(of_all).map(String::as_str)
    }
}

/// The first words of a line that are marked as code.
fn code(line: &str) -> Option<&str> {
    line.split('`').nth(1)
}

/// The path of a table by its header, in which names are in capitals.
fn table_of(header: &str) -> Option<String> {
    let header = header.strip_prefix('[')?.strip_suffix(']')?;
    let is_name = |part: &str| part.starts_with(|one: char| one.is_ascii_uppercase() || one == '"');
    let parts = header.split('.').map(|part| if is_name(part) { "*" } else { part });
    Some(parts.collect::<Vec<_>>().join("."))
}

/// Without links, which lead nowhere from an editor.
fn plain(text: &str) -> String {
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(open) = plain.rfind('[') {
            plain.remove(open);
        }
        plain += part.split_once(')').map_or(part, |(_, rest)| rest);
    }
    plain
}
