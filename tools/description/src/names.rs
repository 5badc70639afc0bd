//! Names: which are allowed, and which one a mistyped one may have meant.

use crate::copies::ranges;
use cairn_abi::descriptor::NAME_SIZE;

/// Most bytes of a name: descriptors and startup pages keep them with a zero behind.
pub const NAME_MAXIMUM: usize = NAME_SIZE - 1;

/// What a kind of name may consist of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// Names of instances, sections, groups, systems, boards: `-` is allowed.
    Plain,
    /// Names of imports and exports: they are identifiers in the component's source too.
    Identifier,
    /// Names of devices: those of device-tree nodes.
    DeviceNode,
}

/// Why `name` is not a name of this kind, if it is not.
pub(crate) fn name_fault(name: &str, kind: NameKind) -> Option<String> {
    let inner = |character: char| {
        character.is_ascii_lowercase()
            || character.is_ascii_digit()
            || character == '_'
            || character == '-' && kind != NameKind::Identifier
    };
    let node = |character: char| character.is_ascii_alphanumeric() || ",._+-@".contains(character);
    if name.is_empty() {
        return Some("expected a name, found nothing".to_owned());
    }
    if name.len() > NAME_MAXIMUM {
        return Some(format!("{} bytes long; at most {NAME_MAXIMUM} are possible", name.len()));
    }
    let (first_is_good, all_are_good, rule) = match kind {
        NameKind::Plain => (
            name.starts_with(|first: char| first.is_ascii_lowercase()),
            name.chars().all(inner),
            "expected a small letter, then small letters, digits, `_`, `-`",
        ),
        NameKind::Identifier => (
            name.starts_with(|first: char| first.is_ascii_lowercase()),
            name.chars().all(inner),
            "expected an identifier: a small letter, then small letters, digits, `_`",
        ),
        NameKind::DeviceNode => (
            name.starts_with(|first: char| first.is_ascii_alphanumeric()),
            name.chars().all(node),
            "expected the name of a device-tree node, such as \"serial@10000000\"",
        ),
    };
    if first_is_good && all_are_good { None } else { Some(rule.to_owned()) }
}

/// Whether it is a path below the repository's root: nothing that climbs out of it or means another
/// thing elsewhere.
pub(crate) fn is_path(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
    };
    text.split('/').all(part)
}

/// The one of `known` that `name` most likely meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong; beyond that a guess only misleads.
    let limit = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *candidate != name)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What to do about an unknown name: the nearest known one, or all of them.
pub(crate) fn suggestion<'a>(
    name: &str,
    kind: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
    otherwise: &str,
) -> String {
    if let Some(near) = nearest(name, known.clone()) {
        return format!("did you mean `{near}`?");
    }
    let all = list(known);
    if all.is_empty() { otherwise.to_owned() } else { format!("{kind}: {all}; or {otherwise}") }
}

/// Names in quotes, with commas.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    ranges(names, quoted).join(", ")
}

/// A name as messages show it.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{name}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_guesses_only_what_is_near() {
        assert_eq!(nearest("priorty", ["priority", "memory"]), Some("priority"));
        assert_eq!(nearest("xyz", ["priority", "memory"]), None);
        assert_eq!(nearest("a", ["b"]), Some("b"));
        assert_eq!(nearest("memory", ["memory"]), None);
    }

    #[test]
    fn names() {
        assert!(name_fault("virtio-net0", NameKind::Plain).is_none());
        assert!(name_fault("virtio-net0", NameKind::Identifier).is_some());
        assert!(name_fault("Console", NameKind::Plain).is_some());
        assert!(name_fault("9p", NameKind::Plain).is_some());
        assert!(name_fault("", NameKind::Plain).is_some());
        assert!(name_fault(&"a".repeat(31), NameKind::Plain).is_none());
        assert!(name_fault(&"a".repeat(32), NameKind::Plain).is_some());
        assert!(name_fault("serial@10000000", NameKind::DeviceNode).is_none());
    }
}
