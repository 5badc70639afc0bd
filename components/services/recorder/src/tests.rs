//! What was recorded comes back line by line, and nothing else does.

use crate::call::{Call, Shape};
use crate::lines::{self, LINE};
use crate::read::{Mistake, Reader};
use crate::store::Store;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

type Little = Store<8, 1024>;

/// Keeps a call with this in its buffers.
fn keep(
    store: &Little,
    name: &str,
    arguments: [u64; 8],
    answer: (i64, [u64; 4]),
    memory: &[&[u8]],
) {
    let shape = Shape::of_name(name).unwrap();
    let (status, words) = answer;
    let mut call = Call { arguments, status, words, ..Call::default() };
    for (place, memory) in memory.iter().enumerate() {
        let bytes = store.reserve(shape.length(&call, place));
        store.write(bytes, 0, &memory[..(bytes.count as usize).min(memory.len())]);
        call.buffers[place] = bytes;
    }
    assert!(store.keep(name, &call));
}

fn written(store: &Little) -> Vec<String> {
    let mut all = Vec::from([String::from("new")]);
    for number in store.numbers() {
        let mut name = [0; crate::call::NAME];
        let (name, call) = store.get(number, &mut name).unwrap();
        let shape = Shape::of_name(name).unwrap();
        let parts = (0..).map_while(|line| lines::part(store, (name, &shape, &call), line));
        all.extend(parts.map(|part| part.to_string()));
    }
    all.push(format!("end {}", store.count()));
    assert!(all.iter().all(|line| line.len() <= LINE), "{all:#?}");
    all
}

fn read<'line>(lines: impl IntoIterator<Item = &'line str>) -> (Little, Reader, Option<Mistake>) {
    let (store, mut reader) = (Little::empty(), Reader::begin());
    let mistake = lines.into_iter().find_map(|line| reader.take(line, &store).err());
    (store, reader, mistake)
}

/// Some of all kinds.
fn some() -> Little {
    let store = Little::empty();
    let long = [7; 150];
    let answered = |value| (0, [value, 0, 0, 0]);
    keep(&store, "greeter.echo add cii", [0, 2, u64::MAX, 0, 0, 0, 0, 0], (-5, [0; 4]), &[]);
    keep(&store, "greeter.echo say cr", [0, 0, 5, 0, 0, 0, 0, 0], answered(0), &[b"hello"]);
    keep(&store, "greeter.echo fill cw", [0, 0, 200, 0, 0, 0, 0, 0], answered(150), &[&long]);
    keep(
        &store,
        "a.b c crwi2",
        [0, 0, 3, 0, 9, 4, 0, 0],
        (0, [3, 1 << 40, 0, 0]),
        &[b"abc", b"xyz"],
    );
    // What there is no room for.
    keep(&store, "disk.blocks read cir", [0, 1, 0, 5000, 0, 0, 0, 0], answered(0), &[&[1; 4096]]);
    keep(&store, "a.b d c", [0; 8], (9, [0; 4]), &[]);
    store
}

#[test]
fn what_is_written_is_read_again() {
    let lines = written(&some());
    assert_eq!(
        lines[..4],
        ["new", "call greeter.echo add cii", "with 2,0xffffffffffffffff", "gave -5"]
    );
    assert_eq!(lines[5..8], ["with 5", "data 68656c6c6f", "gave 0,0"]);
    assert!(lines.contains(&String::from("missing 904")));
    let (store, reader, mistake) = read(lines.iter().map(String::as_str));
    assert_eq!((mistake, reader.is_complete()), (None, true));
    assert_eq!(written(&store), lines);
}

#[test]
fn each_call_is_replayed_once_in_order() {
    let store = Little::empty();
    for value in 1..4 {
        keep(&store, "a.b c ci", [0, value % 2, 0, 0, 0, 0, 0, 0], (0, [value, 0, 0, 0]), &[]);
    }
    let take = |argument, name| {
        store.take(name, |call| call.arguments[1] == argument).map(|call| call.words[0])
    };
    assert_eq!([1, 1, 1].map(|argument| take(argument, "a.b c ci")), [Some(1), Some(3), None]);
    assert_eq!(take(0, "a.b d ci"), None);
    assert_eq!((take(0, "a.b c ci"), store.used(), store.count()), (Some(2), 3, 3));
}

#[test]
fn there_is_an_end_to_it() {
    let store = Little::empty();
    for _ in 0..8 {
        keep(&store, "a.b c c", [0; 8], (0, [0; 4]), &[]);
    }
    assert!(!store.keep("a.b c c", &Call::default()));
    assert_eq!((store.count(), store.lost()), (8, 1));
    assert_eq!(
        [4096, u64::MAX, 1, 4096].map(|length| store.reserve(length).count),
        [4096, 4096, 0, 0]
    );
    store.clear();
    assert_eq!((store.count(), store.lost(), store.reserve(9).count), (0, 0, 9));
}

