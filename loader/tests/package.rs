//! Packages, as a hostile author writes them.

use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::name;
use cairn_abi::package::{self as format, Import, Method, NONE, Segment};
use cairn_abi::record::{CONTENT_CONSTANTS, CONTENT_DATA, CONTENT_TEXT, RESTART_ON_FAULT};
use cairn_loader::package::{Hasher, Head, Package, Writer, hash};
use cairn_random::Random;
use std::mem::offset_of;

const PAGE: u32 = PAGE_SIZE as u32;

fn segment(offset: u32, pages: u32, content: u16, bytes: &[u8]) -> (Segment, Vec<u8>) {
    let segment = Segment { offset, size: pages * PAGE, file_size: 0, content, reserved: 0 };
    (segment, bytes.to_vec())
}

/// All that a package can have.
fn writer() -> Writer {
    let mut writer = Writer::default();
    writer.segments = vec![
        segment(0, 2, CONTENT_TEXT, &[0x13; 5000]),
        segment(2 * PAGE, 1, CONTENT_CONSTANTS, &[7; 64]),
        segment(4 * PAGE, 3, CONTENT_DATA, &[0; 24]),
    ];
    writer.values = vec![1, 2, 3];
    writer.relocations = vec![2 * PAGE + 8, 2 * PAGE + 56, 4 * PAGE + 16];
    let (echo, shell) = (writer.text(b"Echo cii crw "), writer.text(b"greeter.echo"));
    let none = writer.text(b"");
    let empty = writer.text(b"Quiet ");
    let import = |called, signature, server, optional| Import {
        name: name(called),
        version: 77,
        signature,
        server,
        optional,
        minimal: 1,
        reserved: 0,
    };
    writer.imports = vec![
        import("echo", echo, shell, 0),
        import("quiet", empty, none, 1),
        import("other", echo, shell, 0),
    ];
    let method = |called, entry, meanings| Method {
        name: name(called),
        letters: *b"ci3\0\0\0\0\0\0\0\0\0",
        value: 5,
        entry,
        meanings,
    };
    let meanings = writer.text(b"1=Full,2:0=Red");
    writer.methods =
        vec![method("add", 16, meanings), method("take", 4998, none), method("get", 0, none)];
    let policy = writer.text(b"shell other");
    let export = |called, policy, method_count, is_object| format::Export {
        name: name(called),
        interface: name("Store"),
        version: 5,
        longest_execution: 1_000_000,
        longest_call: 0,
        cancelled_for: 0,
        policy,
        method_count,
        is_object,
    };
    writer.exports = vec![export("store", policy, 1, 0), export("item", none, 2, 1)];
    let argument = writer.text(b"loudtext");
    let pager = writer.text(b"zero.pager");
    writer.numbers = format::Head {
        name: name("valve"),
        component: name("valves"),
        memory: 256 << 10,
        heap: PAGE_SIZE,
        log_size: PAGE_SIZE,
        stack: 4 * PAGE_SIZE,
        call_stack: 2 * PAGE_SIZE,
        image_size: 7 * PAGE,
        main: 32,
        stub: 4,
        activations: 4,
        per_client: 1,
        threads: 2,
        children: 3,
        restart: RESTART_ON_FAULT as u8,
        priority: 100,
        recovery_priority: 100,
        argument_length: 4,
        argument,
        paged_name: name("work"),
        paged: 3 * PAGE_SIZE,
        pager,
        ..format::Head::default()
    };
    writer
}

fn finish(writer: Writer) -> Vec<u8> {
    writer.finish().unwrap()
}

fn fault_with(change: impl Fn(&mut Writer)) -> String {
    let mut writer = writer();
    change(&mut writer);
    Package::read(&finish(writer)).expect_err("a bad package").to_string()
}

