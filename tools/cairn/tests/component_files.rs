//! A component's file is another's work: broken in any way, it is an error or a component, never a panic of the tool.
#![forbid(unsafe_code)]

use cairn_image::Component;
use cairn_random::Random;
use cairn_tool::cargo::{self, Kind};

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

#[test]
fn broken_component_files_never_panic() {
    let package = "cairn-greeter";
    let files = cargo::build_for_target(Kind::Component, &[package]).unwrap();
    let original = std::fs::read(&files[package]).unwrap();
    let good = Component::read(original.clone()).expect("a component");
    let image = 0x4_0401_0000;
    let fill = |component: &Component| {
        for segment in &component.segments {
            let mut memory = vec![0xff; segment.size as usize];
            component.fill(segment, image, &mut memory);
            component.count_by_cycles(segment, &mut memory);
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