#[test]
fn a_file_that_is_cut_anywhere_is_not_complete() {
    let text = written(&some()).join("\n");
    // Not each place of the long buffer.
    for length in (0..text.len())
        .filter(|length| *length < 1000 || *length > text.len() - 100 || length % 13 == 0)
    {
        let (_, reader, _) = read(text[..length].split('\n'));
        assert!(!reader.is_complete(), "{length}");
    }
}

/// Whatever was changed: it is refused, or it is a recording, which is written as it was read.
#[test]
fn lies_are_refused_or_harmless() {
    let text = written(&some()).join("\n");
    let mut refused = 0;
    for place in (0..text.len()).step_by(7) {
        for byte in *b"0f9,x -\n" {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = byte;
            let lines = String::from_utf8(bytes).unwrap();
            let (store, reader, mistake) = read(lines.split('\n'));
            refused += u64::from(mistake.is_some());
            if reader.is_complete() && mistake.is_none() {
                let lines = written(&store);
                assert!(read(lines.iter().map(String::as_str)).1.is_complete());
            }
        }
    }
    assert!(refused > 500, "{refused}");
    // Each line left out, said twice, and in place of the next.
    let lines = written(&some());
    for place in 0..lines.len() {
        let one = [&lines[..place], &lines[place + 1..]].concat();
        assert!(!read(one.iter().map(String::as_str)).1.is_complete() || place == 0, "{place}");
        let two = [&lines[..=place], &lines[place..]].concat();
        let (_, reader, mistake) = read(two.iter().map(String::as_str));
        assert!(place == 0 || !reader.is_complete() || mistake.is_some(), "{place}");
    }
}

#[test]
fn mistakes() {
    let of = |lines: &str| read(lines.split('|')).2;
    for (lines, mistake) in [
        ("", Mistake::Unexpected),
        ("call a.b c c", Mistake::Unexpected),
        ("new|new 1", Mistake::Unexpected),
        ("new|end 1", Mistake::Count),
        ("new|end 0|end 0", Mistake::Unexpected),
        ("new|end", Mistake::Malformed),
        ("new|end -0", Mistake::Malformed),
        ("new|end +0", Mistake::Malformed),
        ("new|call a.b c", Mistake::Malformed),
        ("new|call a.b  c", Mistake::Malformed),
        ("new|call a.b c c d", Mistake::Malformed),
        ("new|call a.b c ciiiiiiii", Mistake::Malformed),
        ("new|call a.b c cH", Mistake::Malformed),
        ("new|call a.b c crrrr", Mistake::Malformed),
        ("new|call a.b c c|gave 0,0", Mistake::Unexpected),
        ("new|call a.b c ci|with", Mistake::Malformed),
        ("new|call a.b c ci|with 1,2", Mistake::Malformed),
        ("new|call a.b c ci|with 18446744073709551616", Mistake::Malformed),
        ("new|call a.b c ci|with 1|data 00", Mistake::Length),
        ("new|call a.b c cr|with 1|gave 0,0", Mistake::Length),
        ("new|call a.b c cr|with 1|data 0", Mistake::Malformed),
        ("new|call a.b c cr|with 1|data", Mistake::Malformed),
        ("new|call a.b c cr|with 1|data 0x", Mistake::Malformed),
        ("new|call a.b c cr|with 1|data 0000", Mistake::Length),
        ("new|call a.b c cr|with 1|missing 2", Mistake::Length),
        ("new|call a.b c cr|with 1|missing 0", Mistake::Length),
        ("new|call a.b c cr|with 9|data 00|data 00", Mistake::Length),
        ("new|call a.b c cr|with 5000|missing 18446744073709551615", Mistake::Length),
        ("new|call a.b c c|with|gave 0", Mistake::Malformed),
        ("new|call a.b c c|with|gave 1,0", Mistake::Malformed),
        ("new|call a.b c cw|with 1|gave 0,1|end 1", Mistake::Unexpected),
        ("new|call a.b c cw|with 1|gave 0,1|data 00|data 00", Mistake::Unexpected),
    ] {
        assert_eq!(of(lines), Some(mistake), "{lines}");
    }
    for lines in [
        "new|end 0",
        "new|call a.b c c|with|gave 0,7|end 1",
        "new|call a.b c cw|with 9|gave 0,1|data 00|end 1",
        "new|call a.b c cw|with 9|gave -1|end 1",
        "new|call a.b c cw|with 9000|gave 0,9000|missing 9000|end 1",
        "new|call a.b c cr|with 1|new|end 0",
    ] {
        let (_, reader, mistake) = read(lines.split('|'));
        assert_eq!((mistake, reader.is_complete()), (None, true), "{lines}");
    }
    let long = format!("new|call a.b {} c", "x".repeat(200));
    assert_eq!(of(&long), Some(Mistake::Malformed));
    let many = "|call a.b c c|with|gave 0,0".repeat(9);
    assert_eq!(of(&format!("new{many}")), Some(Mistake::Full));
    let large = "|call a.b c cr|with 4096|missing 4096|gave 0,0".repeat(3);
    assert_eq!(of(&format!("new{large}")), Some(Mistake::Full));
}
