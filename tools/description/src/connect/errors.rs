//! What is said of an instance whose component is not as its description has it.

use super::difference;
use crate::model::{Connection, Instance};
use crate::names::suggestion;
use crate::place::{Located, Place};
use crate::report::Error;
use cairn_loader::{Descriptor, Import};

pub(super) fn not_built(instance: &Instance) -> Error {
    Error::new(
        &instance.component.place,
        format!("component `{}` is not built", instance.component),
        "expected a component whose file says what it imports and exports",
        format!("build `{}` first", instance.folder),
    )
}

pub(super) fn has_no_thread_pointer(instance: &Instance) -> Error {
    Error::new(
        &instance.placement.place,
        format!("`{}` has thread-local variables", instance.own_name()),
        format!(
            "expected a component without them in the kernel domain: those of `{}` lie where the register `tp` points, and there \
             that is the thread's frame",
            instance.folder
        ),
        format!(
            "{}, or do without them: in C, errno and what sets it are such",
            instance.out_of_kernel()
        ),
    )
}

pub(super) fn missing_export(
    instance: &Instance,
    component: &Descriptor,
    export: &Located<String>,
) -> Error {
    let names = component.exports.iter().map(|export| export.name.as_str());
    Error::new(
        &export.place,
        format!("`{}` has no export `{export}`", instance.name),
        format!("expected an export of the component `{}`", instance.component),
        suggestion(export, "its exports are", names, "remove this table"),
    )
}

pub(super) fn object_opened(instance: &Instance, export: &str, place: &Place) -> Error {
    Error::new(
        place,
        format!("`{export}` is an object interface of `{}`", instance.name),
        "expected no `open`: a client gets an object from a method, not by name",
        "remove `open`",
    )
}

pub(super) fn surplus_import(
    instance: &Instance,
    component: &Descriptor,
    import: &Located<String>,
) -> Error {
    let names = component.imports.iter().map(|import| import.name.as_str());
    Error::new(
        &import.place,
        format!("`{}` has no import `{import}`", instance.name),
        format!("expected an import of the component `{}`", instance.component),
        suggestion(import, "its imports are", names, "remove this connection"),
    )
}

pub(super) fn no_thread(instance: &Instance) -> Error {
    Error::new(
        &instance.threads.place,
        format!("`{}` has a main function, but no thread to run it", instance.name),
        "expected at least 1",
        "write `threads = 1`, or remove the component's main function",
    )
}

pub(super) fn always_serves(instance: &Instance, wait: &Located<bool>) -> Error {
    Error::new(
        &wait.place,
        format!("`{}` serves from its first instruction on", instance.name),
        "expected a component that says when it serves",
        format!(
            "give `{}` a function `init` in `component!`, or remove `before_ready`",
            instance.folder
        ),
    )
}

/// A failed call leaves the registers destroyed, for which the client's code has to be compiled.
pub(super) fn not_minimal(instance: &Instance, import: &Import, connection: &Connection) -> Error {
    Error::new(
        &connection.state.place,
        format!(
            "`{}` does not save its registers when it calls `{}`",
            instance.component, import.name
        ),
        "expected an import that the component marks `#[minimal]`",
        format!(
            "write `#[minimal] {}: {}` in the imports of `{}`, or remove `state`",
            import.name, import.interface.name, instance.folder
        ),
    )
}

pub(super) fn wrong_version(
    instance: &Instance,
    target: &Instance,
    import: &Import,
    connection: &Connection,
    served: &cairn_loader::Export,
) -> Error {
    Error::new(
        &connection.export.place,
        format!(
            "`{}` and `{}` were built with different versions of the interface `{}`",
            instance.name, target.name, import.interface.name
        ),
        match served.interface.version == import.interface.version {
            true => "expected the same letters of all methods behind the same version".to_owned(),
            false => format!(
                "expected version {:016x}, found {:016x}",
                import.interface.version, served.interface.version
            ),
        },
        format!(
            "{}; build `{}` and `{}` again",
            difference(&import.interface, &served.interface),
            instance.folder,
            target.folder
        ),
    )
}
