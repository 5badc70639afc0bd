//! Reads what sections begin with: all of the description's files is there, and nothing behind it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::section;
use cairn::section::Section;

cairn::component! {
    name: "contents-reader",
    imports: { console: cairn_interfaces::Console },
    main: main,
}

const TEXT: &[u8] = include_bytes!("../../../text.txt");
/// Names in the archive with their permissions, sizes and kinds.
const ENTRIES: [(&str, &str, u64, u8); 4] = [
    ("first", "644", 4, b'0'),
    ("folder", "755", 0, b'5'),
    ("folder/second.sh", "755", 9, b'0'),
    ("third", "777", 0, b'2'),
];
/// Bytes of a header of the archive, and a multiple of which a file takes.
const BLOCK: usize = 512;

fn main() {
    let section = |name| section(name).expect(name);
    holds_text(&section("text"), 4096);
    holds_entries(&section("root"));
    for name in ["kept-1", "kept-2"] {
        let kept = section(name);
        holds_text(&kept, 2100 << 10);
        // The other one has its own.
        kept.set_byte(0, b'?');
        kept.set_byte(kept.size() - 1, b'!');
    }
    print(format_args!("done"));
}

fn print(text: core::fmt::Arguments) {
    let _ = imports::CONSOLE.print(format_args!("reader: {text}\n"));
}

fn holds_text(section: &Section, size: usize) {
    assert_eq!(section.size(), size);
    let bytes = (0..section.size()).map(|at| section.byte(at));
    assert!(bytes.eq(TEXT.iter().copied().chain(core::iter::repeat_n(0, size - TEXT.len()))));
}

fn holds_entries(section: &Section) {
    let mut at = 0;
    for (name, mode, size, kind) in ENTRIES {
        let mut header = [0; BLOCK];
        section.read(at, &mut header);
        assert!(field(&header[..100]).eq(name), "{name}");
        assert!(field(&header[100..108]).trim_start_matches('0').eq(mode), "{name}");
        let found = u64::from_str_radix(field(&header[124..136]), 8).expect("octal digits");
        assert_eq!((found, header[156]), (size, kind), "{name}");
        assert_eq!(&header[257..262], b"ustar");
        print(format_args!("{name} {mode} has {size} bytes"));
        at += BLOCK + (size as usize).next_multiple_of(BLOCK);
    }
    assert!((at..section.size()).all(|at| section.byte(at) == 0), "nothing is behind it");
}

fn field(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    core::str::from_utf8(&bytes[..end]).expect("text").trim()
}
