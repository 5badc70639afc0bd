//! Registered parameter types: their fragments, executed in portals of every kind and at every position.

use crate::world::*;
use cairn_emulator::encode;
use cairn_emulator::register::*;
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
