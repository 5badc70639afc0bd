//! Errors for people: what is wrong, where, what was expected, what to do.

use crate::copies::{form, merged, ranges};
use crate::names::{list, quoted};
use crate::place::Place;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use cairn_abi::text::Visible;
use std::collections::HashMap;
use std::fmt;
use std::io::IsTerminal;

/// One thing that is wrong with a description.
#[derive(Clone, Debug)]
pub struct Error {
    /// Where.
    pub place: Place,
    /// What is wrong, in one line.
    pub message: String,
    /// What was expected at this place; shown under the excerpt.
    pub label: String,
    /// Other places that belong to it, each with what it has to do with it.
    pub notes: Vec<(Place, String)>,
    /// What to do.
    pub help: String,
}

impl Error {
    /// An error at `place`. `label` says what was expected there, `help` what to do.
    pub fn new(
        place: &Place,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Error {
        Error {
            place: place.clone(),
            message: message.into(),
            label: label.into(),
            notes: Vec::new(),
            help: help.into(),
        }
    }

    /// The same error, pointing at another place too.
    pub fn note(mut self, place: &Place, text: impl Into<String>) -> Error {
        self.notes.push((place.clone(), text.into()));
        self
    }

    /// The notes, with those at one place that say the same of several copies as one.
    fn shown_notes(&self) -> Vec<(&Place, String)> {
        let key = |place: &Place| (place.path().to_owned(), place.range());
        let mut places: Vec<&Place> = Vec::new();
        for (place, _) in &self.notes {
            if !places.iter().any(|known| key(known) == key(place)) {
                places.push(place);
            }
        }
        let at = |place: &Place| {
            let notes = self.notes.iter().filter(|(other, _)| key(other) == key(place));
            merged(notes.map(|(_, text)| text.clone()))
        };
        places.iter().flat_map(|place| at(place).into_iter().map(|text| (*place, text))).collect()
    }

    /// What is wrong with whom, apart from the number of a copy.
    fn wrong(&self) -> String {
        [&*self.message, &self.label, &self.help].join("\n")
    }

    fn render(&self, copies: &[String], renderer: &Renderer) -> String {
        let notes = self.shown_notes();
        let title = Level::ERROR.primary_title(self.message.as_str());
        let mut group = if self.place.source().text().is_empty() {
            // Nothing to show an excerpt of: the file is missing or empty.
            let origin = Origin::path(self.place.path()).line(1).char_column(1);
            Group::with_title(title)
                .element(origin)
                .element(Level::NOTE.message(self.label.as_str()))
        } else {
            let primary =
                AnnotationKind::Primary.span(self.place.range()).label(self.label.as_str());
            Group::with_title(title).element(self.notes_in_same_file(&notes).annotation(primary))
        };
        for (place, text) in notes.iter().filter(|note| !self.in_same_file(note.0)) {
            let annotation = AnnotationKind::Context.span(place.range()).label(text.as_str());
            group = group.element(self.snippet(place).annotation(annotation));
        }
        group = group.element(Level::HELP.message(self.help.as_str()));
        let mut foreign: Vec<&str> = [&self.place]
            .into_iter()
            .chain(notes.iter().map(|(place, _)| *place))
            .filter(|place| place.source().is_foreign())
            .map(Place::path)
            .collect();
        foreign.dedup();
        if !foreign.is_empty() {
            let note = format!(
                "not yours, but of Cairn's tree: {}; write your own value of a key into your description, which lies over it",
                list(foreign)
            );
            group = group.element(Level::NOTE.message(note));
        }
        if !copies.is_empty() {
            let shown = ranges(copies.iter().map(String::as_str), quoted).join(", ");
            let note = format!("the same of {} more: {shown}", copies.len());
            group = group.element(Level::NOTE.message(note));
        }
        renderer.render(&[group])
    }

    fn snippet<'a>(&self, place: &'a Place) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        Snippet::source(place.source().text()).path(place.path()).line_start(1)
    }

    fn notes_in_same_file<'a>(
        &'a self,
        notes: &'a [(&Place, String)],
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        notes.iter().filter(|note| self.in_same_file(note.0)).fold(
            self.snippet(&self.place),
            |snippet, (place, text)| {
                snippet.annotation(AnnotationKind::Context.span(place.range()).label(text.as_str()))
            },
        )
    }

    fn in_same_file(&self, place: &Place) -> bool {
        place.path() == self.place.path()
    }
}

