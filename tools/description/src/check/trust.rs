//! Who may open what, and who agreed to share stacks and registers.

use crate::model::{Connection, Export, Instance, StackMode, StateMode, System};
use crate::place::Place;
use crate::report::{Error, Report};

pub(super) fn check(system: &System, report: &mut Report) {
    for (index, instance) in system.instances.iter().enumerate() {
        for connection in &instance.imports {
            let target = &system.instances[*connection.target];
            let export = &target.exports[*connection.export];
            let call = Call { index, client: instance, connection, target, export };
            call.check_open(report);
            call.check_consent(report);
            call.check_group(system, report);
        }
    }
}

struct Call<'a> {
    index: usize,
    client: &'a Instance,
    connection: &'a Connection,
    target: &'a Instance,
    export: &'a Export,
}

impl Call<'_> {
    fn export_name(&self) -> String {
        format!("{}.{}", self.target.name, self.export.name)
    }

    fn check_open(&self, report: &mut Report) {
        let Some(open) = &self.export.open_place else {
            return;
        };
        if self.export.open.allows(self.index) {
            return;
        }
        report.push(
            Error::new(
                &self.connection.target.place,
                format!("`{}` may not open `{}`", self.client.name, self.export_name()),
                format!("expected an export that is open to `{}`", self.client.name),
                format!("add \"{}\" to its `open`, or remove the connection", self.client.table()),
            )
            .note(open, "only these may open it"),
        );
    }

    fn check_consent(&self, report: &mut Report) {
        if self.export.trust.iter().any(|trusted| **trusted == self.index) {
            return;
        }
        let stack = &self.connection.stack;
        let state = &self.connection.state;
        let wish: (&Place, &str) = match (**stack, **state) {
            (StackMode::Shared, _) => (&stack.place, "share its stack with"),
            (_, StateMode::Minimal) => (&state.place, "leave its registers to"),
            _ => return,
        };
        let name = &self.target.name;
        let mut error = Error::new(
            wish.0,
            format!("`{}` wants to {} `{name}`, which has not agreed", self.client.name, wish.1),
            format!("expected `{}` in the `trust` of `{}`", self.client.name, self.export_name()),
            format!(
                "{}: trust = [\"{}\"]; or remove this",
                self.target.write_into(
                    &format!("exports.{}", self.export.name),
                    self.export.declared.then_some(&self.export.name.place),
                ),
                self.client.table()
            ),
        );
        if self.export.declared {
            error = error.note(&self.export.name.place, "the export");
        }
        report.push(error);
    }

    fn check_group(&self, system: &System, report: &mut Report) {
        let stack = &self.connection.stack;
        if **stack != StackMode::Shared {
            return;
        }
        let (own, other) = (self.client.stack_group, self.target.stack_group);
        if own.is_some() && own == other {
            return;
        }
        let describe = |instance: &Instance| match instance.stack_group {
            Some(group) => {
                format!("`{}` is in the group `{}`", instance.name, system.stack_groups[group].name)
            }
            None => format!("`{}` is in no group", instance.name),
        };
        report.push(
            Error::new(
                &stack.place,
                format!("`{}` and `{}` cannot share stacks", self.client.name, self.target.name),
                "expected both in the same stack group",
                "write the same `stack_group` in both instances, or remove this",
            )
            .note(&self.client.name.place, describe(self.client))
            .note(&self.target.name.place, describe(self.target)),
        );
    }
}
