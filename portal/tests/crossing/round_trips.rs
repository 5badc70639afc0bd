//! Calls there and back with every specification that there is room for.

use crate::world::*;

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
        for letters in ["", "c", "ciii", "=athic", "iiiiiiii", "ci2", "c4"] {
            let mut world = World::new(7);
            let connection = world.connect(&format!("{head}{letters}"), CLIENT, KERNEL_SERVER);
            for _ in 0..3 {
                world.round_trip(&connection);
            }
        }
    }
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
