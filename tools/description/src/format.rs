//! The one way in which descriptions are spaced. What is written stays, in its order, with its comments and its lines.

use crate::document;
use crate::place::{Place, Source};
use crate::report::{Error, Report};
use std::sync::Arc;
use toml_parser::lexer::{Token, TokenKind};

/// Spaces of a level in a list of several lines.
const INDENT: usize = 4;

/// The text of a file, spaced as all are:
///
/// - one space round `=`, behind `,` and inside of `{ }`, none inside of `[ ]` and at the ends of lines;
/// - one space before a comment behind something else;
/// - lists of several lines have their brackets at the ends of lines, and are indented, with a comma behind the last element; those
///   of one line have none there;
/// - at most one empty line, and none at the begin and the end.
///
/// A file that is not TOML is reported.
pub fn format(source: &Arc<Source>) -> Result<String, Report> {
    let mut report = Report::new();
    let Some(_) = document::parse(source, &mut report) else { return Err(report) };
    let formatted = Formatter::new(source.text()).run();
    // Whatever went wrong, nobody's file is spoilt.
    let table = |text: &str| text.parse::<toml::Table>().ok();
    if table(&formatted) != table(source.text()) {
        return Err(Report::from(Error::new(
            &Place::new(source, 0..0),
            "this description cannot be formatted",
            "expected spaces where they mean nothing",
            "leave it as it is, and report this as an error of Cairn's",
        )));
    }
    Ok(formatted)
}

/// A bracket that is open.
struct Open {
    /// There are line breaks between its elements.
    is_broken: bool,
    is_table: bool,
    /// Behind its last element in the output, if no comma is there.
    unfinished: Option<usize>,
}

struct Formatter<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    out: String,
    open: Vec<Open>,
    /// In the header of a table.
    in_header: bool,
    /// What was written last in this line.
    last: Option<TokenKind>,
    /// There were spaces before the token that is looked at.
    is_spaced: bool,
}

impl<'a> Formatter<'a> {
    fn new(text: &'a str) -> Formatter<'a> {
        let tokens = toml_parser::Source::new(text).lex().into_vec();
        Formatter {
            text,
            tokens,
            out: String::new(),
            open: Vec::new(),
            in_header: false,
            last: None,
            is_spaced: false,
        }
    }

    fn run(mut self) -> String {
        for at in 0..self.tokens.len() {
            let (kind, span) = (self.tokens[at].kind(), self.tokens[at].span());
            let text = &self.text[span.start()..span.end()];
            match kind {
                TokenKind::Whitespace => {
                    self.is_spaced = true;
                    continue;
                }
                TokenKind::Eof => {}
                TokenKind::Newline => self.end_line(),
                TokenKind::Comment => {
                    self.begin(kind);
                    self.out += text.trim_end();
                }
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                    self.in_header |= self.open.is_empty() && self.last.is_none();
                    self.begin(kind);
                    self.out += text;
                    if !self.in_header {
                        self.enter(kind, self.is_broken(at));
                    }
                }
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket if !self.in_header => {
                    self.leave(kind, text);
                }
                _ => {
                    self.begin(kind);
                    self.out += text;
                    self.element(kind);
                }
            }
            self.is_spaced = false;
        }
        let end = self.out.trim_end().len();
        self.out.truncate(end);
        if end > 0 {
            self.out.push('\n');
        }
        self.out
    }

    /// Whether there is a line break among the elements of the bracket at an index, those in brackets inside of it not counted.
    fn is_broken(&self, at: usize) -> bool {
        let mut depth = 0;
        for token in &self.tokens[at..] {
            match token.kind() {
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket if depth == 1 => break,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => depth -= 1,
                TokenKind::Newline if depth == 1 => return true,
                _ => {}
            }
        }
        false
    }

    /// Ends a line; of several empty ones the first is left.
    fn end_line(&mut self) {
        self.in_header = false;
        self.last = None;
        let in_bracket = self.open.last().is_some_and(|open| open.is_broken);
        let is_first = in_bracket && ["[\n", "{\n"].iter().any(|end| self.out.ends_with(end));
        if !self.out.is_empty() && !self.out.ends_with("\n\n") && !is_first {
            self.out.push('\n');
        }
    }