/// Everything that is wrong with a description, in the order of the text.
///
/// `Display` renders it without colour; [`Report::print`] chooses by the terminal.
#[derive(Clone, Debug, Default)]
pub struct Report {
    errors: Vec<Error>,
    /// Of each error, when they have been put in order: the copies of an instance of which the same is wrong.
    copies: Vec<Vec<String>>,
}

impl Report {
    /// A report without errors.
    pub fn new() -> Report {
        Report::default()
    }

    /// One more error.
    pub fn push(&mut self, error: Error) {
        self.errors.push(error);
    }

    /// All errors of another report too.
    pub fn append(&mut self, other: Report) {
        self.errors.extend(other.errors);
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The errors.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// The same, to be said better.
    pub(crate) fn errors_mut(&mut self) -> &mut [Error] {
        &mut self.errors
    }

    /// Leaves out those of which another says more.
    pub(crate) fn retain(&mut self, stays: impl FnMut(&Error) -> bool) {
        self.errors.retain(stays);
    }

    /// `value` if nothing is wrong, else this report, sorted.
    pub fn into_result<T>(mut self, value: T) -> Result<T, Report> {
        if self.errors.is_empty() {
            return Ok(value);
        }
        self.errors.sort_by(|left, right| {
            let key = |error: &Error| (error.place.path().to_owned(), error.place.range().start);
            key(left).cmp(&key(right))
        });
        // What is wrong with all copies of an instance is said once.
        let mut said: HashMap<_, usize> = HashMap::new();
        let mut report = Report::new();
        for error in self.errors {
            let wrong = error.wrong();
            let form_of = form(&wrong);
            let key = (error.place.path().to_owned(), error.place.range(), form_of.text.clone());
            match said.get(&key) {
                Some(first) => {
                    let copy = form(&report.errors[*first].wrong()).other(&form_of);
                    report.copies[*first].extend(copy);
                }
                None => {
                    said.insert(key, report.errors.len());
                    report.errors.push(error);
                    report.copies.push(Vec::new());
                }
            }
        }
        Err(report)
    }

    /// The rendered report, with or without colour. A description in which there is what a terminal obeys is shown
    /// without colour, and with that escaped: it may be somebody else's.
    pub fn render(&self, colour: bool) -> String {
        let plain = self.render_with(&Renderer::plain());
        if plain.chars().any(commands) {
            let lines = plain.lines().map(|line| format!("{}\n", Visible::text(line)));
            return lines.collect();
        }
        if colour { self.render_with(&Renderer::styled()) } else { plain }
    }

    fn render_with(&self, renderer: &Renderer) -> String {
        let mut text = String::new();
        for (index, error) in self.errors.iter().enumerate() {
            let copies = self.copies.get(index).map_or(&[][..], Vec::as_slice);
            text.push_str(&error.render(copies, renderer));
            text.push_str("\n\n");
        }
        text.push_str(&match self.errors.len() {
            1 => "1 error\n".to_owned(),
            count => format!("{count} errors\n"),
        });
        text
    }

    /// Prints the report to standard error, in colour if that is a terminal and `NO_COLOR` is unset.
    pub fn print(&self) {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        eprint!("{}", self.render(std::io::stderr().is_terminal() && !plain));
    }
}

/// Whether a terminal does something else with a character than to show it: controls, and what is not seen or changes the
/// direction of what is (Unicode's general category Cf, as far as it does so).
fn commands(character: char) -> bool {
    character.is_control() && character != '\n'
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

impl From<Error> for Report {
    fn from(error: Error) -> Report {
        Report { errors: vec![error], copies: Vec::new() }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.render(false))
    }
}

impl std::error::Error for Report {}
