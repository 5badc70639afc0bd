//! Functions, files and lines to the addresses in a supervisor's reports: it prints these alone, since only the files of the
//! components know more.

pub(crate) mod modules;
pub(crate) mod rows;

use crate::archive;
use crate::build::{BuiltImage, Symbols};
use modules::{Modules, Start};
use regex::{Captures, Regex};
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// Follows what a system prints, and says what stands behind the addresses.
pub struct Symboliser {
    modules: Modules,
    /// Whose files these are.
    source: Source,
    image: Regex,
    start: Regex,
    word: Regex,
    call: Regex,
    package: Regex,
    /// What was read of a report's stack: its first line, and words by their places.
    stack: Option<(Start, BTreeMap<u64, u64>)>,
    /// The line that is not complete yet.
    line: Vec<u8>,
}

/// Where the files come from.
enum Source {
    /// The archive has those of the image that the text names.
    Archive,
    /// Of an image with this identifier.
    Image(String),
    /// They are what is looked at, whatever the text says.
    Given,
}

/// Most words of a stack: more than the supervisor prints.
const WORDS_MAXIMUM: usize = 64;
/// Longest line that is looked at: of longer ones the rest is text like any other.
const LINE_MAXIMUM: usize = 1024;

impl Symboliser {
    /// For a system with these files.
    pub fn new(symbols: &[Symbols]) -> Symboliser {
        let regex = |text| Regex::new(text).expect("a valid expression");
        Symboliser {
            modules: Modules::new(symbols),
            source: Source::Given,
            image: regex(r"supervisor: image ([0-9a-f]{16})"),
            start: regex(r"supervisor:   stack 0x([0-9a-f]+): pc 0x([0-9a-f]+), ra 0x([0-9a-f]+)"),
            word: regex(r"\+0x([0-9a-f]+) 0x([0-9a-f]+)"),
            call: regex(r"supervisor:   called by `[^`]*` at 0x([0-9a-f]+)"),
            package: regex(r"supervisor:   .* 0x([0-9a-f]+) of the package ([0-9a-f]{16})"),
            stack: None,
            line: Vec::new(),
        }
    }

    /// For whatever images were kept here when they were built.
    pub fn of_any() -> Symboliser {
        Symboliser { source: Source::Archive, ..Symboliser::new(&[]) }
    }

    /// For an image that was built: a text that names another one is told from what it printed.
    pub fn of(image: &BuiltImage) -> Symboliser {
        let source = Source::Image(archive::shown(image.identifier));
        Symboliser { source, ..Symboliser::new(&image.symbols) }
    }

    /// How many words of a stack were read whose lines go on.
    pub fn words_kept(&self) -> usize {
        self.stack.as_ref().map_or(0, |(_, words)| words.len())
    }

    /// What a system printed, and behind each line with addresses lines that say what they are.
    pub fn add(&mut self, output: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(output.len());
        for byte in output {
            shown.push(*byte);
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    let line = String::from_utf8_lossy(&line);
                    for told in self.found(&line).into_iter().chain(self.places(&line)) {
                        shown.extend(format!("cairn:     {told}\r\n").bytes());
                    }
                }
                _ if self.line.len() < LINE_MAXIMUM => self.line.push(*byte),
                _ => {}
            }
        }
        shown
    }

    /// Takes the files of the image that a line names, or of none if they are not here; why, if something has to be said.
    fn found(&mut self, line: &str) -> Option<String> {
        match &self.source {
            Source::Given => return None,
            Source::Image(built) => {
                let named = self.image.captures(line)?;
                return (named[1] != **built).then(|| {
                    format!(
                        "this is image {}, and image {built} is what was built here: lines and functions may be others; expected \
                         the same source, or `symbolise` without a name, which takes the files that were kept of the image",
                        &named[1]
                    )
                });
            }
            Source::Archive => {}
        }
        if let Some(found) = self.image.captures(line) {
            let symbols = archive::find(&found[1]);
            self.modules = Modules::new(symbols.as_deref().unwrap_or_default());
            return symbols.err().map(|error| error.to_string());
        }
        let is_lost = self.modules.is_empty() && self.start.is_match(line);
        is_lost.then(|| {
            "no line `supervisor: image ...` before this says what it is of, or its files are not here; expected the \
             image's identifier or a system's name behind `symbolise`"
                .to_owned()
        })
    }

    /// What the addresses of a line mean.
    fn places(&mut self, line: &str) -> Vec<String> {
        // What lies at these addresses is not what the image had there.
        if let Some(found) = self.package.captures(line) {
            return self.modules.of_package(&found[2], number(&found, 1));
        }
        if let Some(found) = self.call.captures(line) {
            return self.modules.calls(number(&found, 1));
        }
        if let Some(found) = self.start.captures(line) {
            let [stack, pc, link] = [1, 2, 3].map(|group| number(&found, group));
            self.stack = Some((Start { stack, pc, link }, BTreeMap::new()));
        }
        let (Some((start, words)), true) = (&mut self.stack, line.contains("supervisor:   stack "))
        else {
            return Vec::new();
        };
        for found in self.word.captures_iter(line) {
            // Whoever prints lines that go on and on takes no more room.
            if words.len() >= WORDS_MAXIMUM {
                break;
            }
            let [offset, word] = [1, 2].map(|group| number(&found, group));
            words.insert(start.stack.wrapping_add(offset), word);
        }
        // A comma at its end: another line has the rest.
        if line.trim_end().ends_with(',') {
            return Vec::new();
        }
        let (start, words) = self.stack.take().expect("it is there");
        self.modules.chain(start, &words)
    }
}

/// Copies what a system printed, with what its addresses mean.
pub fn copy(
    mut symboliser: Symboliser,
    mut from: impl Read,
    mut to: impl Write,
) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to.write_all(&symboliser.add(&buffer[..count]))?,
        }
        to.flush()?;
    }
}

/// The number in a group that matched; one that is too long is none of an address.
fn number(found: &Captures<'_>, group: usize) -> u64 {
    u64::from_str_radix(&found[group], 16).unwrap_or(0)
}
