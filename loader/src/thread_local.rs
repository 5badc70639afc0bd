//! Components whose code is entered by a function of their library: they have thread-local variables, or constructors, or say
//! when they serve (`lib/c/enter.S`). Their exports' entries are such functions; where the first thread begins is said here.

use crate::descriptor::Descriptor;
use alloc::string::String;
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags};

/// Where the first thread begins in the place of the main function.
const FIRST: &str = "cairn_first_thread";
/// Symbols around the addresses of the constructors.
const CONSTRUCTORS: [&str; 2] = ["cairn_constructors", "cairn_constructors_end"];
/// What says that the component serves, in C.
const READY: &str = "cairn_ready";

/// Lets the first thread begin by the library's function, and says whether there are thread-local variables.
pub(crate) fn enter(elf: &object::File, descriptor: &mut Descriptor) -> Result<(), String> {
    let symbol = |name| elf.symbols().find(|symbol| symbol.name() == Ok(name));
    let address = |name| symbol(name).map(|symbol| symbol.address());
    let is_thread_local = elf.sections().any(|section| is_thread_local(&section));
    let has_constructors = address(CONSTRUCTORS[0]) != address(CONSTRUCTORS[1]);
    let says_ready = address(READY).is_some();
    for (has_it, setup, what, define) in [
        (is_thread_local, "cairn_enters_thread_local", "thread-local variables", "THREAD_LOCAL"),
        (has_constructors, "cairn_enters_constructors", "constructors", "CONSTRUCTORS"),
        (says_ready, "cairn_enters_ready", "a call of `cairn_ready`", "READY"),
    ] {
        if has_it && address(setup).is_none() {
            return Err(alloc::format!(
                "it has {what}, and nothing that sees to it: compile it and lib/c/enter.S with -DCAIRN_ENTERED \
                 -DCAIRN_{define} (`./cairn` does for components in C); in Rust there are none"
            ));
        }
    }
    if let Some(main) = &mut descriptor.main {
        *main = address(FIRST).unwrap_or(*main);
    }
    descriptor.is_thread_local = is_thread_local;
    descriptor.says_ready |= says_ready;
    Ok(())
}

fn is_thread_local<'file>(section: &impl ObjectSection<'file>) -> bool {
    let SectionFlags::Elf { sh_flags } = section.flags() else { return false };
    sh_flags as u32 & object::elf::SHF_TLS != 0 && section.size() > 0
}
