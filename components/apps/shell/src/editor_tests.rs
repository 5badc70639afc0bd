//! Types at the editor and compares what a terminal would show.

use crate::complete::Completer;
use crate::editor::{Answer, Editor};
use cairn_random::Random;
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

/// A terminal that understands what the editor sends; everything else fails the test.
struct Terminal {
    lines: Vec<Vec<char>>,
    column: usize,
    bells: usize,
}

impl Terminal {
    fn new() -> Self {
        Terminal { lines: vec![Vec::new()], column: 0, bells: 0 }
    }

    fn show(&mut self, text: &str) {
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            let line = self.lines.last_mut().unwrap();
            match character {
                '\n' => {
                    self.lines.push(Vec::new());
                    self.column = 0;
                }
                '\x08' => self.column -= 1,
                '\x07' => self.bells += 1,
                '\x1b' => {
                    assert_eq!(rest.next(), Some('['));
                    let mut number = String::new();
                    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                        number.push(digit);
                    }
                    match rest.next().unwrap() {
                        'C' => self.column += number.parse::<usize>().unwrap(),
                        'D' => self.column -= number.parse::<usize>().unwrap(),
                        'K' => line.truncate(self.column),
                        'J' => (self.lines, self.column) = (vec![Vec::new()], 0),
                        'H' => self.column = 0,
                        other => panic!("sequence ends in {other}"),
                    }
                    assert!(
                        self.column <= self.lines.last().unwrap().len(),
                        "the cursor is behind the text"
                    );
                }
                character => {
                    assert!(!character.is_control());
                    if self.column == line.len() {
                        line.push(character);
                    } else {
                        line[self.column] = character;
                    }
                    self.column += 1;
                }
            }
        }
    }

    /// All lines, with `|` at the cursor in the last one.
    fn screen(&self) -> String {
        let mut lines: Vec<String> = self.lines.iter().map(|line| line.iter().collect()).collect();
        lines.last_mut().unwrap().insert(self.column, '|');
        lines.join("\n")
    }
}

struct Names;

impl Completer for Names {
    fn candidates(&self, words: &str, take: &mut dyn FnMut(&str)) {
        let candidates: &[&str] = match words {
            "" => &["help", "ps", "portals", "call", "crash"],
            "call " => &["greeter.echo", "console.console", "clock.clock"],
            _ => &[],
        };
        candidates.iter().for_each(|candidate| take(candidate));
    }
}

struct Session {
    editor: Editor,
    terminal: Terminal,
    lines: Vec<String>,
    too_long: usize,
}

impl Session {
    fn type_in(keys: &str) -> Session {
        let mut session = Session {
            editor: Editor::default(),
            terminal: Terminal::new(),
            lines: Vec::new(),
            too_long: 0,
        };
        session.show();
        session.keys(keys);
        session
    }

    fn show(&mut self) {
        let mut text = String::new();
        self.editor.show(&mut text).unwrap();
        self.terminal.show(&text);
    }

    fn keys(&mut self, keys: &str) {
        for byte in keys.bytes() {
            let mut text = String::new();
            let answer = self.editor.take(byte, &Names, &mut text).unwrap();
            self.too_long += usize::from(answer == Answer::TooLong);
            self.terminal.show(&text);
            if let Answer::Line(line) = answer {
                self.lines.push(line.as_str().into());
                self.show();
            }
        }
    }
}

/// What the screen shows after `keys`.
fn screen(keys: &str) -> String {
    Session::type_in(keys).terminal.screen()
}

const LEFT: &str = "\x1b[D";
const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";

#[test]
fn typing_and_erasing() {
    assert_eq!(screen(""), "> |");
    assert_eq!(screen("help"), "> help|");
    assert_eq!(screen("helpx\x7f"), "> help|");
    assert_eq!(screen("\x7f"), "> |");
    let session = Session::type_in("help\rps\r");
    assert_eq!(session.lines, ["help", "ps"]);
    assert_eq!(session.terminal.screen(), "> help\n> ps\n> |");
}

