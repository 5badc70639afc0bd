//! Windows copy every byte they should and no other, however the two sides are aligned.
#![forbid(unsafe_code)]

use cairn::__expansion::{Registers, read_window, write_window};
use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};

fn registers(bytes: &mut [u8]) -> Registers {
    Registers::new([
        bytes.as_mut_ptr().expose_provenance() as u64,
        bytes.len() as u64,
        0,
        0,
        0,
        0,
        0,
        0,
    ])
}

fn reading(bytes: &mut [u8]) -> ReadWindow<'_> {
    read_window(&mut registers(bytes))
}

fn writing(bytes: &mut [u8]) -> WriteWindow<'_> {
    write_window(&mut registers(bytes))
}

#[test]
fn reads_are_exact_at_every_alignment() {
    let mut memory: Vec<u8> = (0..64).collect();
    for begin in 0..10 {
        for length in 0..30 {
            for offset in 0..length + 2 {
                for to in 0..9 {
                    let mut buffer = [0xff; 48];
                    let expected: Vec<u8> = memory[begin..begin + length]
                        .iter()
                        .skip(offset)
                        .take(20)
                        .copied()
                        .collect();
                    let count = reading(&mut memory[begin..begin + length])
                        .read(offset, &mut buffer[to..to + 20])
                        .unwrap();
                    assert_eq!(count, expected.len());
                    assert_eq!(buffer[to..to + count], expected);
                    assert!(
                        buffer[..to].iter().chain(&buffer[to + count..]).all(|byte| *byte == 0xff)
                    );
                }
            }
        }
    }
}

#[test]
fn writes_are_exact_at_every_alignment() {
    let source: Vec<u8> = (1..60).collect();
    for begin in 0..10 {
        for length in 0..30 {
            for offset in 0..length + 2 {
                for from in 0..9 {
                    let mut memory = [0xff; 64];
                    let count = writing(&mut memory[begin..begin + length])
                        .write(offset, &source[from..from + 20])
                        .unwrap();
                    assert_eq!(count, length.saturating_sub(offset).min(20));
                    let written = begin + offset..begin + offset + count;
                    if count > 0 {
                        assert_eq!(memory[written.clone()], source[from..from + count]);
                    }
                    for (index, byte) in memory.iter().enumerate() {
                        assert!(written.contains(&index) || *byte == 0xff);
                    }
                }
            }
        }
    }
}

#[test]
fn offsets_behind_the_end_are_harmless() {
    let mut memory = [1; 8];
    assert_eq!(reading(&mut memory).read(usize::MAX, &mut [0; 8]), Ok(0));
    assert_eq!(writing(&mut memory).write(usize::MAX, &[2; 8]), Ok(0));
    assert_eq!(writing(&mut memory).write(9, &[2; 8]), Ok(0));
    assert_eq!(memory, [1; 8]);
}

#[test]
fn whole_copies_need_room_and_text_is_checked() {
    let mut memory = *b"gr\xc3\xbc\xc3\x9fe";
    let mut small = [0; 6];
    let mut enough = [0; 7];
    assert_eq!(reading(&mut memory).copy(&mut small), Err(Error::TooLarge));
    assert_eq!(reading(&mut memory).text(&mut enough), Ok("grüße"));
    assert_eq!(reading(&mut memory[..3]).text(&mut enough), Err(Error::Malformed));
    let mut pieces = Vec::new();
    reading(&mut memory)
        .pieces::<3>(|piece| {
            pieces.push(piece.to_vec());
            Ok(())
        })
        .unwrap();
    assert_eq!(pieces, [memory[..3].to_vec(), memory[3..6].to_vec(), memory[6..].to_vec()]);
    assert_eq!(reading(&mut memory).pieces::<3>(|_| Err(Error::Busy)), Err(Error::Busy));
}
