//! Calls that an interposer kept: as lines, and as events of the Chrome trace format, which Perfetto's viewer opens.

use core::fmt::{self, Display, Formatter, Write};

/// A call, as [`Tool::kept`](../cairn_interfaces/trait.Tool.html) tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called<'text> {
    /// When it came, in nanoseconds since the start.
    pub time: u64,
    /// How long it took, in nanoseconds.
    pub took: u64,
    /// Its thread.
    pub thread: u64,
    /// Whose it was.
    pub client: &'text str,
    /// Of what.
    pub export: &'text str,
    /// Method, arguments, and result.
    pub call: &'text str,
}

impl<'text> Called<'text> {
    /// From the text.
    pub fn read(text: &'text str) -> Option<Called<'text>> {
        let mut words = text.splitn(6, ' ');
        let mut number = || words.next()?.parse().ok();
        let (time, took, thread) = (number()?, number()?, number()?);
        let (client, export, call) = (words.next()?, words.next()?, words.next()?);
        Some(Called { time, took, thread, client, export, call })
    }

    /// The method.
    pub fn method(&self) -> &'text str {
        self.call.split('(').next().unwrap_or("")
    }
}

/// A span of nanoseconds, for people.
pub const fn span(nanoseconds: u64) -> (u64, &'static str) {
    match nanoseconds {
        0..10_000 => (nanoseconds, "ns"),
        10_000..10_000_000 => (nanoseconds / 1_000, "us"),
        _ => (nanoseconds / 1_000_000, "ms"),
    }
}

impl Display for Called<'_> {
    /// As a line.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Called { time, took, client, export, call, .. } = self;
        let (seconds, part) = (time / 1_000_000_000, time / 1_000 % 1_000_000);
        let (span, unit) = span(*took);
        write!(out, "{seconds:>4}.{part:06} {span:>5} {unit}  {client} {export} {call}")
    }
}

/// What a file of events begins and ends with: it is their array.
pub const FILE_BEGINS: &str = "[";
/// See [`FILE_BEGINS`].
pub const FILE_ENDS: &str = "]";

/// A call as an event; `process` is its client's number.
pub struct Event<'call>(pub &'call Called<'call>, pub u64);

impl Display for Event<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Event(called, process) = self;
        let micro = |nanoseconds: u64| (nanoseconds / 1_000, nanoseconds % 1_000);
        let ((time, time_part), (took, took_part)) = (micro(called.time), micro(called.took));
        write!(out, r#"{{"ph":"X","pid":{process},"tid":{},"#, called.thread)?;
        write!(out, r#""ts":{time}.{time_part:03},"dur":{took}.{took_part:03},"#)?;
        write!(out, r#""name":"{}","cat":"{}","#, Json(called.method()), Json(called.export))?;
        write!(out, r#""args":{{"call":"{}"}}}}"#, Json(called.call))
    }
}

/// The name of a client, for the viewer.
pub struct Process<'name>(pub &'name str, pub u64);

impl Display for Process<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Process(name, process) = self;
        write!(out, r#"{{"ph":"M","pid":{process},"name":"process_name","#)?;
        write!(out, r#""args":{{"name":"{}"}}}}"#, Json(name))
    }
}

/// Text inside of quotes.
struct Json<'text>(&'text str);

impl Display for Json<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(out, "\\{character}")?,
                control if control.is_control() => write!(out, "\\u{:04x}", control as u32)?,
                other => out.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Whether a file can be called so on whatever stores it: letters, digits, `.`, `-`, `_`, none of them a point at its beginning.
