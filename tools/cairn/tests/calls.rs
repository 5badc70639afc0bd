//! Every call in the machine code of components has the form in which the layout finds it.
#![forbid(unsafe_code)]

use cairn_abi::arch::call::STUB_SIZE;
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_loader::Portal;
use cairn_tool::build::{Parts, check_calls, component};

#[test]
fn every_call_of_a_system_is_in_the_form() {
    let mut stubs = 0;
    for system in ["demo", "tests/c_component/c_component", "bench/systems/calls", "tests/edf/edf"]
    {
        let parts = Parts::new(system, None).unwrap();
        for component in parts.components() {
            let name = &component.descriptor.name;
            let calls = component.calls();
            assert_eq!(component.unknown_calls().next(), None, "{name} of {system}");
            assert!(calls.iter().any(|call| call.portal == Portal::Index(0)), "{name}: it returns");
            let imported = |index: u16| {
                component.descriptor.imports.iter().any(|import| {
                    let portals =
                        import.first_portal..import.first_portal + import.interface.methods.len();
                    portals.contains(&usize::from(index))
                })
            };
            for (at, call) in calls.iter().enumerate() {
                let Portal::Index(index) = call.portal else { continue };
                if imported(index) {
                    let end = calls.get(at + 1).map_or(u64::MAX, |next| next.offset);
                    assert!(call.is_stub() && end - call.offset >= STUB_SIZE, "{name}: {call:x?}");
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
    assert!(attacker.unknown_calls().count() > 2);
    check_calls(&attacker, false).unwrap();
    let refusal = format!("{:#}", check_calls(&attacker, true).unwrap_err());
    assert!(refusal.contains("not in the form of stubs"), "{refusal}");
}
