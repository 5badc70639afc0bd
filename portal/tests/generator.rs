//! The generator as a function: what it refuses, and the shape of what it makes.

use cairn_abi::{DomainId, InstanceId, Space};
use cairn_emulator::decode::{Instruction, decode};
use cairn_portal::literal::*;
use cairn_portal::stencil;
use cairn_portal::{
    Crossing, End, Float, GenerateError, Generated, Ground, Limits, Parameters, Place,
    SemaphoreOperation, ShortCircuit, Source, Specification, generate,
};
use std::collections::BTreeMap;

const ADDRESS: u64 = cairn_abi::address::PORTAL_CODE;

fn crossing() -> Crossing {
    let end = |number: u16| End {
        instance: InstanceId(number),
        domain: DomainId(number),
        place: Place::User,
        space: Space::new(0, number.into()),
        table: u64::from(number) << 13,
        float: Float::OFF,
    };
    Crossing {
        caller: end(3),
        callee: end(4),
        entry: 0x1_0040,
        index: 17,
        asids: true,
        ..Crossing::NONE
    }
}

type Generate = Box<dyn Fn(&mut [u32], u64) -> Result<Generated, GenerateError>>;

/// Every kind of portal by name.
fn portals() -> BTreeMap<String, Generate> {
    let mut portals: BTreeMap<String, Generate> = BTreeMap::new();
    for asids in [true, false] {
        for counter in [0, 0x1000] {
            let crossing = Crossing { asids, counter, ..crossing() };
            let tail = format!(
                "{}{}",
                if asids { "" } else { ", no ASIDs" },
                if counter == 0 { "" } else { ", counting" }
            );
            for text in [
                "sm",
                "sp",
                "nm",
                "np",
                "smciii",
                "npciii",
                "smr",
                "spw",
                "npr",
                "nmrwr",
                "npwwwia",
                "npcrwrh",
                "npiiiiiiii",
                "smcccccccc",
                "np=athc=at",
                "rp",
                "rpciii",
                "rd",
                "rdcii",
            ] {
                let specification = Specification::parse(text).unwrap();
                portals.insert(
                    format!("{text}{tail}"),
                    Box::new(move |words, address| {
                        generate::pair(&specification, &crossing, words, address)
                    }),
                );
            }
            for acknowledge in [true, false] {
                portals.insert(
                    format!("upcall {acknowledge}{tail}"),
                    Box::new(move |words, address| {
                        generate::upcall(&crossing, acknowledge, words, address)
                    }),
                );
            }
            for operation in [SemaphoreOperation::P, SemaphoreOperation::V] {
                let specification = Specification::parse("rpcii").unwrap();
                for grant in [0, 8] {
                    let crossing = Crossing { grant, ground: Ground::Top(16), ..crossing };
                    portals.insert(
                        format!("{operation:?}{tail}, {grant}"),
                        Box::new(move |words, address| {
                            let of = (operation, &specification);
                            generate::semaphore(of.0, of.1, &crossing, words, address)
                        }),
                    );
                }
            }
            for kind in [
                ShortCircuit::OwnDomain,
                ShortCircuit::OwnThread,
                ShortCircuit::Time,
                ShortCircuit::NoPortal,
            ] {
                portals.insert(
                    format!("{kind:?}{tail}"),
                    Box::new(move |words, address| {
                        generate::short_circuit(kind, &crossing, words, address)
                    }),
                );
            }
        }
    }
    portals
}

fn generated(generate: &Generate, old: u32) -> (Generated, Vec<u32>) {
    let mut words = vec![old; 1024];
    let made = generate(&mut words, ADDRESS).unwrap();
    words.truncate(made.size / 4);
    (made, words)
}

#[test]
fn a_buffer_that_is_too_small_is_refused() {
    for (name, generate) in portals() {
        let (made, words) = generated(&generate, 0);
        for size in 0..words.len() {
            let mut small = vec![0; size];
            assert_eq!(
                generate(&mut small, ADDRESS),
                Err(GenerateError::NoSpace),
                "{name}, {size} words"
            );
        }
        let mut exact = vec![0; words.len()];
        assert_eq!(generate(&mut exact, ADDRESS), Ok(made), "{name}");
        assert_eq!(exact, words);
    }
}