#[test]
fn moving_and_changing_in_the_middle() {
    assert_eq!(screen(&format!("hlp{LEFT}{LEFT}e")), "> he|lp");
    assert_eq!(screen(&format!("heelp{LEFT}{LEFT}\x7f")), "> he|lp");
    assert_eq!(screen(&format!("heelp{LEFT}{LEFT}{LEFT}\x1b[3~")), "> he|lp");
    assert_eq!(screen("elp\x01h\x05!"), "> help!|");
    assert_eq!(screen("elp\x1b[Hh\x1b[F!"), "> help!|");
    assert_eq!(screen("abc\x1b[D\x1b[D\x1b[D\x1b[D\x1b[C-"), "> a-|bc");
    // The whole line counts, wherever the cursor is.
    assert_eq!(Session::type_in(&format!("help{LEFT}{LEFT}\r")).lines, ["help"]);
    assert_eq!(screen(&format!("help{LEFT}{LEFT}\r")), "> help\n> |");
}

#[test]
fn erasing_more_at_once() {
    assert_eq!(screen(&format!("call greeter{LEFT}{LEFT}\x0b")), "> call greet|");
    assert_eq!(screen(&format!("call greeter{LEFT}{LEFT}\x15")), "> |er");
    assert_eq!(screen("call greeter  \x17"), "> call |");
    assert_eq!(screen("call greeter\x17\x17\x17"), "> |");
}

#[test]
fn cancelling_and_clearing() {
    assert_eq!(screen(&format!("help{LEFT}{LEFT}\x03")), "> help^C\n> |");
    assert_eq!(screen(&format!("one\rhelp{LEFT}{LEFT}\x0c")), "> he|lp");
}

#[test]
fn lines_before() {
    let before = "one\rtwo\rthree\r";
    let last = |keys: &str| screen(&format!("{before}{keys}")).lines().last().unwrap().to_string();
    assert_eq!(last(UP), "> three|");
    assert_eq!(last(&format!("{UP}{UP}")), "> two|");
    assert_eq!(last(&format!("{UP}{UP}{UP}{UP}")), "> one|");
    assert_eq!(last(&format!("new{LEFT}{UP}{UP}{DOWN}{DOWN}")), "> new|");
    assert_eq!(last(&format!("{UP}!\r{UP}")), "> three!|");
    assert_eq!(Session::type_in(&format!("{before}{UP}{UP}\r")).lines.last().unwrap(), "two");
}

#[test]
fn completion() {
    assert_eq!(screen("cr\t"), "> crash |");
    assert_eq!(screen("call g\t"), "> call greeter.echo |");
    assert_eq!(screen("call c\t"), "> call c\n  console.console  clock.clock\n> call c|");
    assert_eq!(screen("call co\tx"), "> call console.console x|");
    // In the middle of a line.
    assert_eq!(screen(&format!("cr x{LEFT}{LEFT}\t")), "> crash | x");
    let nothing = Session::type_in("z\t");
    assert_eq!((nothing.terminal.screen().as_str(), nothing.terminal.bells), ("> z|", 1));
}

#[test]
fn a_line_has_an_end() {
    let session = Session::type_in(&"x".repeat(250));
    assert_eq!(session.terminal.bells, 50);
    assert_eq!(session.terminal.screen(), format!("> {}|", "x".repeat(200)));
}

#[test]
fn a_line_that_was_cut_off_is_not_done() {
    let session = Session::type_in(&format!("{}\r", "x".repeat(201)));
    assert_eq!((session.lines.len(), session.too_long), (0, 1));
    let full = Session::type_in(&format!("{}\r", "x".repeat(200)));
    assert_eq!((full.lines.len(), full.too_long), (1, 0));
    // A user who corrects the line has seen where it ends, and the next one begins anew.
    let corrected = Session::type_in(&format!("{}\x7f\r", "x".repeat(201)));
    assert_eq!((corrected.lines.len(), corrected.too_long), (1, 0));
    let next = Session::type_in(&format!("{}\rps\r", "x".repeat(201)));
    assert_eq!((next.lines, next.too_long), (vec!["ps".to_string()], 1));
}

#[test]
fn any_bytes_leave_screen_and_line_in_step() {
    // The point is that nothing panics and the screen is right.
    let mut random = Random::new(1);
    let mut session = Session::type_in("");
    for _ in 0..20_000 {
        let choices = [
            "a", "b ", "\x7f", LEFT, "\x1b[C", "\x01", "\x05", "\x0b", "\x15", "\x17", UP, DOWN,
            "\x1b[3~", "\x1b", "\t", "call c", "\x03",
        ];
        session.keys(choices[random.index(choices.len())]);
    }
    session.keys("\x05");
    let shown = session.terminal.screen().lines().last().unwrap().to_string();
    session.keys("\r");
    assert_eq!(shown, format!("> {}|", session.lines.last().unwrap()));
}
