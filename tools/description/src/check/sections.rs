//! Shared sections: somebody maps each, and somebody writes it.

use crate::model::{Access, System};
use crate::report::{Error, Report};

pub(super) fn check(system: &System, report: &mut Report) {
    for (index, section) in system.sections.iter().enumerate() {
        let uses = || {
            let all = system.instances.iter().flat_map(|instance| &instance.sections);
            all.filter(move |section_use| section_use.section == index)
        };
        if uses().next().is_none() {
            report.push(Error::new(
                &section.name.place,
                format!("nobody maps the section `{}`", section.name),
                "expected a section that an instance maps",
                format!(
                    "add it to the `sections` of an instance ({} = \"read\"), or remove it",
                    section.name
                ),
            ));
        } else if uses().all(|section_use| *section_use.access == Access::Read) {
            report.push(Error::new(
                &section.name.place,
                format!("nobody can write the section `{}`", section.name),
                "expected an instance that maps it \"read-write\"",
                "map it \"read-write\" where its data comes from",
            ));
        }
    }
}
