//! Sections whose pages another instance provides.

use crate::model::{Export, Instance, Open, Section, SectionUse, System};
use crate::place::Located;
use crate::report::Report;
use crate::resolve::find_instance;

/// An export by which an instance provides a section with pages.
#[derive(Clone, Debug)]
pub struct Pager {
    /// The instance, as an index into [`System::instances`].
    pub instance: Located<usize>,
    /// The export, as an index into its [`Instance::exports`].
    pub export: Located<usize>,
}

impl System {
    /// The sections that an instance maps whose pages another one provides, each with its pager.
    pub fn paged(&self, index: usize) -> impl Iterator<Item = (&SectionUse, &Pager)> {
        let uses = self.instances[index].sections.iter();
        uses.filter_map(|used| Some((used, self.sections[used.section].pager.as_ref()?)))
    }
}

/// Finds the pagers of the sections, as far as they have some: instance and export.
pub(crate) fn resolve(
    sections: &mut [Section],
    pagers: Vec<Option<(Located<String>, Located<String>)>>,
    instances: &mut [Instance],
    names: &[Located<String>],
    report: &mut Report,
) {
    for (section, pager) in sections.iter_mut().zip(pagers) {
        let Some((instance, export)) = pager else { continue };
        if let Some(target) = find_instance(&instance, names, report) {
            let export_place = export.place.clone();
            section.pager = Some(Pager {
                instance: Located::new(target, instance.place),
                export: Located::new(exported(&mut instances[target], export), export_place),
            });
        }
    }
}

/// The index of an export of an instance, which the description mentions from now on.
pub(crate) fn exported(instance: &mut Instance, name: Located<String>) -> usize {
    let exports = &mut instance.exports;
    exports.iter().position(|export| *export.name == *name).unwrap_or_else(|| {
        exports.push(Export {
            name,
            open: Open::Instances(Vec::new()),
            open_place: None,
            trust: Vec::new(),
            longest_execution: None,
            longest_call: None,
            cancelled_for: None,
            declared: false,
        });
        exports.len() - 1
    })
}
