//! Every call in the machine code of components has the form in which the layout finds it.
#![forbid(unsafe_code)]

use cairn_abi::arch::call::{STUB_SIZE, STUBS};
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_image::Component;
use cairn_loader::{Call, First, Form};
use cairn_tool::build::{Parts, check_calls, check_kernel_calls};
use cairn_tool::cargo::{self, Kind};
use cairn_tool::components::{self, component};
use cairn_tool::paths;
use object::{Object, ObjectSection};

#[test]
fn every_call_of_a_system_is_in_the_form() {
    let mut stubs = 0;
    for system in ["demo", "tests/c_component/c_component", "bench/systems/calls", "tests/edf/edf"]
    {
        let parts = Parts::new(system, None).unwrap();
        for component in parts.components() {
            let name = &component.descriptor.name;
            let calls = &component.calls;
            assert_eq!(component.foreign_calls(), [0; 0], "{name} of {system}");
            assert!(calls.iter().any(|call| call.portal == Some(0)), "{name}: it returns");
            let imported = |index: u16| {
                component.descriptor.imports.iter().any(|import| {
                    let portals =
                        import.first_portal..import.first_portal + import.interface.methods.len();
                    portals.contains(&usize::from(index))
                })
            };
            for (at, call) in calls.iter().enumerate() {
                let Some(index) = call.portal else { continue };
                if imported(index) {
                    let end = calls.get(at + 1).map_or(u64::MAX, |next| next.offset);
                    assert!(call.is_stub && end - call.offset >= STUB_SIZE, "{name}: {call:x?}");
                    stubs += 1;
                } else {
                    assert!(usize::from(index) < PORTAL_FIRST_IMPORT, "{name}: {call:x?}");
                }
            }
        }
    }
    assert!(stubs > 50, "{stubs} stubs of imports: are calls made in another way?");
}

/// The folders of all components below one, which is relative to the root.
fn folders(below: &str, found: &mut Vec<String>) {
    let entries = std::fs::read_dir(paths::source().join(below)).unwrap();
    for entry in entries.map(Result::unwrap).filter(|entry| entry.file_type().unwrap().is_dir()) {
        let folder = format!("{below}/{}", entry.file_name().into_string().unwrap());
        let is_program = entry.path().join("src/main.rs").exists();
        if is_program || entry.path().join("component.toml").exists() {
            found.push(folder);
        } else {
            folders(&folder, found);
        }
    }
}

/// The layout can write each call anew: as it is, nothing changes; as a jump, nothing else does.
#[test]
fn calls_are_written_anew_in_their_own_bytes() {
    let mut all = Vec::new();
    for below in ["components", "examples", "tests", "bench/components"] {
        folders(below, &mut all);
    }
    assert!(all.len() > 100, "{} components", all.len());
    let mut written = 0;
    let compiled = components::all(all.iter().map(String::as_str)).unwrap();
    for (folder, (_, component)) in compiled {
        let image = 0x4_0401_0000;
        for segment in &component.segments {
            let mut before = vec![0xff; segment.size as usize];
            component.fill(segment, image, &mut before);
            let mut same = before.clone();
            component.relink(segment, image, &mut same, |call| Form::Trap(call.portal)).unwrap();
            assert!(same == before, "{folder}");

            let mut links = before.clone();
            let link = |call: &Call| Form::Link {
                word: image - 8,
                first: call.portal.filter(|_| call.is_stub).map(First::Index),
            };
            component.relink(segment, image, &mut links, link).unwrap();
            for call in component.calls.iter().filter(|call| segment.range().contains(&call.offset))
            {
                let size = if call.is_stub || call.portal.is_none() { 16 } else { 12 };
                let at = (call.offset - segment.offset) as usize;
                let bytes = at..at + size;
                assert!(links[bytes.clone()] != before[bytes.clone()], "{folder}: {call:x?}");
                links[bytes.clone()].copy_from_slice(&before[bytes]);
                written += 1;
            }
            assert!(links == before, "{folder}");
        }
    }
    assert!(written > 1000, "{written} calls");
}

