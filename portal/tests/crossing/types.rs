//! Registered parameter types: their fragments, executed in portals of every kind and at every position.

use crate::world::*;
use cairn_abi::parameter_data::{DATA_WORDS, data_word};
use cairn_emulator::encode;
use cairn_emulator::register::*;
use cairn_portal::parameter::Data;
use cairn_portal::{Parameter, Parameters, Specification, generate};

impl World {
    /// A connection whose specification may have registered letters.
    fn connect_types(
        &mut self,
        stack_and_state: &str,
        letters: &str,
        types: &Parameters,
        callee: usize,
    ) -> Connection {
        let specification = Specification::parse(stack_and_state).unwrap();
        let specification = specification.with_types(letters.as_bytes(), types).unwrap();
        let (crossing, activations) = self.crossing(&specification, CLIENT, callee, 2);
        let code = self.generate(|words, address| {
            generate::pair_with_types(&specification, types, &crossing, words, address)
        });
        self.install(CLIENT, crossing.index, code.call);
        let index = crossing.index;
        Connection { specification, caller: CLIENT, callee, index, crossing, code, activations }
    }
}

/// `H`: a handle from 0 to 7 becomes a digit of this table, everything else 15; the value, a digit,
/// becomes its complement. `S`: two words change places.
const TABLE: u32 = 0x7654_3210 ^ 0x1111_1111;

fn types() -> Parameters {
    use encode::*;
    let mut handle = vec![];
    // t4: all ones if the handle is in range.
    handle.extend([sltiu(T4, T2, 8), sub(T4, ZERO, T4)]);
    handle.extend([slli(T5, T2, 2)]);
    handle.extend(constant(T6, u64::from(TABLE)));
    handle.extend([srl(T2, T6, T5), and(T2, T2, T4), andi(T2, T2, 15)]);
    handle.extend([xori(T4, T4, -1), andi(T4, T4, 15), or(T2, T2, T4)]);
    let swap = [addi(T4, T2, 0), addi(T2, T3, 0), addi(T3, T4, 0)];
    let mut types = Parameters::NONE;
    types.register(Parameter::new(b'H', 1, &handle, &[xori(T2, T2, -1)]).unwrap()).unwrap();
    types.register(Parameter::new(b'S', 2, &swap, &[]).unwrap()).unwrap();
    types
}

fn translated(handle: u64) -> u64 {
    if handle < 8 { u64::from(TABLE >> (handle * 4) & 15) } else { 15 }
}

#[test]
fn a_fragment_serves_every_position_of_every_portal() {
    let types = types();
    for stack_and_state in ["np", "nm", "sp", "sm", "rp"] {
        for letters in [
            "cH", "ciH", "cHiSi", "ciiSiH", "ciiiiiH", "ciiiiiS", "cSSS", "cHHHHHHH", "crHw",
            "ctHah",
        ] {
            if stack_and_state == "rp" && letters.contains('r') {
                continue;
            }
            let callee = if stack_and_state == "rp" { SCHEDULER } else { SERVER };
            for round in 0..12 {
                let mut world = World::new(round);
                let connection = world.connect_types(stack_and_state, letters, &types, callee);
                let (mut arguments, _) = world.arguments(&connection);
                let mut position = 0;
                for letter in letters.bytes() {
                    if letter == b'H' && round < 10 {
                        arguments[position] = round + position as u64 - 1;
                    }
                    position += if b"rwS".contains(&letter) { 2 } else { 1 };
                }
                let stack = world.usual_stack(&connection);
                world.call(connection.index, stack, arguments);
                world.assert_at(callee, ENTRY);
                let mut register = A0;
                for letter in letters.bytes() {
                    let found = [world.machine.get(register), world.machine.get(register + 1)];
                    let passed = &arguments[usize::from(register - A0)..];
                    match letter {
                        b'H' => assert_eq!(
                            found[0],
                            translated(passed[0]),
                            "{stack_and_state}{letters}"
                        ),
                        b'S' => {
                            assert_eq!(found, [passed[1], passed[0]], "{stack_and_state}{letters}")
                        }
                        b'i' => assert_eq!(found[0], passed[0]),
                        _ => {}
                    }
                    register += if b"rwS".contains(&letter) { 2 } else { 1 };
                }
                world.reply(0, 5 + round);
                world.assert_at(CLIENT, RESUME);
                // Each `H` takes the complement once.
                let turned = letters.bytes().filter(|letter| *letter == b'H').count() % 2 == 1;
                let value = if turned { !(5 + round) } else { 5 + round };
                assert_eq!((world.machine.get(A0), world.machine.get(A1)), (0, value));
            }
        }
    }
}

