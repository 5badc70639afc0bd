//! Calls there and back with every specification that there is room for.

use crate::world::*;
use cairn_abi::address::kernel_stack;
use cairn_abi::domain::{PORTAL_OWN_DOMAIN, PORTAL_OWN_THREAD, PORTAL_TIME};
use cairn_emulator::register::*;

fn round_trips(specification: &str, seed: u64, times: usize) {
    let mut world = World::new(seed);
    let connection = world.connect(specification, CLIENT, SERVER);
    for _ in 0..times {
        world.round_trip(&connection);
    }
}

#[test]
fn every_specification_of_up_to_two_parameters() {
    for stack in ["s", "n"] {
        for state in ["m", "p"] {
            let head = format!("{stack}{state}");
            round_trips(&head, 1, 1);
            for first in "icrw=ath".chars() {
                round_trips(&format!("{head}{first}"), 2, 6);
                for second in "icrw=ath".chars() {
                    round_trips(&format!("{head}{first}{second}"), 3, 4);
                }
            }
        }
    }
}

#[test]
fn every_specification_of_three_parameters() {
    for head in ["sm", "sp", "nm", "np"] {
        for first in "icrw=ath".chars() {
            for second in "icrw=ath".chars() {
                for third in "icrw=ath".chars() {
                    round_trips(&format!("{head}{first}{second}{third}"), 4, 2);
                }
            }
        }
    }
}

#[test]
fn random_specifications_of_up_to_eight_words() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut made = 0;
    while made < 400 {
        let head = ["sm", "sp", "nm", "np"][random.usize(..4)];
        let letters: String =
            (0..random.usize(3..=8)).map(|_| b"icrw=ath"[random.usize(..8)] as char).collect();
        let text = format!("{head}{letters}");
        if cairn_portal::Specification::parse(&text).is_ok() {
            round_trips(&text, random.u64(..), 3);
            made += 1;
        }
    }
}

#[test]
fn replies_of_two_to_four_words() {
    for head in ["sm", "sp", "nm", "np"] {
        for letters in ["", "c", "crw", "ciwa", "ciiiiiii"] {
            for words in 2..=4 {
                round_trips(&format!("{head}{letters}{words}"), 9, 3);
            }
        }
    }
}

#[test]
fn every_length_of_a_copy() {
    for specification in ["npr", "npw", "smrw"] {
        let mut world = World::new(6);
        let connection = world.connect(specification, CLIENT, SERVER);
        for _ in 0..300 {
            world.round_trip(&connection);
        }
    }
}

#[test]
fn run_to_completion_calls() {
    for letters in ["", "c", "ciii", "=athic", "iiiiiiii", "ci2", "c4"] {
        let mut world = World::new(7);
        let connection = world.connect(&format!("rp{letters}"), CLIENT, SCHEDULER);
        for _ in 0..3 {
            world.round_trip(&connection);
        }
    }
}

#[test]
fn calls_into_the_kernel_domain() {
    for head in ["km", "kp"] {
        for letters in [
            "", "c", "ciii", "=athic", "iiiiiiii", "ci2", "c4", "r", "w", "cwi", "iirw", "iiiwr",
            "crwr", "irrr", "cwww4",
        ] {
            let mut world = World::new(7);
            let connection = world.connect(&format!("{head}{letters}"), CLIENT, KERNEL_SERVER);
            for _ in 0..3 {
                world.round_trip(&connection);
            }
        }
    }
}

/// Out of the kernel domain: to a domain, to who runs to completion, to another there.
const FROM_KERNEL: [&str; 3] = ["nk", "rk", "kk"];

#[test]
fn calls_out_of_the_kernel_domain() {
    for outer in ["kmi", "kpi"] {
        for head in FROM_KERNEL {
            for letters in ["", "c", "ciii", "=athic", "iiiiiiii", "ci2", "c4"] {
                let inner = format!("{head}{letters}");
                let mut world = World::new(11);
                let outer = world.connect(outer, CLIENT, KERNEL_SERVER);
                let callee = World::callee(&inner, SERVER);
                let inner = world.connect(&inner, KERNEL_SERVER, callee);
                for _ in 0..3 {
                    let (_, before) = world.checked_call(&outer);
                    let (buffers, inner_before) = world.checked_call(&inner);
                    world.checked_return(&inner, buffers, &inner_before);
                    world.put_back(&before);
                    world.checked_return(&outer, vec![], &before);
                    assert_eq!(world.machine.csr.sscratch, base_header());
                }
            }
        }
    }
}

