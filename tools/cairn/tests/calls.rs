//! Every call in the machine code of components has the form in which the layout finds it.
#![forbid(unsafe_code)]

use cairn_abi::arch::call::{STUB_SIZE, STUBS};
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_image::Component;
use cairn_tool::build::{Parts, check_calls, component};
use cairn_tool::cargo::{self, Kind};
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

#[test]
fn a_call_in_machine_code_of_its_own_is_refused_where_the_source_cannot_have_it() {
    let attacker = component("tests/hostile/components/attacker").unwrap();
    assert!(attacker.foreign_calls().len() > 2);
    check_calls(&attacker, false).unwrap();
    let refusal = format!("{:#}", check_calls(&attacker, true).unwrap_err());
    assert!(refusal.contains("not one of the library's noted calls"), "{refusal}");
}

#[test]
fn a_call_is_what_its_file_notes() {
    let package = "cairn-clock";
    let files = cargo::build_for_target(Kind::Component, &[package]).unwrap();
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