/// Reads everything there is, and notices what is outside.
fn read_all(package: &Package<'_>, size: u64) {
    let head = package.head();
    let numbers = *head.numbers();
    let mut end = 0;
    let mut text = Vec::new();
    for segment in head.segments() {
        assert!(
            segment.offset >= end && segment.offset + segment.size <= numbers.image_size.into()
        );
        assert!(segment.file().end <= size && segment.file_size <= segment.size);
        assert_eq!(package.content(&segment).len() as u64, segment.file_size);
        assert!((segment.offset | segment.size | segment.file_offset).is_multiple_of(PAGE_SIZE));
        assert!(!segment.is_executable() || !segment.is_writable());
        end = segment.image().end;
        if segment.is_executable() {
            text.push(segment.image());
        }
    }
    let is_code = |offset: u64| text.iter().any(|text| text.contains(&offset));
    assert!(is_code(numbers.stub.into()));
    assert!(numbers.main == NONE || is_code(numbers.main.into()));
    let mut portal = 16 + usize::from(numbers.portals_before);
    for import in head.imports() {
        assert_eq!(import.first_portal, portal);
        assert!(!import.name().is_empty() && !import.interface().is_empty());
        assert!(import.server.is_some() || import.is_optional);
        assert!(import.methods().all(|letters| (1..=12).contains(&letters.len())));
        portal += import.methods().count();
    }
    let mut methods = 0;
    for export in head.exports() {
        assert!(!export.name().is_empty() && !export.interface().is_empty());
        for method in export.methods() {
            assert!(is_code(method.entry) && !method.name().is_empty());
            assert!(method.meanings.is_ascii());
            methods += 1;
        }
    }
    assert_eq!(methods, numbers.counts.methods as usize);
    assert_eq!(head.values().count(), numbers.counts.values as usize);
    assert_eq!(head.argument().len(), numbers.argument.length as usize);
    assert!(!head.name().is_empty() && !head.component().is_empty());
    let in_data = |offset: u64| {
        let segment = head.segments().find(|segment| segment.image().contains(&offset)).unwrap();
        !segment.is_executable() && offset + 8 <= segment.offset + segment.file_size
    };
    let mut last = None;
    for offset in package.relocations() {
        assert!(in_data(offset) && last < Some(offset));
        last = Some(offset);
    }
}

#[test]
fn what_is_written_is_read() {
    let bytes = finish(writer());
    assert_eq!(bytes, finish(writer()));
    let package = Package::read(&bytes).unwrap();
    read_all(&package, bytes.len() as u64);
    let head = package.head();
    assert_eq!((head.name(), head.component()), ("valve", "valves"));
    assert_eq!(head.pager(), Some(("zero", "pager")));
    assert!(package.is_whole());
    let segments: Vec<_> = head.segments().collect();
    let offsets: Vec<u64> = segments.iter().map(|segment| segment.offset).collect();
    assert_eq!(package.content(&segments[0]), [0x13; 5000]);
    assert_eq!(package.content(&segments[2]), [0; 24]);
    assert_eq!(offsets, [0, 0x2000, 0x4000]);
    let imports: Vec<_> = head.imports().collect();
    assert_eq!((imports[0].name(), imports[0].interface()), ("echo", "Echo"));
    assert_eq!(imports[0].methods().collect::<Vec<_>>(), ["cii", "crw"]);
    assert_eq!(imports[0].server, Some(("greeter", "echo")));
    assert_eq!((imports[1].methods().count(), imports[1].server), (0, None));
    assert_eq!((imports[1].first_portal, imports[2].first_portal), (18, 18));
    let exports: Vec<_> = head.exports().collect();
    let names =
        |at: usize| exports[at].methods().map(|it| it.name().to_owned()).collect::<Vec<_>>();
    assert_eq!((exports[0].policy, exports[1].policy), ("shell other", ""));
    assert_eq!((names(0), names(1)), (vec!["add".into()], vec!["take".into(), "get".into()]));
    assert_eq!(exports[0].methods().next().unwrap().meanings, "1=Full,2:0=Red");
    assert_eq!(
        (head.values().collect::<Vec<_>>(), head.argument()),
        (vec![1, 2, 3], &b"loudtext"[..])
    );
    assert_eq!(package.relocations().collect::<Vec<_>>(), [0x2008, 0x2038, 0x4010]);
}