#[test]
fn calls_of_a_thread_that_began_in_the_kernel_domain() {
    for inner in FROM_KERNEL.map(|head| format!("{head}ciia")) {
        let mut world = World::new(12);
        let callee = World::callee(&inner, SERVER);
        let connection = world.connect(&inner, KERNEL_SERVER, callee);
        world.start(KERNEL_SERVER, &[]);
        for _ in 0..3 {
            world.round_trip(&connection);
        }
    }
}

#[test]
fn memory_of_the_kernel_domain_as_a_parameter() {
    for letters in ["r", "w", "ir", "rw", "wr", "cwwr", "rrr2"] {
        let mut world = World::new(15);
        let outer = world.connect("kpi", CLIENT, KERNEL_SERVER);
        let inner = world.connect(&format!("nk{letters}"), KERNEL_SERVER, SERVER);
        for _ in 0..40 {
            let (_, before) = world.checked_call(&outer);
            let (buffers, inner_before) = world.checked_call(&inner);
            world.checked_return(&inner, buffers, &inner_before);
            world.put_back(&before);
            world.checked_return(&outer, vec![], &before);
        }
    }
}

#[test]
fn short_circuits_in_the_kernel_domain() {
    let mut world = World::new(14);
    world.start(KERNEL_SERVER, &[]);
    let expected = [KERNEL_SERVER as u64, THREAD as u64];
    for index in [PORTAL_OWN_DOMAIN, PORTAL_OWN_THREAD, PORTAL_TIME] {
        for by_index in [false, true] {
            world.prepare_call(index as u64, kernel_stack(THREAD) - 64, [7; 8]);
            if by_index {
                world.machine.set(T0, index as u64);
                world.machine.set(T1, world.nucleus.symbol("kernel_call"));
            }
            let time = world.machine.csr.time;
            let crossed = world.cross();
            world.assert_at(KERNEL_SERVER, RESUME);
            let found = (world.machine.get(A0), world.machine.get(A1));
            match expected.get(index - PORTAL_OWN_DOMAIN) {
                Some(number) => assert_eq!(found, (0, *number)),
                None => assert!(found.0 == 0 && (time..=world.machine.csr.time).contains(&found.1)),
            }
            crossed.assert_writes((crossed.frame_before, crossed.frame_before), &[]);
        }
    }
}

#[test]
fn into_the_kernel_domain_and_out_and_in_again() {
    let mut world = World::new(13);
    let first = world.connect("kpi", CLIENT, KERNEL_SERVER);
    let second = world.connect("nki", KERNEL_SERVER, SERVER);
    let third = world.connect("kpi", SERVER, KERNEL_SERVER);
    for _ in 0..3 {
        let (_, before) = world.checked_call(&first);
        let stack = world.usual_stack(&second);
        let (_, second_before) = world.checked_call(&second);
        let frame = world.call_any(&third);
        world.assert_at(KERNEL_SERVER, ENTRY);
        assert_eq!(world.machine.get(SP), stack, "below what is in use");
        world.checked_return(&third, vec![], &frame.before);
        world.checked_return(&second, vec![], &second_before);
        world.put_back(&before);
        world.checked_return(&first, vec![], &before);
    }
    // The next call has the whole stack again: `checked_call` looks at it.
    world.round_trip(&first);
}

#[test]
fn nested_calls_of_different_kinds() {
    let kinds = ["smi", "spi", "nmr", "npw", "smrw", "nprwr"];
    for first in kinds {
        for second in ["nmi", "npi", "npr", "npwww", "nmrw"] {
            let mut world = World::new(8);
            let outer = world.connect(first, CLIENT, SERVER);
            let inner = world.connect(second, SERVER, BACKEND);
            let (buffers, before) = world.checked_call(&outer);
            let (inner_buffers, inner_before) = world.checked_call(&inner);
            world.checked_return(&inner, inner_buffers, &inner_before);
            world.checked_return(&outer, buffers, &before);
            assert_eq!(world.machine.csr.sscratch, base_header());
        }
    }
}