#[test]
fn nothing_of_the_buffers_old_content_remains() {
    for (name, generate) in portals() {
        assert_eq!(generated(&generate, 0), generated(&generate, u32::MAX), "{name}");
    }
}

#[test]
fn sizes_and_addresses_are_aligned() {
    for (name, generate) in portals() {
        let (made, words) = generated(&generate, 0);
        assert_eq!(made.size % 16, 0, "{name}");
        assert_eq!((made.call % 16, made.back % 16), (0, 0), "{name}");
        let mark = |address: u64| {
            let at = ((address - ADDRESS) as i64 + LITERAL_MARK) as usize / 4;
            u64::from(words[at]) | u64::from(words[at + 1]) << 32
        };
        assert_eq!(mark(made.call), MARK_CALL, "{name}");
        if made.back != 0 {
            assert_eq!(mark(made.back), MARK_RETURN, "{name}");
        }
    }
}

#[test]
fn what_differs_between_portals_of_one_specification_is_in_the_literals() {
    let other = Crossing {
        callee: End {
            instance: InstanceId(9),
            domain: DomainId(9),
            place: Place::User,
            space: Space::new(77 << 12, 0),
            table: 5,
            float: Float::OFF,
        },
        entry: 1,
        stub: 2,
        constant: 3,
        ground: Ground::Group(4),
        queue: 5,
        waiters: 6,
        source: Source::Memory { first: 7, size: 8 },
        source_entry: 9,
        services: 10,
        ..crossing()
    };
    let specification = Specification::parse("npcrwi").unwrap();
    let code = |crossing: Crossing| {
        let mut words = vec![0; 1024];
        let made = generate::pair(&specification, &crossing, &mut words, ADDRESS).unwrap();
        let call = ((made.call - ADDRESS) / 4) as usize;
        let back = ((made.back - ADDRESS - LITERALS_SIZE as u64) / 4) as usize;
        words[call..back].to_vec()
    };
    assert_eq!(code(crossing()), code(other));
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let specification = Specification::parse("np=a").unwrap();
    let mut words = vec![0; 1024];
    for (index, caller, fits) in
        [(2047, 2047, true), (2048, 1, false), (1, 2048, false), (u64::MAX >> 1, 1, false)]
    {
        let mut crossing = crossing();
        crossing.index = index;
        crossing.caller.instance = InstanceId(caller);
        let made = generate::pair(&specification, &crossing, &mut words, ADDRESS);
        assert_eq!(made.is_ok(), fits, "index {index}, caller {caller}");
        assert!(fits || made == Err(GenerateError::DoesNotFit));
    }
}

/// Where control can go after the word at `at`, within the portal; none: it is left.
fn successors(words: &[u32], at: usize) -> Vec<usize> {
    let target = |offset: u64| {
        usize::try_from(at as i64 + offset as i64 / 4).expect("a target in the portal")
    };
    if words[at] == stencil::SCRUB_LAST_SHORT.code[0] {
        return vec![at + 1]; // two compressed instructions
    }
    match decode(words[at])
        .unwrap_or_else(|| panic!("word {at}, {:#x}, is no instruction", words[at]))
    {
        Instruction::Branch { offset, .. } => vec![at + 1, target(offset)],
        Instruction::Jump { to, offset } => {
            assert_eq!(to, 0, "portal code calls nothing in a portal");
            vec![target(offset)]
        }
        // To a service, which comes back, or to another portal.
        Instruction::JumpRegister { to: 30, .. } => vec![at + 1],
        Instruction::JumpRegister { .. } | Instruction::SupervisorReturn => vec![],
        _ => vec![at + 1],
    }
}

