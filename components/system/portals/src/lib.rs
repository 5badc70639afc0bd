//! The portal manager. What it reaches is behind a trait ([`machine::Machine`]), so that all of it runs in
//! tests on the host.
//!
//! Relaxed: the manager's work is done under its lock, on one hart; code and what it reads are published by a fence.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod area;
pub mod blocks;
mod crossing;
mod entries;
pub mod grants;
pub mod instances;
pub mod known;
pub mod machine;
pub mod make;
pub mod manager;
pub mod parameter_data;
mod pools;
mod queues;
pub mod refusals;
pub mod registrations;
mod returns;
mod shares;
pub mod synchronisation;
mod templates;
#[cfg(test)]
mod tests;
pub mod wraps;

/// Most bytes of the code of one call or return portal (held by a test).
const HALF_MAXIMUM: usize = 1280;

#[cfg(test)]
mod room {
    use super::HALF_MAXIMUM;
    use crate::make::LONGEST_FAULT;
    use cairn_abi::InstanceId;
    use cairn_portal::parameter::FRAGMENT_MAXIMUM;
    use cairn_portal::specification::Stack;
    use cairn_portal::{
        Behalf, Crossing, FaultBetween, Limits, PagedRange, PagerMemory, Parameter, Parameters,
        PassedFault, SemaphoreOperation, Specification, generate,
    };

    #[test]
    fn every_half_has_room() {
        let mut longest = 0;
        let limits = Limits { call: 1, ..Limits::default() };
        let crossing = Crossing { counter: 8, limits, asids: false, ..Crossing::NONE };
        let mut words = [0; 2048];
        let mut look = |specification: &Specification, types: &Parameters, operation| {
            let all = (specification, types);
            let mut crossing = crossing;
            if matches!(specification.stack, Stack::New | Stack::RunToCompletion) {
                crossing.grant = 8;
            }
            let call = generate::call(all, operation, &crossing, &mut words).unwrap();
            let (back, _) = generate::back(all, &crossing, &mut words).unwrap();
            longest = longest.max(call).max(back);
        };
        for stack_and_state in ["np", "sp", "nm", "sm"] {
            for letters in ["crrr", "cwww", "cwwwi", "ctahc=rw", "cccccccc", "crwtah", ""] {
                let text = format!("{stack_and_state}{letters}");
                let Ok(specification) = Specification::parse(&text) else { continue };
                look(&specification, &Parameters::NONE, None);
            }
        }
        // Registered types, with the longest fragments.
        const NOP: [u32; FRAGMENT_MAXIMUM] = [0x0003_8393; FRAGMENT_MAXIMUM];
        let mut types = Parameters::NONE;
        for (letter, words) in [(b'A', 1), (b'B', 2)] {
            types.register(Parameter::new(letter, words, &NOP, &NOP).unwrap()).unwrap();
        }
        for letters in ["cAAAAAAA", "AAAAAAAA", "cBBBA", "crrBA", "crAAAAA", "cwAAAAA", "cwwAAA"] {
            let specification = Specification::parse("np").unwrap();
            let specification = specification.with_types(letters.as_bytes(), &types).unwrap();
            look(&specification, &types, None);
        }
        // On behalf of another.
        let behalf = Some(Behalf { client: InstanceId(1), queue: 8, fault: None });
        let crossing = Crossing { behalf, ..crossing };
        let specification = Specification::parse("npcwwwi").unwrap();
        let all = (&specification, &Parameters::NONE);
        let call = generate::call(all, None, &crossing, &mut [0; 2048]).unwrap();
        assert!(call <= HALF_MAXIMUM, "{call}");
        let specification = Specification::parse("rpctaiiiii").unwrap();
        look(&specification, &Parameters::NONE, Some(SemaphoreOperation::P));
        assert!(longest > HALF_MAXIMUM / 2 && longest <= HALF_MAXIMUM, "{longest}");
    }

    #[test]
    fn the_longest_portal_of_faults_fits() {
        let limits = Limits { call: 1, ..Limits::default() };
        let pager = Some(PagerMemory { first: 0, size: 0, entry: 0 });
        let fault = PassedFault { first: 0, number: 0, entries: 8, is_writable: true, pager };
        let behalf = Some(Behalf { client: InstanceId(1), queue: 0, fault: Some(fault) });
        let crossing = Crossing { asids: false, limits, behalf, ..Crossing::NONE };
        let specification = Specification::parse("npc=tiiii").unwrap();
        let words = &mut [0; 1024];
        let passed = generate::pair(&specification, &crossing, words, 0).unwrap().size;
        let range = PagedRange { first: 0, size: 0, entries: 8, is_writable: true, elsewhere: 0 };
        let between = FaultBetween { inner: 0, again: 0, size: 64, unmended: 0 };
        let crossing = Crossing { asids: false, ..Crossing::NONE };
        let first = generate::fault_between(&range, &between, &crossing, words, 0).unwrap().size;
        let longest = passed.max(first);
        assert!(longest > LONGEST_FAULT / 2 && longest <= LONGEST_FAULT, "{passed} {first}");
    }
}