#[test]
fn the_head_is_enough_for_itself() {
    let bytes = finish(writer());
    let size = Head::read(&bytes).unwrap().numbers().head_size as usize;
    let head = Head::read(&bytes[..size]).unwrap();
    let relocations = head.relocations([0x2008, 0x2010].into_iter());
    assert_eq!(relocations.collect::<Vec<_>>(), [Ok(0x2008), Ok(0x2010)]);
    for length in 0..size {
        assert!(Head::read(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn a_fault_says_where_it_is_and_what_was_expected() {
    type Case = (&'static str, fn(&mut Writer));
    let cases: &[Case] = &[
        ("the package: its quota of memory is 7, expected 4096 to 0x4000000", |it| {
            it.numbers.memory = 7
        }),
        ("the package: its heap is 100, expected a multiple of 4096", |it| it.numbers.heap = 100),
        ("the package: its restart policy is 3, expected 0 to 2", |it| it.numbers.restart = 3),
        ("the package: expected a thread, since it has a main function", |it| {
            it.numbers.threads = 0
        }),
        ("the package: expected its return stub in its machine code", |it| {
            it.numbers.stub = 2 * PAGE
        }),
        ("the package: expected its main function in its machine code", |it| {
            it.numbers.main = 2 * PAGE
        }),
        ("the package: its range that has a pager is 4097, expected a multiple of 4096", |it| {
            it.numbers.paged = PAGE_SIZE + 1
        }),
        (
            "the package: its range that has a pager is 0x4001000, expected 4096 to 0x4000000",
            |it| it.numbers.paged = (64 << 20) + PAGE_SIZE,
        ),
        ("the package: expected no pager, since no range has one", |it| it.numbers.paged = 0),
        ("the package: expected the pager of its range, as INSTANCE.EXPORT", |it| {
            it.numbers.pager.length = 4
        }),
        ("the package: expected a name of 1 to 31 printable characters", |it| {
            it.numbers.paged_name = [0; 32]
        }),
        ("segment 1: its offset is 4096, expected 8192 to 0x7000", |it| {
            it.segments[1].0.offset = PAGE
        }),
        ("segment 2: its size is 0x4000, expected 4096 to 0x3000", |it| {
            it.segments[2].0.size += PAGE
        }),
        ("segment 1: the size of its content is 5000, expected 0 to 4096", |it| {
            it.segments[1].1 = vec![0; 5000]
        }),
        ("segment 0: its content is 3, expected 0 to 2", |it| it.segments[0].0.content = 3),
        ("import 0: expected who serves it, as INSTANCE.EXPORT", |it| {
            it.imports[0].server = it.imports[1].server
        }),
        ("import 2: expected a name that no import before it has", |it| {
            it.imports[2].name = name("echo")
        }),
        ("import 1: expected the name of its interface, and a space", |it| {
            it.imports[1].signature.length = 5
        }),
        ("import 0: expected 1 to 12 printable characters", |it| {
            it.imports[0].signature.length -= 1
        }),
        ("export 0: expected who may open it", |it| it.exports[0].policy.length = 6),
        ("export 1: its longest call is 5, expected 1000 to 0xe8d4a51000", |it| {
            it.exports[1].longest_call = 5
        }),
        ("the package: the number of methods is 3, expected 4", |it| {
            it.exports[1].method_count = 3
        }),
        ("method 1: expected its entry point in the component's machine code", |it| {
            it.methods[1].entry = 2 * PAGE
        }),
        ("method 0: expected a name of 1 to 31 printable characters", |it| {
            it.methods[0].name = [b'x'; 32]
        }),
        ("method 2: expected 1 to 12 printable characters", |it| it.methods[2].letters = [0; 12]),
        ("relocation 1: its offset is 8200, expected 8208 to 0x7000", |it| {
            it.relocations[1] = 2 * PAGE + 8
        }),
        ("relocation 1: its offset is 8249, expected a multiple of 8", |it| {
            it.relocations[1] = 2 * PAGE + 57
        }),
        ("relocation 0: expected a word in the content of constants or data", |it| {
            it.relocations[0] = 8
        }),
        ("relocation 2: expected a word in the content of constants or data", |it| {
            it.relocations[2] = 4 * PAGE + 24
        }),
    ];
    for (expected, change) in cases {
        let found = fault_with(*change);
        assert!(found.starts_with(expected), "expected `{expected}`, found `{found}`");
    }
    let bytes = finish(writer());
    let changed = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x40;
        Package::read(&bytes).expect_err("a bad package").to_string()
    };
    assert_eq!(changed(0), "the package: expected the mark CAIRNPKG at its beginning");
    assert!(
        changed(offset_of!(format::Head, abi_version))
            .contains("its version of the binary interface is 6")
    );
    let found = Package::read(&bytes[..bytes.len() - 1]).unwrap_err().to_string();
    assert_eq!(
        found,
        format!("the package: its size is {:#x}, expected {:#x}", bytes.len() - 1, bytes.len())
    );
}

/// One of the ways in which a package is changed.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random, head: usize) {
    // Most of a package is content, where nothing is wrong whatever it is.
    let reach = if random.below(8) == 0 { bytes.len() } else { head };
    let at = random.index(reach);
    match random.below(6) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => {
            let words = [0, 1, u64::MAX, 1 << 31, 1 << 63, 0x1000, random.next()];
            let word = words[random.index(words.len())].to_le_bytes();
            let at = at.min(reach - 8) & !7;
            bytes[at..at + 8].copy_from_slice(&word);
        }
        3 => {
            let half = [0, 1, u32::MAX, 0x1000, 0x7000, random.below(0x8000) as u32];
            let half = half[random.index(half.len())].to_le_bytes();
            let at = at.min(reach - 4) & !3;
            bytes[at..at + 4].copy_from_slice(&half);
        }
        4 => {
            let (from, length) = (random.index(reach), 1 + random.index(64));
            let end = (from + length).min(bytes.len());
            let piece = bytes[from..end].to_vec();
            let to = at.min(bytes.len() - piece.len());
            bytes[to..to + piece.len()].copy_from_slice(&piece);
        }
        _ => bytes.resize(random.index(bytes.len() + 8192), 0),
    }
}

#[test]
fn a_mutated_package_is_refused_or_read_within_its_bounds() {
    let count = 100_000;
    let good = finish(writer());
    let head = Head::read(&good).unwrap().numbers().head_size as usize;
    let mut read = 0;
    for seed in 0..count {
        let mut random = Random::of_seed(seed);
        let mut bytes = good.clone();
        for _ in 0..=random.below(3) {
            let head = head.min(bytes.len());
            mutate(&mut bytes, &mut random, head);
            if bytes.len() < 8 {
                break;
            }
        }
        match Package::read(&bytes) {
            Ok(package) => {
                read_all(&package, bytes.len() as u64);
                read += 1;
            }
            Err(fault) => assert!(!fault.to_string().is_empty(), "{seed}"),
        }
    }
    // Both happen, or this shows nothing.
    assert!(read > count / 100 && read < count * 9 / 10, "{read} of {count} were read");
}

#[test]
fn a_head_has_a_limit() {
    let mut writer = writer();
    writer.text(&[b'x'; format::HEAD_MAXIMUM]);
    assert!(writer.finish().unwrap_err() > format::HEAD_MAXIMUM);
}

#[test]
fn a_hash_is_of_all_but_the_mark_itself_and_the_signature() {
    let bytes = finish(writer());
    for at in [offset_of!(format::Head, hash), format::HASHED, 1000, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let is_whole = Package::read(&changed).is_ok_and(|package| package.is_whole());
        assert!(!is_whole, "{at}");
    }
    for step in [1, 7, 40, 4096] {
        let mut hasher = Hasher::new();
        bytes.chunks(step).for_each(|piece| hasher.update(piece));
        assert_eq!(hasher.finish(), hash(&bytes));
    }
    // FIPS 180-2, appendix B.1.
    let abc = hash(&[&bytes[..format::HASHED], b"abc"].concat());
    assert_eq!((abc[0], abc[1], abc[30], abc[31]), (0xba, 0x78, 0x15, 0xad));
}
