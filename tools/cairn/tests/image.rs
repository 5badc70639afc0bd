//! What the layout leaves in memory.
#![forbid(unsafe_code)]

use cairn_abi::address::{DEVICES_OFFSET, LEAF_SPAN, PAGE_SIZE};
use cairn_abi::descriptor::name_text;
use cairn_abi::record::{Header, Instance};
use cairn_abi::semaphore::{CLOSED, SEMAPHORES_MAXIMUM, semaphore_word};
use cairn_tool::build::{Parts, build, lay_out_with, nucleus};
use zerocopy::FromBytes;

/// Portal code asks a semaphore's words before the scheduler. Zeroes would have P wait for one that nobody made.
#[test]
fn all_semaphores_are_closed() {
    let image = std::fs::read(build("demo", None).unwrap().file).unwrap();
    let closed = CLOSED.map(i64::to_le_bytes);
    let (mut at, mut runs) = (0, Vec::new());
    let pairs: Vec<&[u8]> = image.chunks(closed.as_flattened().len()).collect();
    for run in pairs.chunk_by(|left, right| left == right) {
        if run[0] == closed.as_flattened() {
            runs.push((run.len(), at % PAGE_SIZE));
        }
        at += run.concat().len() as u64;
    }
    // Another pair of such words is a constant in someone's code.
    let expected = (SEMAPHORES_MAXIMUM, semaphore_word(0) % PAGE_SIZE);
    assert_eq!(runs.iter().max(), Some(&expected), "{runs:x?}");
}

/// Nucleus and components are compiled with different flags, which cargo must not take for changed ones.
#[test]
fn what_has_not_changed_is_not_built_again() {
    let built = || {
        let files = build("hello", None).unwrap().symbols.into_iter().map(|symbols| symbols.file);
        let time = |file| std::fs::metadata(&file).unwrap().modified().unwrap();
        files.map(|file| (time(file.clone()), file)).collect::<Vec<_>>()
    };
    assert_eq!(built(), built());
}

#[test]
fn large_heaps_and_sections_take_an_entry_for_each_two_mebibytes() {
    build("tests/large-pages/large-pages-locked", None).expect("all translations fit into the TLB");
}

#[test]
fn who_is_locked_fits_into_the_tlb_or_there_is_no_image() {
    let error = build("tests/locked/translations", None).expect_err("it is refused");
    let error = format!("{error:?}");
    assert!(error.contains("the translations of `supervisor` do not fit into the TLB"), "{error}");
    assert!(!error.contains("`idle`"), "{error}");
}

/// A callee that reads the registers of its caller's device, which it takes for a buffer, may fault.
#[test]
fn windows_end_before_the_registers_of_devices() {
    let mut parts = Parts::new("hello", None).unwrap();
    let (nucleus, _) = nucleus().unwrap();
    let place = parts.system.instances.iter().position(|one| *one.name == "hello").unwrap();
    let placed = &lay_out_with(&parts, &nucleus).unwrap().report.instances[place];
    // All that its region has addresses for.
    let most = (placed.memory + placed.reachable) / PAGE_SIZE * PAGE_SIZE;
    parts.system.instances[place].memory.value = most;
    let image = lay_out_with(&parts, &nucleus).unwrap();
    let record = &image.bytes[(image.report.record - image.report.load_address) as usize..];
    let (header, _) = Header::read_from_prefix(record).unwrap();
    let from = header.instances.offset as usize + place * size_of::<Instance>();
    let (instance, _) = Instance::read_from_prefix(&record[from..]).unwrap();
    assert_eq!(name_text(&instance.name), "hello");
    let span = instance.entries_span;
    assert!((DEVICES_OFFSET - LEAF_SPAN..=DEVICES_OFFSET).contains(&span), "{span:#x}");
}
