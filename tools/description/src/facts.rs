//! What components' files say of themselves, as far as connecting them needs it.

use std::collections::BTreeMap;

/// A component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentFacts {
    /// It has a main function, so its first thread needs a place in the quota of threads.
    pub has_main: bool,
    /// What it calls, in the order of its descriptor.
    pub imports: Vec<ImportFacts>,
    /// What it serves, in the order of its descriptor.
    pub exports: Vec<ExportFacts>,
}

/// An interface that a component calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFacts {
    /// The component's name of it.
    pub name: String,
    /// It is marked `#[minimal]`: its proxy saves all registers itself.
    pub is_minimal: bool,
    /// The interface.
    pub interface: InterfaceFacts,
}

/// An interface that a component serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportFacts {
    /// The component's name of it.
    pub name: String,
    /// An object interface: made by a method's return, never opened by name.
    pub is_object: bool,
    /// The interface.
    pub interface: InterfaceFacts,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceFacts {
    /// The trait's name.
    pub name: String,
    /// The hash over its signatures.
    pub version: u64,
    /// Its methods, in order.
    pub methods: Vec<MethodFacts>,
}

/// A method of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodFacts {
    /// Its name.
    pub name: String,
    /// The letters of its parameters.
    pub letters: String,
}

/// Knows components by their folder ([`crate::model::Instance::folder`]).
pub trait Facts {
    /// The facts of the component in `folder`; `None` if it is not built.
    fn component(&self, folder: &str) -> Option<&ComponentFacts>;
}

impl Facts for BTreeMap<String, ComponentFacts> {
    fn component(&self, folder: &str) -> Option<&ComponentFacts> {
        self.get(folder)
    }
}