#[test]
fn a_call_in_machine_code_of_its_own_is_refused_where_the_source_cannot_have_it() {
    let attacker = component("tests/hostile/components/attacker").unwrap();
    assert!(attacker.foreign_calls().len() > 2);
    check_calls(&attacker, false).unwrap();
    let refusal = format!("{:#}", check_calls(&attacker, true).unwrap_err());
    assert!(refusal.contains("not one of the library's noted calls"), "{refusal}");
}

/// Its own source forbids it.
#[test]
fn unsafe_code_of_a_library_is_refused_in_the_kernel_domain() {
    let refusal =
        format!("{:#}", Parts::new("tests/kernel/library", None).map(|_| ()).unwrap_err());
    for part in [
        "tests/kernel/library.toml:",
        "`judge` could do anything in the kernel domain",
        "`tests/hostile/components/machine` does not forbid it",
        "trust = \"unsafe-code\"",
    ] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
}

/// Trust accepts what the source does with memory, not calls of the firmware.
#[test]
fn a_call_in_machine_code_of_its_own_is_refused_in_the_kernel_domain_even_with_trust() {
    let error = |system| format!("{:#}", Parts::new(system, None).map(|_| ()).unwrap_err());
    let refusal = error("tests/kernel/foreign");
    for part in [
        "tests/kernel/foreign.toml:",
        "`trouble` would call the firmware from the kernel domain",
        "that of `tests/hostile/components/attacker` has an `ecall`",
        "`trust = \"unsafe-code\"` does not allow it",
    ] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    // The same component in a domain of its own, and a trusted one without such calls in the kernel domain.
    let parts = Parts::new("tests/kernel/kernel", None).unwrap();
    let attacker = component("tests/hostile/components/attacker").unwrap();
    for instance in &parts.system.instances {
        let is_refused = check_kernel_calls(instance, &attacker).is_err();
        assert_eq!(is_refused, *instance.name == "trouble", "{}", *instance.name);
    }
}

#[test]
fn a_call_is_what_its_file_notes() {
    let package = "cairn-clock";
    let files = cargo::build_own(Kind::Component, &[package]).unwrap();
    let file = std::fs::read(&files[package]).unwrap();
    let elf = object::File::parse(&*file).unwrap();
    let (notes, size) = elf.section_by_name(STUBS).unwrap().file_range().unwrap();
    let good = Component::read(file.clone()).unwrap();
    let stub =
        good.calls.iter().find(|call| call.portal >= Some(PORTAL_FIRST_IMPORT as u16)).unwrap();
    let call = stub.offset + 4;
    let with_notes = |change: &dyn Fn(u64) -> u64| {
        let mut changed = file.clone();
        for note in changed[notes as usize..(notes + size) as usize].chunks_exact_mut(8) {
            let word = u64::from_le_bytes(note.try_into().unwrap());
            note.copy_from_slice(&change(word).to_le_bytes());
        }
        Component::read(changed)
    };
    // In the form, but not noted.
    let without = |note| if note == stub.offset { 0 } else { note };
    let component = with_notes(&without).unwrap();
    assert_eq!(component.calls.len(), good.calls.len() - 1);
    assert_eq!(component.foreign_calls(), [call]);
    let refusal = format!("{:#}", check_calls(&component, true).unwrap_err());
    assert!(refusal.contains(&format!("{call:#x}, in `cairn::")), "{refusal}");
    // Noted, but no stub: behind the `li`, not at 16 bytes, nowhere; twice the same.
    for (wrong, message) in [
        (call, "no call in the form"),
        (good.stub + 16, "no call in the form"),
        (u64::MAX, "no call in the form"),
        (good.stub, "overlap"),
    ] {
        let error = with_notes(&|note| if note == stub.offset { wrong } else { note });
        let error = error.map(|_| ()).unwrap_err();
        assert!(error.contains(message), "{wrong:#x}: {error}");
    }
}
