//! Takes instructions out of what hands the floating-point unit over, one at a time, and wants a check to fail.

use crate::float::{Model, USERS, prepared, prepared_from_start};
use crate::float_hand_over::{come_back, look_for_the_status, read_by_turns};
use crate::world::*;
use cairn_emulator::encode::{NOP, bytes};
use cairn_portal::stencil::{self, Stencil};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What can be taken out, and why. The words stand for instructions of `float_first_use` and `float_take`.
const REDUNDANT: [(u32, &str); 3] = [
    (NOP, "it does nothing"),
    (0x000e_3e83, "ld t4, FLOAT_OWNER(t3): another owner would only be looked for in vain"),
    (0x007e_8463, "beq t4, t2: the owner would save its registers and load them again"),
];

fn instruction(world: &World, address: u64) -> u32 {
    (world.word(address & !7) >> (8 * (address & 7))) as u32
}

/// Whether everything goes well: what happens at random in three worlds that differ in who may use the unit, and the rest.
fn passes(worlds: &[(World, Model)], change: impl Fn(&mut World)) -> bool {
    let scenario = || {
        for (number, (world, model)) in worlds.iter().enumerate() {
            let (mut world, mut model) = (world.clone(), model.clone());
            change(&mut world);
            if number == 0 {
                look_for_the_status(&world, &model);
                come_back(&world, &model);
                read_by_turns(world.clone());
            }
            model.run(&mut world, 900);
        }
    };
    catch_unwind(AssertUnwindSafe(scenario)).is_ok()
}

fn worlds() -> Vec<(World, Model)> {
    vec![
        prepared(&USERS, 301),
        prepared(&[CLIENT, BACKEND], 302),
        prepared_from_start(&[CLIENT], &[SERVER], 303),
    ]
}

/// Each of `places` is taken out, all of its addresses at once.
fn assert_all_matter(worlds: &[(World, Model)], places: &[Vec<u64>]) {
    assert!(passes(worlds, |_| {}));
    let world = &worlds[0].0;
    let is_redundant = |word| REDUNDANT.iter().any(|(redundant, _)| *redundant == word);
    let without = |places: &[u64]| {
        let places = places.to_vec();
        move |world: &mut World| {
            places.iter().for_each(|place| world.write_bytes(*place, &bytes(&[NOP])));
        }
    };
    let unnoticed: Vec<String> = places
        .iter()
        .map(|places| (places, instruction(world, places[0])))
        .filter(|(places, word)| !is_redundant(*word) && passes(worlds, without(places)))
        .map(|(places, word)| format!("{word:#010x} at {places:x?}"))
        .collect();
    assert!(unnoticed.is_empty(), "nobody notices the absence of {unnoticed:?}");
}

#[test]
fn every_instruction_of_the_nucleus_for_the_unit_matters() {
    let worlds = worlds();
    let nucleus = worlds[0].0.nucleus;
    let end = nucleus.symbol("float_begin") + 4 * 36;
    // What is for processes has tests with them.
    let of_processes =
        nucleus.symbol("service_float_leave")..nucleus.symbol("service_float_resume");
    let places = (nucleus.symbol("float_first_use")..end).step_by(4);
    let places = places.filter(|place| !of_processes.contains(place)).map(|place| vec![place]);
    let places: Vec<Vec<u64>> = places.collect();
    assert_all_matter(&worlds, &places);
}

/// Whether the code of a stencil, with its holes filled, is at an address.
fn is_there(world: &World, stencil: &Stencil, address: u64) -> bool {
    (0..stencil.code.len()).all(|at| {
        let is_hole = stencil.holes.iter().any(|hole| hole.at == at);
        is_hole || instruction(world, address + 4 * at as u64) == stencil.code[at]
    })
}

#[test]
fn every_instruction_of_portals_for_the_unit_matters() {
    // One world, since portals lie where those before them end.
    let worlds = vec![prepared_from_start(&USERS, &[BACKEND], 304)];
    let world = &worlds[0].0;
    let stencils = [
        (stencil::FLOAT_UNUSED, 7),
        (stencil::FLOAT_BEGIN, 3),
        (stencil::FLOAT_OFF, 11 + 15),
        (stencil::FLOAT_END, 21),
        (stencil::FLOAT_BACK, 11),
        (stencil::FLOAT_ELSEWHERE, 11),
    ];
    let mut places = Vec::new();
    for (stencil, least) in &stencils {
        let code = world.portal_code();
        let found: Vec<u64> =
            code.step_by(4).filter(|address| is_there(world, stencil, *address)).collect();
        assert!(found.len() >= *least, "{}: {}", stencil.name, found.len());
        let words = (0..stencil.code.len() as u64).map(|at| at * 4);
        places.extend(words.map(|word| found.iter().map(|place| place + word).collect()));
    }
    assert_all_matter(&worlds, &places);
}
