//! Portals that lead elsewhere, whoever they are of.

use super::super::*;
use cairn_abi::address::PORTAL_CODE;
use cairn_portal::invocation::Words;
use cairn_portal::literal::LITERAL_ENTRY;
use core::sync::atomic::Ordering::Relaxed;

#[test]
fn whatever_leads_to_an_address_leads_elsewhere_and_nothing_else_changes() {
    let mut world = world();
    let first = world.manager.open_export(&world.machine, client(CLIENT), SERVICE, ANY).unwrap();
    let World { machine, manager } = &world;
    let entry = |index: u64| {
        let code = machine.entry(domain_of(CLIENT), (first + index) as usize);
        machine.load(code.wrapping_add_signed(LITERAL_ENTRY)).unwrap()
    };
    let words = || {
        let all = machine.code(PORTAL_CODE, CODE);
        all.iter().map(|word| word.load(Relaxed) as u64).collect::<Vec<_>>()
    };
    let (entries, before) = ([entry(0), entry(1)], words());
    assert_ne!(entries[0], entries[1]);
    // One of them, and one that nothing leads to.
    let pairs = [(entries[0], 0x123_4568), (entries[0] + 1, 1)];
    let (mut steps, mut next) = (0, Some(0));
    while let Some(place) = next {
        next = manager.repoint(machine, pairs.into_iter(), place);
        steps += 1;
    }
    assert!(steps > 1, "in steps");
    let led = |word: u64| if word == entries[0] { 0x123_4568 } else { word };
    assert!(words() == before.into_iter().map(led).collect::<Vec<_>>());
    assert_eq!([entry(0), entry(1)], [0x123_4568, entries[1]]);
}
