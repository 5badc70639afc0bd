//! Heaps and stacks that grow while the system runs.

use crate::model::{Instance, Role, System};
use crate::place::Located;
use crate::report::{Error, Report};
use crate::show_size;

pub(super) fn check(system: &System, report: &mut Report) {
    for instance in &system.instances {
        let Instance { heap, heap_limit, stack, stack_limit, stacks, .. } = instance;
        check_limit(instance, ("heap", **heap), ("heap_limit", heap_limit), report);
        check_limit(instance, ("stack", **stack), ("stack_limit", stack_limit), report);
        check_limit(instance, ("size", stacks.size), ("limit", &stacks.limit), report);
        let runs_to_completion = instance.role.is_some_and(Role::runs_to_completion);
        let why = match instance.stack_group {
            _ if runs_to_completion => "runs to completion",
            _ if instance.is_in_kernel() => "is in the kernel domain",
            Some(_) => "is in a stack group",
            None => continue,
        };
        let limits = [(stack_limit, "stack_limit"), (&stacks.limit, "limit")];
        for (limit, key) in limits.into_iter().filter(|(limit, _)| ***limit > 0) {
            report.push(Error::new(
                &limit.place,
                format!("the stack of `{}`, which {why}, cannot grow", instance.name),
                format!("expected no `{key}`"),
                "remove it, and make the stack as large as it has to be",
            ));
        }
    }
    for stacks in system.packages.iter().map(|package| &package.instance.stacks) {
        if *stacks.limit > 0 {
            report.push(Error::new(
                &stacks.limit.place,
                "a package has no stacks that grow",
                "expected no `limit`",
                "remove it, and make `size` as large as it has to be",
            ));
        }
    }
}

fn check_limit(
    instance: &Instance,
    (key, size): (&str, u64),
    (limit_key, limit): (&str, &Located<u64>),
    report: &mut Report,
) {
    if **limit == 0 || **limit >= size && **limit <= *instance.memory {
        return;
    }
    let (less, than) = if **limit < size { ("less", key) } else { ("more", "memory") };
    let bound = if **limit < size { size } else { *instance.memory };
    report.push(Error::new(
        &limit.place,
        format!("the `{limit_key}` of `{}` is {less} than its `{than}`", instance.name),
        format!("expected at {} {}, found {}", if less == "less" { "least" } else { "most" }, show_size(bound), show_size(**limit)),
        format!("`{limit_key}` is to how much it grows, out of `memory`: write another size, or remove it"),
    ));
}
