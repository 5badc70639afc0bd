//! Interfaces by their names, for what is not written in Rust: C headers, and the check that a
//! component's file tells the truth about its interfaces.

use crate::test;
use anyhow::{Result, anyhow, bail};
use cairn_abi::descriptor::{InterfaceDescriptor, name_text};
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_loader::interface_text::{self, InterfaceText};
use cairn_loader::{Descriptor, Interface};
use std::sync::LazyLock;

/// The interface called `name`; the error lists all, or says what one may lack that is written.
pub fn find(name: &str) -> Result<&'static InterfaceDescriptor> {
    known(name).ok_or_else(|| {
        let names: Vec<String> =
            cairn_interfaces::ALL.iter().map(|one| name_text(&one.name).to_owned()).collect();
        anyhow!(
            "unknown interface `{name}`{}; expected one of {}, or a new one: a file of interfaces/src/, named in its \
             lib.rs (`mod`, `pub use`) and in the list of its all.rs",
            test::nearest(name, &names),
            names.join(", ")
        )
    })
}

fn known(name: &str) -> Option<&'static InterfaceDescriptor> {
    cairn_interfaces::ALL.iter().find(|one| name_text(&one.name) == name)
}

/// The C header of an interface.
pub fn header(interface: &InterfaceDescriptor) -> String {
    static TEXTS: LazyLock<Vec<InterfaceText>> = LazyLock::new(|| {
        let lines = std::str::from_utf8(cairn_interfaces::TEXTS.bytes()).unwrap_or("");
        interface_text::read(lines).unwrap_or_default()
    });
    let text = TEXTS.iter().find(|text| text.name == name_text(&interface.name));
    cairn_headers::header(interface, text)
}

/// Compares what a component's file says with the interfaces as they are.
///
/// `cairn::component!` cannot write a wrong descriptor, C can: portal code is generated from the
/// letters in it, and calls go to the indexes in it.
pub fn verify(descriptor: &Descriptor) -> Result<()> {
    let mut first_portal = PORTAL_FIRST_IMPORT;
    for import in &descriptor.imports {
        if import.first_portal != first_portal {
            bail!(
                "import `{}` begins at portal {}; expected {first_portal}: each import begins where the one before \
                 ends, the first at CAIRN_PORTAL_FIRST_IMPORT",
                import.name,
                import.first_portal
            );
        }
        first_portal += import.interface.methods.len();
        same(&import.interface)
            .map_err(|error| error.context(format!("import `{}`", import.name)))?;
    }
    for export in &descriptor.exports {
        same(&export.interface)
            .map_err(|error| error.context(format!("export `{}`", export.name)))?;
    }
    Ok(())
}

/// Whether a file's idea of an interface is the interface's own.
fn same(said: &Interface) -> Result<()> {
    let interface = find(&said.name)?;
    if said.version != interface.version {
        bail!(
            "`{}` in version {:016x}, but it is in version {:016x}; use the macro of the generated header, which \
             has the version in it",
            said.name,
            said.version,
            interface.version
        );
    }
    let methods = &interface.methods[..interface.method_count as usize];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
    let expected =
        methods.iter().map(|method| (text(&method.name), text(&method.letters), method.value));
    let found = said
        .methods
        .iter()
        .map(|method| (method.name.clone(), method.letters.clone(), method.value));
    if !expected.eq(found) {
        bail!(
            "`{}` has other methods than the interface; use the macro of the generated header",
            said.name
        );
    }
    Ok(())
}
