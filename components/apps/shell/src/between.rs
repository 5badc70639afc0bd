//! Whose calls to whom go through an interposer: as one types it, and as the portal manager tells it.

use crate::words::Word;
use core::fmt::{Display, Formatter, Result};

/// Between whom. No name stands for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends<'text> {
    /// Whose calls.
    pub client: &'text str,
    /// To whom.
    pub server: &'text str,
    /// By which interface.
    pub interface: &'text str,
    /// The file into which something is to go.
    pub file: &'text str,
}

/// `*` is written where all are meant.
fn all(name: &str) -> &str {
    if name == "*" { "" } else { name }
}

impl<'text> Ends<'text> {
    /// `NAME ... [--client NAME] [--interface NAME] [--to FILE]`, and what is between; the options come last, in any order, each once.
    pub fn read(words: &'text [Word]) -> Option<(Ends<'text>, &'text [Word])> {
        let (server, mut rest) = words.split_first()?;
        let mut ends = Ends { server: all(server), ..Ends::default() };
        while let [before @ .., option, name] = rest {
            let slot = match option.as_str() {
                "--client" => &mut ends.client,
                "--interface" => &mut ends.interface,
                "--to" => &mut ends.file,
                _ => break,
            };
            if !slot.is_empty() || name.starts_with('-') || name.is_empty() {
                return None;
            }
            *slot = all(name);
            rest = before;
        }
        let is_option = |word: &Word| word.starts_with("--");
        (!server.is_empty() && !is_option(server) && !rest.iter().any(is_option))
            .then_some((ends, rest))
    }

    /// A rule as the portal manager tells it, `shell greeter/Echo trace falls back`, and its interposer.
    pub fn of_rule(text: &'text str) -> Option<(Ends<'text>, &'text str)> {
        let mut words = text.split(' ');
        let (client, server, interposer) = (words.next()?, words.next()?, words.next()?);
        let (server, interface) = server.split_once('/').unwrap_or((server, ""));
        let ends = Ends { client: all(client), server: all(server), interface, file: "" };
        Some((ends, interposer))
    }

    /// Whether it is about all clients and interfaces.
    pub fn is_of_all(&self) -> bool {
        self.client.is_empty() && self.interface.is_empty()
    }
}

/// So many portals, for people.
pub struct Portals(pub u64);

impl Display for Portals {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self.0 {
            0 => write!(out, "nobody has such a portal now"),
            1 => write!(out, "1 portal"),
            many => write!(out, "{many} portals"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::split;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn read(line: &str) -> Option<([String; 3], Vec<String>)> {
        let words = split(line).unwrap();
        let (ends, rest) = Ends::read(&words)?;
        let texts = [ends.client, ends.server, ends.interface].map(String::from);
        Some((texts, rest.iter().map(|word| String::from(word.as_str())).collect()))
    }

    fn ends(client: &str, server: &str, interface: &str) -> [String; 3] {
        [client, server, interface].map(String::from)
    }

    #[test]
    fn options_stand_behind_the_rest() {
        let with = |name: &str| Vec::from(["with", name].map(String::from));
        assert_eq!(read("a with b"), Some((ends("", "a", ""), with("b"))));
        assert_eq!(read("* with b --client c"), Some((ends("c", "", ""), with("b"))));
        let both = Some((ends("c", "a", "I"), with("b")));
        assert_eq!(read("a with b --client c --interface I"), both);
        assert_eq!(read("a with b --interface I --client c"), both);
        assert_eq!(read("a --client *"), Some((ends("", "a", ""), Vec::new())));
        for line in [
            "",
            "\"\"",
            "--client a",
            "a --client",
            "a --client b --client c",
            "a --client --interface",
            "a --clients b",
            "a --client \"\"",
            "a --client b with c",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn rules() {
        let rule = Ends::of_rule("* greeter/Echo trace-greeter falls back").unwrap();
        let ends = Ends { server: "greeter", interface: "Echo", ..Ends::default() };
        assert_eq!(rule, (ends, "trace-greeter"));
        let rule = Ends::of_rule("shell * trace").unwrap();
        assert_eq!(rule, (Ends { client: "shell", ..Ends::default() }, "trace"));
        assert!(!rule.0.is_of_all() && Ends::default().is_of_all());
        assert_eq!(Ends::of_rule("shell *"), None);
    }

    #[test]
    fn how_many() {
        let texts = [0, 1, 12].map(|portals| format!("{}", Portals(portals)));
        assert_eq!(texts, ["nobody has such a portal now", "1 portal", "12 portals"]);
    }
}
