//! Copies of an instance are called `NAME-1`, `NAME-2` and so on. What is said of each of them alike is said once.

/// A text with `{n}` for the numbers of copies in it, and their names, numbers included.
pub(crate) struct Form<'a> {
    pub text: String,
    pub names: Vec<&'a str>,
}

/// The form of a text, which those that say the same of different copies have in common.
pub(crate) fn form(text: &str) -> Form<'_> {
    let ends_name = |one: char| !(one.is_ascii_alphanumeric() || one == '_' || one == '-');
    let mut form = Form { text: String::new(), names: Vec::new() };
    for part in text.split_inclusive(ends_name) {
        let word = part.trim_end_matches(ends_name);
        match numbered(word) {
            Some((name, _)) => {
                form.text += &format!("{name}-{{n}}");
                form.names.push(word);
            }
            None => form.text += word,
        }
        form.text += &part[word.len()..];
    }
    form
}

/// What is copied, and the number of the copy.
fn numbered(word: &str) -> Option<(&str, u64)> {
    let (name, digits) = word.rsplit_once('-').filter(|(name, _)| !name.is_empty())?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    Some((name, digits.parse().ok().filter(|_| is_number)?))
}

impl Form<'_> {
    /// The first copy of which `other`, of the same form, says what this one says of another copy.
    pub fn other(&self, other: &Form<'_>) -> Option<String> {
        let mut names = self.names.iter().zip(&other.names);
        names.find(|(own, other)| own != other).map(|(_, other)| (*other).to_owned())
    }
}

/// Names as `shown` shows them; of three or more copies in a row the first and the last.
pub fn ranges<'a>(
    names: impl IntoIterator<Item = &'a str>,
    shown: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| are_next(last, name)) => run.push(name),
            _ => runs.push(vec![name]),
        }
    }
    let run = |run: Vec<&str>| match run.as_slice() {
        [first, _, .., last] => vec![format!("{} to {}", shown(first), shown(last))],
        few => few.iter().map(|name| shown(name)).collect(),
    };
    runs.into_iter().flat_map(run).collect()
}

/// Whether the second is the next copy after the first, with the same behind its name.
pub fn are_next(before: &str, name: &str) -> bool {
    let (name, before) = (form(name), form(before));
    let number = |form: &Form<'_>| match form.names.as_slice() {
        [one] => numbered(one).map(|(_, number)| number),
        _ => None,
    };
    name.text == before.text && number(&before).is_some_and(|one| number(&name) == Some(one + 1))
}

/// Texts of which those that say the same of several copies are one: that of the first, which names the others.
pub fn merged(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for text in texts {
        let own = form(&text);
        let alike = found.iter_mut().find(|(first, _)| form(first).text == own.text);
        match alike {
            Some((first, others)) => others.extend(form(first).other(&own)),
            None => found.push((text, Vec::new())),
        }
    }
    let one = |(text, others): (String, Vec<String>)| match others.as_slice() {
        [] => text,
        others => format!(
            "{text}; likewise {}",
            ranges(others.iter().map(String::as_str), str::to_owned).join(", ")
        ),
    };
    found.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_in_a_row_are_the_first_and_the_last() {
        let shown = |names: &[&str]| ranges(names.iter().copied(), str::to_owned).join(", ");
        assert_eq!(shown(&["a", "b-1", "b-2", "b-3", "c"]), "a, b-1 to b-3, c");
        assert_eq!(shown(&["b-1", "b-2"]), "b-1, b-2");
        assert_eq!(shown(&["b-1.x", "b-2.x", "b-3.x", "b-4.y"]), "b-1.x to b-3.x, b-4.y");
        assert_eq!(shown(&["b-1", "b-3", "b-4", "b-5"]), "b-1, b-3 to b-5");
    }

    #[test]
    fn what_is_said_of_copies_is_said_once() {
        let said = |texts: &[&str]| merged(texts.iter().map(|text| (*text).to_owned()));
        assert_eq!(
            said(&["`a-1` calls `b`", "`c` calls `b`", "`a-2` calls `b`", "`a-3` calls `b`"]),
            ["`a-1` calls `b`; likewise a-2, a-3", "`c` calls `b`"]
        );
        assert_eq!(
            said(&["a-1 to b-1", "a-1 to b-2", "-3", "x-"]),
            ["a-1 to b-1; likewise b-2", "-3", "x-"]
        );
    }
}
