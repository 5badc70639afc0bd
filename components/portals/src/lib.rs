//! The portal manager. What it reaches is behind a trait ([`machine::Machine`]), so that all of it runs in
//! tests on the host.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod area;
pub mod blocks;
mod crossing;
mod entries;
pub mod known;
pub mod machine;
pub mod make;
pub mod manager;
mod queues;
pub mod reclaim;
pub mod registrations;
mod shares;
mod templates;
#[cfg(test)]
mod tests;

/// Most bytes of the code of one portal with its return portal (held by a test).
pub const PORTAL_MAXIMUM: usize = 2048;

#[cfg(test)]
mod room {
    use super::PORTAL_MAXIMUM;
    use cairn_portal::parameter::FRAGMENT_MAXIMUM;
    use cairn_portal::{
        Crossing, Parameter, Parameters, SemaphoreOperation, Specification, generate,
    };

    #[test]
    fn every_portal_has_room() {
        let mut longest = 0;
        let crossing = Crossing { counter: 8, asids: false, ..Crossing::default() };
        let mut words = [0; 2048];
        for stack_and_state in ["np", "sp", "nm", "sm"] {
            for letters in ["crrr", "cwww", "cwwwi", "ctahc=rw", "cccccccc", "crwtah", ""] {
                let text = format!("{stack_and_state}{letters}");
                let Ok(specification) = Specification::parse(&text) else { continue };
                let made = generate::pair(&specification, &crossing, &mut words, 0x1000).unwrap();
                longest = longest.max(made.size);
            }
        }
        // Registered types, with the longest fragments.
        const NOP: [u32; FRAGMENT_MAXIMUM] = [0x0003_8393; FRAGMENT_MAXIMUM];
        let mut types = Parameters::NONE;
        for (letter, words) in [(b'A', 1), (b'B', 2)] {
            types.register(Parameter::new(letter, words, &NOP, &NOP).unwrap()).unwrap();
        }
        for letters in ["cAAAAAAA", "cBBBA", "crrBA", "crAAAAA", "cwAAAAA", "cwwAAA"] {
            let specification = Specification::parse("np").unwrap();
            let specification = specification.with_types(letters.as_bytes(), &types).unwrap();
            let made =
                generate::pair_with_types(&specification, &types, &crossing, &mut words, 0x1000)
                    .unwrap();
            longest = longest.max(made.size);
        }
        let specification = Specification::parse("rpctaiiiii").unwrap();
        let made = generate::semaphore(
            SemaphoreOperation::P,
            &specification,
            &crossing,
            &mut words,
            0x1000,
        )
        .unwrap();
        longest = longest.max(made.size);
        assert!(longest > 1000 && longest <= PORTAL_MAXIMUM, "{longest}");
    }
}