    /// Indents the first of a line, and puts a space before others that have one.
    fn begin(&mut self, kind: TokenKind) {
        use TokenKind::{Atom, Comma, Comment, Dot, Equals, LeftCurlyBracket, LeftSquareBracket};
        let Some(last) = self.last.replace(kind) else {
            let levels = self.open.iter().filter(|open| open.is_broken).count();
            self.out.extend(std::iter::repeat_n(' ', INDENT * levels));
            return;
        };
        let has_space = match (last, kind) {
            (_, Comment | Equals) => true,
            (_, Comma | Dot) | (Dot, _) => false,
            (Comma | Equals, _) => true,
            (LeftCurlyBracket, _) => true,
            (LeftSquareBracket, _) => false,
            // A date and a time.
            (Atom, Atom) => self.is_spaced,
            _ => false,
        };
        if has_space {
            self.out.push(' ');
        }
    }

    fn enter(&mut self, kind: TokenKind, is_broken: bool) {
        let is_table = kind == TokenKind::LeftCurlyBracket;
        self.open.push(Open { is_broken, is_table, unfinished: None });
        if is_broken {
            self.break_line();
        }
    }

    fn leave(&mut self, kind: TokenKind, text: &str) {
        let Some(open) = self.open.pop() else { return };
        if open.is_broken {
            if let Some(end) = open.unfinished {
                self.out.insert(end, ',');
            }
            while self.out.ends_with("\n\n") {
                self.out.pop();
            }
            self.break_line();
            self.begin(kind);
        } else if self.last == Some(TokenKind::Comma) {
            self.out.pop();
            self.out.extend(open.is_table.then_some(' '));
        } else if open.is_table && self.last != Some(TokenKind::LeftCurlyBracket) {
            self.out.push(' ');
        }
        self.out += text;
        self.element(kind);
    }

    /// Ends the line if something is in it.
    fn break_line(&mut self) {
        if self.last.is_some() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.last = None;
    }

    /// Notes where the innermost bracket's last element ends.
    fn element(&mut self, kind: TokenKind) {
        self.last = Some(kind);
        let end = self.out.len();
        if let Some(open) = self.open.last_mut() {
            open.unfinished = (kind != TokenKind::Comma).then_some(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str) -> String {
        format(&Source::new("test", text)).unwrap_or_else(|report| panic!("{text}\n{report}"))
    }

    #[test]
    fn spaces_are_as_everywhere_and_all_else_stays() {
        for (text, expected) in [
            ("", ""),
            ("\n\n# one\n\n\n\n# two   \n\n", "# one\n\n# two\n"),
            ("  [ a . \"b c\" ]  # d\nx=1\n", "[a.\"b c\"] # d\nx = 1\n"),
            ("[[a]]\n  x   =   1#c", "[[a]]\nx = 1 #c\n"),
            ("x=[ 1,2 ,3, ]\ny=[]\nz=[ ]\n", "x = [1, 2, 3]\ny = []\nz = []\n"),
            ("x={a=1,b={}}\ny={ }\n", "x = { a = 1, b = {} }\ny = {}\n"),
            ("x=[1,\n2]\n", "x = [\n    1,\n    2,\n]\n"),
            (
                "x=[\n\n1, 2, # a\n\n\n# b\n3 # c\n\n]\n",
                "x = [\n    1, 2, # a\n\n    # b\n    3, # c\n]\n",
            ),
            ("x = [\n[1,\n2],[3]\n]\n", "x = [\n    [\n        1,\n        2,\n    ], [3],\n]\n"),
            ("x = 1979-05-27 07:32:00\ny = -1.5\n", "x = 1979-05-27 07:32:00\ny = -1.5\n"),
            (
                "x = '''\n  a  \n\n\n b'''\ny = \" [ =, \"\r\n",
                "x = '''\n  a  \n\n\n b'''\ny = \" [ =, \"\n",
            ),
            ("a.b . c=true\n", "a.b.c = true\n"),
            ("x = [ # a\n1]\n", "x = [\n    # a\n    1,\n]\n"),
            ("x = [{a=1},\n{a=2},]", "x = [\n    { a = 1 },\n    { a = 2 },\n]\n"),
        ] {
            assert_eq!(formatted(text), expected, "{text}");
            assert_eq!(formatted(expected), expected, "twice");
        }
    }

    #[test]
    fn what_is_not_toml_is_reported() {
        let report = format(&Source::new("test", "x = [1\n")).unwrap_err();
        assert!(report.to_string().contains("the file is not valid TOML"), "{report}");
    }
}
