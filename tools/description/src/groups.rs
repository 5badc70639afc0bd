//! Stack groups: instances that share stacks.

use crate::model::{Instance, StackGroup};
use crate::names::suggestion;
use crate::place::Located;
use crate::report::{Error, Report};
use cairn_abi::address::GROUP_MEMBERS_MAXIMUM;

/// The stack groups: those with a table, or those that instances name if none has a table.
pub(crate) struct Groups {
    groups: Vec<StackGroup>,
    declared: bool,
}

impl Groups {
    /// Those that have a table.
    pub(crate) fn new(names: Vec<Located<String>>) -> Groups {
        let declared = !names.is_empty();
        let group = |name| StackGroup { name, members: Vec::new() };
        Groups { groups: names.into_iter().map(group).collect(), declared }
    }

    /// An instance joins the group of this name; the group's index.
    pub(crate) fn join(
        &mut self,
        name: Located<String>,
        instance: usize,
        report: &mut Report,
    ) -> Option<usize> {
        if let Some(index) = self.groups.iter().position(|group| *group.name == *name) {
            self.groups[index].members.push(instance);
            return Some(index);
        }
        if self.declared {
            let names = self.groups.iter().map(|group| group.name.as_str());
            report.push(Error::new(
                &name.place,
                format!("unknown stack group `{name}`"),
                "expected a stack group of this system",
                suggestion(
                    &name,
                    "the stack groups are",
                    names,
                    &format!("add a table `[stack_group.{name}]`"),
                ),
            ));
            return None;
        }
        self.groups.push(StackGroup { name, members: vec![instance] });
        Some(self.groups.len() - 1)
    }

    /// All of them, when all instances have joined.
    pub(crate) fn finish(self, instances: &[Instance], report: &mut Report) -> Vec<StackGroup> {
        for group in self.groups.iter().filter(|group| group.members.len() < 2) {
            report.push(Error::new(
                &group.name.place,
                format!("stack group `{}` has too few members", group.name),
                format!("expected at least two members, found {}", group.members.len()),
                format!(
                    "write `stack_group = \"{}\"` in another instance too, or remove the group",
                    group.name
                ),
            ));
        }
        for group in &self.groups {
            let Some(surplus) = group.members.get(GROUP_MEMBERS_MAXIMUM) else { continue };
            report.push(
                Error::new(
                    &group.name.place,
                    format!("stack group `{}` has too many members", group.name),
                    format!(
                        "expected at most {GROUP_MEMBERS_MAXIMUM}, found {}",
                        group.members.len()
                    ),
                    "divide the group: members of different groups cannot share stacks",
                )
                .note(&instances[*surplus].name.place, "the first one too many"),
            );
        }
        self.groups
    }
}
