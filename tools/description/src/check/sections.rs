//! Shared sections: somebody maps each, and somebody writes it, or it has a content.

use crate::model::{Access, System};
use crate::report::{Error, Report};

pub(super) fn check(system: &System, report: &mut Report) {
    for client in &system.instances {
        for windows in client.imports.iter().filter_map(|import| import.windows.as_ref()) {
            let section = &system.sections[**windows];
            let maps = client.sections.iter().any(|one| one.section == **windows);
            let (what, help) = match (maps, &section.pager) {
                (false, _) => {
                    ("a section that it maps", format!("add `{}` to its `sections`", section.name))
                }
                (_, Some(_)) => ("a section without a pager", "take another section".to_owned()),
                _ if client.is_in_kernel() => (
                    "no `windows` of an instance in the kernel domain",
                    "remove `windows`: what it calls reads and writes whatever it has".to_owned(),
                ),
                _ => continue,
            };
            report.push(Error::new(
                &windows.place,
                format!("`{}` cannot pass the section `{}` in windows", client.name, section.name),
                format!("expected {what}"),
                help,
            ));
        }
    }
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
        } else if section.content.is_none()
            && uses().all(|section_use| *section_use.access == Access::Read)
        {
            report.push(Error::new(
                &section.name.place,
                format!("nobody can write the section `{}`", section.name),
                "expected an instance that maps it \"read-write\", or `content`",
                "map it \"read-write\" where its data comes from, or say with `content` what it has",
            ));
        }
    }
}
