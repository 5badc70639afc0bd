//! Where something of an instance is written, for advice.

use crate::draft::PACKAGE;
use crate::model::Instance;
use crate::place::Place;

impl Instance {
    /// The name of its table, which copies have in common.
    pub fn table(&self) -> &str {
        self.name.place.text()
    }

    /// Where one of its imports is written.
    pub(crate) fn import_place(&self) -> Option<&Place> {
        self.imports.first().map(|connection| &connection.import.place)
    }

    /// Where to write into one of its tables, of which `part` is written already: no header adds to an inline table.
    pub(crate) fn write_into(&self, key: &str, part: Option<&Place>) -> String {
        // What a package has as another table says it is written there.
        let is_own = |part: &&Place| self.noun != PACKAGE || part.is_below(&self.name.place);
        match part.filter(|part| part.is_inline()).filter(is_own) {
            Some(part) => format!("write into `{key}` in {}:{}", part.path(), part.line()),
            None => format!("write under `[{}.{}.{key}]`", self.noun, self.table()),
        }
    }
}
