//! Sections: how large they are, and what they begin with.

use crate::content::MANIFEST;
use crate::draft::SectionDraft;
use crate::extend::beside;
use crate::files::Files;
use crate::model::Section;
use crate::place::Located;
use crate::report::{Error, Report};
use crate::units::show_size;
use cairn_abi::address::{PAGE_SIZE, SECTION_MAXIMUM};

/// The pager of a section, by the names of an instance and an export.
type Pager = Option<(Located<String>, Located<String>)>;

/// Finds the content of a section, and out how large that is; the pager is found later.
pub(crate) fn resolve(
    draft: SectionDraft,
    files: &dyn Files,
    report: &mut Report,
) -> (Section, Pager) {
    let SectionDraft { name, size, content, pager } = draft;
    let content = content.map(|written| {
        let path = beside(written.place.path(), &written);
        Located::new(path, written.place)
    });
    let least = content.as_ref().map_or(0, |content| {
        if let Some((pager, _)) = &pager {
            report.push(Error::new(
                &content.place,
                format!("the section `{name}` has a content and a pager"),
                format!("expected one of the two: `{pager}` says what its pages have"),
                "remove this line, or `pager`",
            ));
        }
        content_size(&name, content, size.is_some(), files, report)
    });
    if let (Some(size), Some(content)) = (&size, &content)
        && **size < least
    {
        report.push(too_small(&name, size, content, least));
    }
    let size = size.unwrap_or_else(|| {
        let place = content.as_ref().map_or(&name.place, |content| &content.place);
        Located::new(least.next_multiple_of(PAGE_SIZE).max(PAGE_SIZE), place.clone())
    });
    (Section { name, size, content, pager: None }, pager)
}

/// Bytes of a content, as far as they are known; 0 after an error.
fn content_size(
    name: &Located<String>,
    content: &Located<String>,
    has_size: bool,
    files: &dyn Files,
    report: &mut Report,
) -> u64 {
    let (label, help) = match files.content_size(content) {
        Ok(Some(bytes)) if bytes > SECTION_MAXIMUM => (
            format!(
                "expected at most {}, `{content}` has {bytes} bytes",
                show_size(SECTION_MAXIMUM)
            ),
            "leave something out, or divide it among several sections".to_owned(),
        ),
        Ok(Some(bytes)) => return bytes,
        Ok(None) if has_size => return 0,
        Ok(None) => (
            format!("expected `size` beside it: what {MANIFEST} names is fetched later"),
            "write for example: size = \"4M\"".to_owned(),
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (
            format!("expected a file or a folder at `{content}`, found none"),
            "write its path from the folder of this description".to_owned(),
        ),
        Err(error) => (
            format!("`{content}` cannot be read: {error}"),
            "make it a file, or a folder of files, folders and symbolic links, all readable"
                .to_owned(),
        ),
    };
    let message = format!("the section `{name}` cannot have this content");
    report.push(Error::new(&content.place, message, label, help));
    0
}

/// The error that a section is smaller than what it begins with.
fn too_small(
    name: &Located<String>,
    size: &Located<u64>,
    content: &Located<String>,
    bytes: u64,
) -> Error {
    let least = show_size(bytes.next_multiple_of(PAGE_SIZE));
    Error::new(
        &size.place,
        format!("the section `{name}` is smaller than its content"),
        format!("expected at least {least}: `{content}` has {bytes} bytes"),
        format!("write size = \"{least}\", or remove it where nothing is fetched"),
    )
}

impl Section {
    /// The error that it has no room for its content of so many bytes; `None`: it has.
    pub fn too_small(&self, bytes: u64) -> Option<Error> {
        let content = self.content.as_ref()?;
        (*self.size < bytes).then(|| too_small(&self.name, &self.size, content, bytes))
    }
}
