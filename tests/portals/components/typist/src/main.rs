//! Registers a parameter type, when it is told to.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces::{ParameterError, ParameterTypes};
use cairn_test_portals_contract::Typist;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "portal-test-typist",
    imports: { types: ParameterTypes },
    exports: { typist: Typist = SERVER },
}

const ZERO: u32 = 0;
const A0: u32 = 10;
const T2: u32 = 7;
const T4: u32 = 29;
const T5: u32 = 30;
const T6: u32 = 31;
const ALL_ONES: u32 = 0xfff;

/// An instruction with an immediate of 12 bits.
const fn immediate(function: u32, to: u32, left: u32, immediate: u32) -> u32 {
    immediate << 20 | left << 15 | function << 12 | to << 7 | 0x13
}

/// An instruction of registers.
const fn register(function: u32, group: u32, to: u32, left: u32, right: u32) -> u32 {
    group << 25 | right << 20 | left << 15 | function << 12 | to << 7 | 0x33
}

/// A handle from 0 to 7 becomes a digit of 0x67452301, everything else 15.
const HANDLE: [u32; 11] = [
    immediate(3, T4, T2, 8),         // t4 = handle < 8
    register(0, 0x20, T4, ZERO, T4), // all ones or nothing
    immediate(1, T5, T2, 2),         // bits of the digits before it
    0x67452 << 12 | T6 << 7 | 0x37,  // the table: lui, addi
    immediate(0, T6, T6, 0x301),
    register(5, 0, T2, T6, T5), // shifted
    register(7, 0, T2, T2, T4),
    immediate(7, T2, T2, 15),
    immediate(4, T4, T4, ALL_ONES), // turned round
    immediate(7, T4, T4, 15),
    register(6, 0, T2, T2, T4),
];
/// The value becomes its complement.
const BACK: [u32; 1] = [immediate(4, T2, T2, ALL_ONES)];

fn bytes<const COUNT: usize>(code: &[u32; COUNT]) -> [[u8; 4]; COUNT] {
    code.map(u32::to_le_bytes)
}

/// A handle from 0 to 7 becomes that word of the table.
const LOOK: [u32; 4] = [
    immediate(7, T4, T2, 7),
    immediate(1, T4, T4, 3),
    register(0, 0, T4, T6, T4),
    T4 << 15 | 3 << 12 | T2 << 7 | 0x03,
];

fn attempt(letter: u8, words: u64, call: &[u32; 1], back: &[u32; 1]) -> Result<(), ParameterError> {
    let (call, back) = (bytes(call), bytes(back));
    imports::TYPES.register_parameter(
        letter.into(),
        words,
        call.as_flattened(),
        back.as_flattened(),
    )
}

impl Typist for Server {
    fn register(&self) -> Result<(), Error> {
        let (call, back) = (bytes(&HANDLE), bytes(&BACK));
        imports::TYPES
            .register_parameter(b'H'.into(), 1, call.as_flattened(), back.as_flattened())
            .map_err(|_| Error::Unknown)
    }

    fn keep(&self, words: u64) -> Result<(), Error> {
        let look = bytes(&LOOK);
        let types = imports::TYPES;
        types.keep_data(b'D'.into(), words).map_err(|_| Error::Exhausted)?;
        types.register_parameter(b'D'.into(), 1, look.as_flattened(), &[]).map_err(|error| {
            match error {
                ParameterError::Bounds => Error::NotAllowed,
                _ => Error::Unknown,
            }
        })
    }

    fn set(&self, place: u64, word: u64) -> Result<(), Error> {
        imports::TYPES.set_data(b'D'.into(), place, word)
    }

    fn refusals(&self) -> Result<u64, Error> {
        use ParameterError::*;
        let plain = immediate(0, T2, T2, 1);
        let cases = [
            (b'i', 1, plain, plain, BadLetter),
            (b'H', 2, plain, plain, Taken),
            (b'K', 3, plain, plain, BadWords),
            (b'K', 1, 0x0000_006f, plain, Jump),
            (b'K', 1, plain, 0x0000_0073, System),
            (b'K', 1, 0x0003_b383, plain, Memory),
            (b'K', 1, plain, 0, BadInstruction),
            (b'K', 1, immediate(0, A0, T2, 0), plain, WrongRegister),
            (b'K', 1, plain, immediate(0, T2, A0, 0), Unset),
        ];
        for (number, (letter, words, call, back, expected)) in (1..).zip(cases) {
            if attempt(letter, words, &[call], &[back]) != Err(expected) {
                return Ok(number);
            }
        }
        let long = [[0x93, 0x83, 0x03, 0]; 17];
        for length in [3, 66, 68] {
            let code = &long.as_flattened()[..length];
            if imports::TYPES.register_parameter(b'K'.into(), 1, code, &[]) != Err(BadLength) {
                return Ok(100 + length as u64);
            }
        }
        Ok(0)
    }
}
