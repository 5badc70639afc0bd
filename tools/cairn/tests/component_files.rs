//! A component's file is another's work: broken in any way, it is an error or a component, never a panic of the tool.
#![forbid(unsafe_code)]

use cairn_abi::arch::call::{CALL, CALLS, STUB_SIZE, STUBS};
use cairn_emulator::csr::STATUS_SUM;
use cairn_emulator::register::*;
use cairn_emulator::{Machine, Privilege, Step, Stop};
use cairn_image::Component;
use cairn_loader::{Call, Form, Rights};
use cairn_random::Random;
use cairn_tool::cargo::{self, Kind};
use object::{Object, ObjectSection};
use std::collections::BTreeSet;

/// Words that counts, sizes and addresses go wrong at.
const WORDS: [u64; 10] = [
    0,
    1,
    7,
    0xff,
    0xffff,
    0x1_0000,
    0x2ff_fff8,
    0x7fff_ffff_ffff_fff8,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Registers that the copy routine may change: `t0` to `t2`, `a0`, `a1`, `a3`, `t3`, `t4`.
const COPY_CHANGES: [u8; 8] = [5, 6, 7, 10, 11, 13, 28, 29];

#[test]
fn broken_component_files_never_panic() {
    let package = "cairn-greeter";
    let files = cargo::build_own(Kind::Component, &[package]).unwrap();
    break_and_read(std::fs::read(&files[package]).unwrap());
    // One with thread-local variables that have first values.
    let (file, _) = cairn_tool::c_component::build("tests/c_library/tour").unwrap();
    break_and_read(std::fs::read(file).unwrap());
}

fn break_and_read(original: Vec<u8>) {
    let good = Component::read(original.clone()).expect("a component");
    let image = 0x4_0401_0000;
    let fill = |component: &Component| {
        for segment in &component.segments {
            let mut memory = vec![0xff; segment.size as usize];
            component.fill(segment, image, &mut memory);
            let link = |_: &Call| Form::Link { word: image - 8, first: None };
            component.relink(segment, image, &mut memory, link).unwrap();
            component.count_by_cycles(segment, &mut memory);
            for part in component.memory(segment) {
                memory[part.start as usize..part.end as usize].fill(0);
            }
        }
    };
    fill(&good);

    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let headers = original.len() - 64 * 40..original.len();
    let (mut refused, mut taken) = (0, 0);
    for round in 0..3000 {
        let mut file = original.clone();
        for _ in 0..=random.index(3) {
            // The headers of sections stand at the end; what is interesting of the rest is anywhere.
            let at = match round % 3 {
                0 => random.index(64),
                1 => headers.start + random.index(headers.len() - 8),
                _ => random.index(file.len() - 8),
            };
            match random.index(3) {
                0 => file[at] = random.index(256) as u8,
                1 => {
                    let word = WORDS[random.index(WORDS.len())].to_le_bytes();
                    let size = 1 << random.index(4);
                    file[at..at + size].copy_from_slice(&word[..size]);
                }
                _ => file[at] ^= 1 << random.index(8),
            }
        }
        if random.index(20) == 0 {
            file.truncate(random.index(file.len()));
        }
        match Component::read(file) {
            Ok(component) => {
                taken += 1;
                assert!(component.image_end() < 1 << 26);
                fill(&component);
            }
            Err(message) => {
                refused += 1;
                assert!(!message.chars().any(|c| c.is_control() && c != '\n'), "{message:?}");
            }
        }
    }
    assert!(refused > 300 && taken > 300, "{refused} refused, {taken} taken");
}

/// The copy routine, in Rust's components and in C's, copies any length between any addresses, each byte once, and nothing else.
#[test]
fn the_copy_routine_copies() {
    for folder in ["components/drivers/console", "examples/c-greeter"] {
        let component = cairn_tool::components::component(folder).unwrap();
        let copying = component.copying.clone().expect("a copy routine");
        let mut machine = Machine::new();
        let code =
            component.segments.iter().find(|segment| segment.rights == Rights::Code).unwrap();
        let mut memory = vec![0; code.size as usize];
        component.fill(code, 0, &mut memory);
        machine.memory.add(code.offset, code.size);
        machine.memory.write(code.offset, &memory).unwrap();
        const FROM: u64 = 0x8000_0000;
        const TO: u64 = 0x8000_1000;
        const BACK: u64 = 0x8000_2000;
        machine.memory.add(FROM, 0x1000);
        machine.memory.add(TO, 0x1000);
        let source: Vec<u8> = (0..256).map(|byte| byte as u8 | 1).collect();
        machine.memory.write(FROM, &source).unwrap();
        for (from, to) in (0..64).map(|pair| (8 + pair % 8, 8 + pair / 8)) {
            for length in 0..=80 {
                machine.memory.write(TO, &[0; 256]).unwrap();
                machine.journal.clear();
                let kept: Vec<u8> = (0..32).filter(|x| !COPY_CHANGES.contains(x)).collect();
                for register in 1..32 {
                    machine.set(register, u64::from(register) * 0x1111);
                }
                for (register, value) in
                    [(RA, BACK), (A0, TO + to), (A1, FROM + from), (A2, length)]
                {
                    machine.set(register, value);
                }
                let before: Vec<u64> = kept.iter().map(|register| machine.get(*register)).collect();
                machine.program_counter = copying.code.start;
                assert_eq!(machine.run_until(BACK, 1000), Stop::Address, "{from} {to} {length}");
                assert_eq!(machine.get(A0), length);
                let after: Vec<u64> = kept.iter().map(|register| machine.get(*register)).collect();
                assert_eq!(after, before);
                let mut expected = [0; 256];
                let target = to as usize..(to + length) as usize;
                expected[target].copy_from_slice(&source[from as usize..(from + length) as usize]);
                assert_eq!(machine.memory.read(TO, 256).unwrap(), expected, "{from} {to} {length}");
                let written: u64 =
                    machine.journal.writes.iter().map(|write| write.size as u64).sum();
                assert_eq!(written, length, "each byte once");
            }
        }
        // Where it cannot reach its memory it is in the noted code; from the landing it goes back, with nothing.
        for (to, from) in [(TO, 0x9000_0000), (0x9000_0000, FROM)] {
            for length in [1, 4, 8, 80] {
                for (register, value) in [(RA, BACK), (A0, to), (A1, from), (A2, length)] {
                    machine.set(register, value);
                }
                // As in the kernel domain, where the first instruction leads behind the routine.
                machine.privilege = Privilege::Supervisor;
                machine.program_counter = copying.code.end;
                let mut at = 0;
                for _ in 0..100 {
                    at = machine.program_counter;
                    if let Step::Trapped(_) = machine.step() {
                        break;
                    }
                }
                assert!(copying.code.contains(&at), "{at:#x}");
                machine.privilege = Privilege::Supervisor;
                machine.program_counter = copying.landing;
                assert_eq!(machine.run_until(BACK, 10), Stop::Address);
                assert_eq!(machine.get(A0), 0);
                assert_eq!(machine.csr.sstatus & STATUS_SUM, 0, "user memory is closed again");
            }
        }
    }
}

/// The call instructions of a component, noted or not.
fn calls(component: &Component) -> BTreeSet<u64> {
    component.calls.iter().map(Call::instruction).chain(component.foreign_calls()).collect()
}

/// Whatever a file notes of its calls, it is refused, or no call that it has is missed.
#[test]
fn notes_of_calls_hide_no_call() {
    let package = "cairn-clock";
    let files = cargo::build_own(Kind::Component, &[package]).unwrap();
    let original = std::fs::read(&files[package]).unwrap();
    let elf = object::File::parse(&*original).unwrap();
    let section = |name| elf.section_by_name(name)?.file_range();
    let notes = [STUBS, CALLS].into_iter().filter_map(section);
    let notes: Vec<usize> =
        notes.flat_map(|(at, size)| (at as usize..(at + size) as usize).step_by(8)).collect();
    let good = Component::read(original.clone()).unwrap();
    let all = calls(&good);

    let mut random = Random::new(0x5851_f42d_4c95_7f2d);
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..3000 {
        let mut file = original.clone();
        for _ in 0..=random.index(3) {
            let call = good.calls[random.index(good.calls.len())].offset;
            let segment = &good.segments[random.index(good.segments.len())].range();
            let note = match random.index(12) {
                0 => WORDS[random.index(WORDS.len())],
                1 => call,
                2 => call.wrapping_add(random.index(40) as u64).wrapping_sub(20),
                3 => segment.start + random.index((segment.end - segment.start) as usize) as u64,
                4 => segment.end.wrapping_sub(random.index(16) as u64),
                5 => call | 1 << random.index(64),
                _ => 0,
            };
            let at = notes[random.index(notes.len())];
            file[at..at + 8].copy_from_slice(&note.to_le_bytes());
        }
        match Component::read(file) {
            Ok(component) => {
                taken += 1;
                assert!(calls(&component).is_superset(&all));
            }
            Err(message) => {
                refused += 1;
                let is_clear =
                    message.contains("no call in the form") || message.contains("overlap");
                assert!(is_clear, "{message:?}");
            }
        }
    }
    assert!(refused > 300 && taken > 100, "{refused} refused, {taken} taken");

    // One behind a stub, in the 16 bytes that are that one's alone.
    let text = elf.section_by_name(".text").unwrap();
    for stub in good.calls.iter().filter(|call| call.is_stub) {
        let mut file = original.clone();
        let hidden = stub.offset + STUB_SIZE - 4;
        let at = (text.file_range().unwrap().0 + hidden - text.address()) as usize;
        file[at..at + 4].copy_from_slice(&CALL.to_le_bytes());
        assert!(Component::read(file).unwrap().foreign_calls().contains(&hidden), "{hidden:#x}");
    }
}
