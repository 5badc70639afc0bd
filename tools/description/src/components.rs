//! Where components are: a description names one by its folder's name alone, or by a path.

use crate::files::Files;

/// The folders in which a component is found by its name, none of which is in two of them.
pub const FOLDERS: [&str; 5] = [
    "components/system",
    "components/drivers",
    "components/services",
    "components/apps",
    // Of a product, whose components are not so many.
    "components",
];

/// The folder of `component`, as a description names it, relative to the repository's root; the
/// folders that it could be, if it is in none or in several.
pub fn folder(files: &dyn Files, component: &str) -> Result<String, Vec<String>> {
    if component.contains('/') {
        let found = files.is_component(component);
        return found.then(|| component.to_owned()).ok_or(Vec::new());
    }
    let mut found: Vec<String> = FOLDERS
        .iter()
        .map(|parent| format!("{parent}/{component}"))
        .filter(|folder| files.is_component(folder))
        .collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(found),
    }
}