/// Follows every path from `from`; panics at a loop.
fn assert_acyclic(words: &[u32], from: usize, path: &mut Vec<usize>, done: &mut Vec<bool>) {
    if done[from] {
        return;
    }
    assert!(!path.contains(&from), "a loop through word {from}: {path:?}");
    path.push(from);
    for next in successors(words, from) {
        assert_acyclic(words, next, path, done);
    }
    path.pop();
    done[from] = true;
}

#[test]
fn portal_code_has_no_loop() {
    for (name, generate) in portals() {
        println!("{name}");
        let (made, words) = generated(&generate, 0);
        let word = |address: u64| ((address - ADDRESS) / 4) as usize;
        let literal = |address: u64, offset: i64| {
            let at = word(address.wrapping_add_signed(offset));
            u64::from(words[at]) | u64::from(words[at + 1]) << 32
        };
        let mut entries = vec![made.call];
        if made.back != 0 {
            assert_eq!(literal(made.call, LITERAL_RETURN), made.back);
            let dead = literal(made.back, LITERAL_RETURN);
            assert_eq!(literal(dead, LITERAL_MARK), MARK_DEAD);
            assert_eq!(literal(dead, LITERAL_ABORT), dead);
            assert_eq!(literal(dead, LITERAL_RETURN), made.back);
            entries.extend([made.back, literal(made.back, LITERAL_ABORT), dead]);
        }
        let mut done = vec![false; words.len()];
        for entry in entries {
            assert_acyclic(&words, word(entry), &mut Vec::new(), &mut done);
        }
    }
}

#[test]
fn holes_take_exactly_the_numbers_that_fit() {
    use stencil::Form;
    for (form, low, high) in [
        (Form::LoadOrAdd, -2048, 2047),
        (Form::Store, -2048, 2047),
        (Form::Branch, -4096, 4095),
        (Form::Jump, -(1 << 20), (1 << 20) - 1),
    ] {
        assert!(form.fill(0, low).is_some() && form.fill(0, high).is_some());
        assert!(form.fill(0, low - 1).is_none() && form.fill(0, high + 1).is_none());
        // What was in the hole does not matter, what is around it stays.
        let all = form.fill(0, -1).unwrap();
        assert_eq!(form.fill(u32::MAX, 0), Some(!all));
        assert_eq!(form.fill(all, 8), form.fill(0, 8));
    }
}

/// The code of a pair's halves, which are generated alone for pairs made at run time.
#[test]
fn the_halves_of_a_pair_are_those_that_are_made_alone() {
    let literals = LITERALS_SIZE as usize / 4;
    let mut shapes: BTreeMap<(u64, bool), Vec<u32>> = BTreeMap::new();
    for text in [
        "sm", "sp", "nm", "np", "smciii", "npciii", "npcr", "npciri", "npwit", "npcwir", "npcrw",
        "spw", "rp", "rpct",
    ] {
        for longest_call in [0, 7] {
            let specification = Specification::parse(text).unwrap();
            let limits = Limits { call: longest_call, ..Limits::default() };
            let crossing = Crossing { limits, ..crossing() };
            let all = (&specification, &Parameters::NONE);
            let mut pair = vec![0; 1024];
            let made = generate::pair(&specification, &crossing, &mut pair, ADDRESS).unwrap();
            let mut call = vec![0; 1024];
            let size = generate::call(all, None, &crossing, &mut call).unwrap() / 4;
            let first = (made.call - ADDRESS) as usize / 4;
            assert_eq!(call[literals..size], pair[first..first + size - literals], "{text}");
            let mut back = vec![0; 1024];
            let (size, links) = generate::back(all, &crossing, &mut back).unwrap();
            let (size, dead) = (size / 4, links.dead_literals() / 4);
            let first = (made.back - ADDRESS) as usize / 4;
            assert_eq!(back[literals..dead], pair[first..first + dead - literals], "{text}");
            // One shape, one code.
            back.truncate(size);
            let known =
                shapes.entry((specification.shape(), longest_call != 0)).or_insert(back.clone());
            assert_eq!(*known, back, "{text}");
        }
    }
    assert_eq!(shapes.len(), 20);
}