#[test]
fn what_is_taken_cannot_trap_and_changes_nothing_else() {
    let mut random = fastrand::Rng::with_seed(11);
    let registers = [0, T2, T3, T4, T5, T6, A0, TP];
    let (mut taken, mut tried) = (0, 0);
    while taken < 400 {
        tried += 1;
        assert!(tried < 400_000, "{taken} of {tried} are taken");
        let code: Vec<u32> = (0..random.usize(1..4))
            .map(|_| {
                let opcode = [0x13, 0x1b, 0x33, 0x3b, 0x37, random.u32(..128)][random.usize(..6)];
                let [to, left, right] =
                    [0; 3].map(|_: u8| registers[random.usize(..registers.len())]);
                let group = [0, 0x20, random.u32(..128)][random.usize(..3)];
                encode::register_form(opcode, random.u32(..8), group, to, left, right)
            })
            .collect();
        let Ok(parameter) = Parameter::new(b'X', 2, &code, &[]) else { continue };
        taken += 1;
        let mut types = Parameters::NONE;
        types.register(parameter).unwrap();
        let mut world = World::new(taken);
        let connection = world.connect_types("np", "ciXi", &types, SERVER);
        let arguments: [u64; 8] = std::array::from_fn(|_| world.random.u64(..));
        let stack = world.usual_stack(&connection);
        let crossed = world.call(connection.index, stack, arguments);
        world.assert_at(SERVER, ENTRY);
        assert_eq!(world.machine.get(A1), arguments[1]);
        assert_eq!(world.machine.get(A4), arguments[4]);
        let queue = (connection.crossing.queue, cairn_abi::domain::QUEUE_SIZE);
        let frame = cairn_portal::generate::frame_size(&connection.specification) as u64;
        crossed.assert_writes((crossed.frame_before, crossed.frame_before + frame), &[queue]);
        world.reply(0, 9);
        world.assert_at(CLIENT, RESUME);
        assert_eq!((world.machine.get(A0), world.machine.get(A1)), (0, 9));
    }
}

/// A word of the server's table, which it changes between two calls; on the way back the value is looked up, too.
#[test]
fn a_fragment_reads_its_servers_data() {
    use encode::*;
    // Every place that data can have: the parts of the address carry in different ways.
    for first in (0..DATA_WORDS - 7).step_by(61).chain([DATA_WORDS - 8]) {
        let data = Data { address: data_word(first), words: 8 };
        let look = [andi(T4, T2, 7), slli(T4, T4, 3), add(T4, T6, T4), ld(T2, T4, 0)];
        let mut types = Parameters::NONE;
        let parameter = Parameter::with_data(b'D', 1, (&look, &look), Some(data)).unwrap();
        types.register(parameter).unwrap();
        let mut world = World::new(first as u64);
        for place in 0..DATA_WORDS {
            world.set_word(data_word(place), 0xbad);
        }
        let connection = world.connect_types("np", "ciDi", &types, SERVER);
        for round in 0..8 {
            let words: [u64; 8] = std::array::from_fn(|_| world.random.u64(..));
            for (place, word) in words.iter().enumerate() {
                world.set_word(data_word(first + place), *word);
            }
            let (handle, value) = (world.random.u64(..), world.random.u64(..));
            let stack = world.usual_stack(&connection);
            world.call(connection.index, stack, [0, 1, handle, round, 0, 0, 0, 0]);
            world.assert_at(SERVER, ENTRY);
            assert_eq!(world.machine.get(A2), words[handle as usize % 8]);
            assert_eq!((world.machine.get(A1), world.machine.get(A3)), (1, round));
            for register in [T2, T3, T4, T5, T6] {
                assert_eq!(
                    world.machine.get(register),
                    0,
                    "an address of the kernel's half is left"
                );
            }
            world.reply(0, value);
            world.assert_at(CLIENT, RESUME);
            assert_eq!(world.machine.get(A1), words[value as usize % 8]);
            for register in [T2, T3, T4, T5, T6] {
                assert_eq!(
                    world.machine.get(register),
                    0,
                    "an address of the kernel's half is left"
                );
            }
        }
    }
}

/// Fragments by chance: what is taken reads the type's own words alone, whatever it is passed.
#[test]
fn what_is_taken_reads_nothing_else() {
    let mut random = fastrand::Rng::with_seed(12);
    let data = Data { address: data_word(40), words: 5 };
    let registers = [0, T2, T3, T4, T5, T6, T6];
    let (mut taken, mut tried) = (0, 0);
    while taken < 300 {
        tried += 1;
        assert!(tried < 4_000_000, "{taken} of {tried} are taken");
        let mut code: Vec<u32> = (0..random.usize(0..4))
            .map(|_| {
                let [to, left, right] =
                    [0; 3].map(|_: u8| registers[random.usize(..registers.len())]);
                match random.u8(..5) {
                    0 => encode::andi(to, left, random.i32(0..64)),
                    1 => encode::slli(to, left, random.u32(..5)),
                    2 => encode::add(to, left, right),
                    3 => encode::addi(to, left, random.i32(-8..48)),
                    _ => encode::srli(to, left, random.u32(56..64)),
                }
            })
            .collect();
        let (to, base) = ([T2, T3][random.usize(..2)], registers[random.usize(1..7)]);
        let function = random.u32(..7);
        code.push(encode::immediate_form(0x03, function, to, base, random.i32(-8..48)));
        let Ok(parameter) = Parameter::with_data(b'X', 2, (&code, &[]), Some(data)) else {
            continue;
        };
        taken += 1;
        let mut types = Parameters::NONE;
        types.register(parameter).unwrap();
        let mut world = World::new(taken);
        let connection = world.connect_types("np", "cX", &types, SERVER);
        // Every word of the page but the type's is a secret: what depends on one would show it.
        let passed = [0, world.random.u64(..), world.random.u64(..), 0, 0, 0, 0, 0];
        let mut found = [[0; 2]; 2];
        for (secret, found) in [0, u64::MAX].into_iter().zip(&mut found) {
            for place in 0..DATA_WORDS {
                world.set_word(data_word(place), secret);
            }
            for place in 0..data.words {
                world.set_word(data.address + place * 8, 0x0123_4567_89ab_cdef * (place + 1));
            }
            let stack = world.usual_stack(&connection);
            world.call(connection.index, stack, passed);
            world.assert_at(SERVER, ENTRY);
            *found = [world.machine.get(A1), world.machine.get(A2)];
            world.reply(0, 0);
            world.assert_at(CLIENT, RESUME);
        }
        assert_eq!(found[0], found[1], "{code:x?}");
    }
}
