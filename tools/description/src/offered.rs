//! Instances that a description lacks, or has no more than a part of, and a part has.

use crate::document;
use crate::files::Files;
use crate::load::{descriptions, open};
use crate::missing::missing;
use crate::report::Report;

/// Where parts are that a system extends.
const FOLDER: &str = "systems/parts";

/// What is wrong where an instance is named that there is not.
pub(crate) fn unknown_instance(name: &str) -> String {
    format!("unknown instance `{name}`")
}

/// Says of each instance that is not there, or has no component, which part has it.
pub(crate) fn name_parts(files: &dyn Files, report: &mut Report) {
    if report.errors().is_empty() {
        return;
    }
    for part in descriptions(files, FOLDER) {
        let Ok(source) = open(files, &format!("{FOLDER}/{part}.toml")) else { continue };
        let tree = document::parse(&source, &mut Report::new());
        let instances = tree.as_ref().and_then(|tree| tree.get("instance")?.entries());
        for instance in instances.into_iter().flatten() {
            // Others are of the parts below it.
            if instance.value.get("component").is_none() {
                continue;
            }
            let name = &instance.name;
            let (unknown, what) = (unknown_instance(name), format!("the instance `{name}`"));
            // A table of which the part would be the rest.
            let rest = missing(&what, "component");
            let is_rest = report.errors().iter().any(|error| error.message == rest);
            report.retain(|error| !(is_rest && error.message == missing(&what, "memory")));
            for error in report.errors_mut() {
                let otherwise = match &error.message {
                    message if *message == unknown => format!("a table `[instance.{name}]`"),
                    message if *message == rest => "`component` and `memory` here".to_owned(),
                    _ => continue,
                };
                error.help =
                    format!("`{name}` is in `parts/{part}`: add that to `extends`, or {otherwise}");
            }
        }
    }
}