pub fn is_file_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    const TEXT: &str = "1500000250 12345 7 shell greeter.echo say(\"a \\\"b\\\"\") = 0";

    #[test]
    fn calls_as_lines() {
        let called = Called::read(TEXT).unwrap();
        assert_eq!((called.thread, called.method()), (7, "say"));
        let line = "   1.500000    12 us  shell greeter.echo say(\"a \\\"b\\\"\") = 0";
        assert_eq!(format!("{called}"), line);
        for text in ["", "1 2 3 a b", "1 2 x a b c", "1 2 3"] {
            assert_eq!(Called::read(text), None, "{text}");
        }
    }

    #[test]
    fn calls_as_events() {
        let called = Called::read(TEXT).unwrap();
        assert_eq!(
            format!("{}", Event(&called, 9)),
            r#"{"ph":"X","pid":9,"tid":7,"ts":1500000.250,"dur":12.345,"name":"say","cat":"greeter.echo","args":{"call":"say(\"a \\\"b\\\"\") = 0"}}"#
        );
        assert_eq!(
            format!("{}", Process("a\u{1}", 2)),
            r#"{"ph":"M","pid":2,"name":"process_name","args":{"name":"a\u0001"}}"#
        );
    }

    /// The JSON array format of the Trace Event Format: complete events, with times in microseconds, and metadata. Events of one thread
    /// lie in each other, or one behind the other.
    #[test]
    fn a_file_is_what_viewers_read() {
        let mut file = std::string::String::from(FILE_BEGINS);
        // A call, and two inside of it; another thread's across; one with whatever a component says.
        let odd = "1 0 9 x y.z m(\"\u{1}\u{7f}\\\u{e9}\n\t{}[],:\") = 0";
        let calls = [
            "1000 100 7 a b.c d() = 0",
            "1001 98 7 a b.c e() = 0",
            "1001 1 7 a b.c f() = 0",
            "1050 5000000123 8 a b.c d() = error Dead",
            "18446744073709551615 18446744073709551615 7 a b.c d() = 0",
            odd,
        ];
        for text in calls {
            let called = Called::read(text).unwrap();
            writeln!(file, "{},\n{},", Process(called.client, 3), Event(&called, 3)).unwrap();
        }
        write!(file, "{}{FILE_ENDS}", Process("cairn", 0)).unwrap();
        // The importer of the viewer splits the file into objects, and looks in each for the time, or that it is metadata, with a reader of
        // strings that knows no `\u`: nothing of that kind stands before it. Then it takes numbers of 32 bits for processes and threads.
        for event in file.lines() {
            let is_looked_at = event.split(r#""ts":"#).next().unwrap();
            assert!(!is_looked_at.contains(r"\u"), "{event}");
            assert_eq!(event.contains(r#""ts":"#), event.contains(r#""ph":"X""#), "{event}");
        }
        let events: serde_json::Value = serde_json::from_str(&file).unwrap();
        let events = events.as_array().unwrap();
        assert_eq!(events.len(), 2 * calls.len() + 1);
        let (mut spans, mut read) = (std::vec::Vec::new(), calls.iter());
        for event in events {
            let event = event.as_object().unwrap();
            let text = |key: &str| event[key].as_str().unwrap();
            assert!(["pid", "tid"].iter().all(|key| {
                let number = event.get(*key).map_or(Some(0), serde_json::Value::as_u64);
                number.is_some_and(|number| u32::try_from(number).is_ok())
            }));
            match text("ph") {
                "M" => {
                    assert_eq!((text("name"), event.len()), ("process_name", 4));
                    assert!(event["args"]["name"].is_string());
                }
                "X" => {
                    let called = Called::read(read.next().unwrap()).unwrap();
                    assert_eq!((text("name"), text("cat")), (called.method(), called.export));
                    assert_eq!(event["args"]["call"], called.call);
                    assert_eq!((event["tid"].as_u64(), event.len()), (Some(called.thread), 8));
                    for (key, nanoseconds) in [("ts", called.time), ("dur", called.took)] {
                        let (micro, exact) = (event[key].as_f64().unwrap(), nanoseconds as f64);
                        assert!((micro * 1e3 - exact).abs() <= exact * 1e-15, "{key} {micro}");
                    }
                    if called.time < u64::MAX {
                        spans.push((called.thread, called.time, called.time + called.took));
                    }
                }
                other => panic!("{other}"),
            }
        }
        for (thread, begin, end) in &spans {
            let mut others = spans.iter().filter(|other| other.0 == *thread);
            assert!(others.all(|(_, from, to)| {
                let is_apart = to <= begin || end <= from;
                is_apart || (begin <= from && to <= end) || (from <= begin && end <= to)
            }));
        }
    }

    #[test]
    fn spans_and_names() {
        let spans = [999, 9_999, 10_000, 9_999_999, 10_000_000].map(span);
        assert_eq!(spans, [(999, "ns"), (9_999, "ns"), (10, "us"), (9_999, "us"), (10, "ms")]);
        for name in ["a", "trace.json", "A-1_b"] {
            assert!(is_file_name(name), "{name}");
        }
        let long = "a".repeat(65);
        for name in ["", ".", "..", ".a", "a/b", "a b", "\u{fc}", "a\n", &long] {
            assert!(!is_file_name(name), "{name}");
        }
    }
}
