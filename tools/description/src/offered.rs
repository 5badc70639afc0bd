//! Instances that a description lacks and a part has.

use crate::document;
use crate::files::Files;
use crate::load::{descriptions, open};
use crate::report::Report;

/// Where parts are that a system extends.
const FOLDER: &str = "systems/parts";

/// What is wrong where an instance is named that there is not.
pub(crate) fn unknown_instance(name: &str) -> String {
    format!("unknown instance `{name}`")
}

/// Says of each instance that is not there which part has it.
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
            let message = unknown_instance(&instance.name);
            for error in report.errors_mut().iter_mut().filter(|error| error.message == message) {
                error.help = format!(
                    "`{}` is in `parts/{part}`: add that to `extends`, or a table `[instance.{0}]`",
                    instance.name
                );
            }
        }
    }
}
