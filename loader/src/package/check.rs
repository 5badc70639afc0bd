//! The rules of a package.

use super::fault::{Expected, Fault, Part};
use super::{Head, entries};
use cairn_abi::address::{
    ACTIVATION_STACK_MAXIMUM, ACTIVATION_STRIDE, DEVICES_OFFSET, IMAGE_OFFSET, LOG_MAXIMUM,
    PAGE_SIZE, REGION_SIZE,
};
use cairn_abi::descriptor::{
    ARGUMENTS_MAXIMUM, EXPORTS_MAXIMUM, IMPORTS_MAXIMUM, LETTERS_SIZE, METHODS_MAXIMUM, NAME_SIZE,
    Name, VALUE_WORDS,
};
use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTALS_ADDED, PORTALS_DESCRIBED, PORTALS_MAXIMUM};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::log::LEVELS;
use cairn_abi::memory::SECTIONS_MAXIMUM;
use cairn_abi::package as format;
use cairn_abi::record::*;
use cairn_abi::semaphore::{LOCKS_MAXIMUM, SEMAPHORES_MAXIMUM};
use cairn_abi::signature;
use cairn_abi::startup::ARGUMENT_SIZE;
use cairn_abi::thread::THREADS_MAXIMUM;
use core::ops::RangeInclusive;

type Checked = Result<(), Fault>;

fn within(part: Part, what: &'static str, found: u64, range: RangeInclusive<u64>) -> Checked {
    let expected = Expected::Within(*range.start(), *range.end());
    if range.contains(&found) { Ok(()) } else { Err(Fault::number(part, what, found, expected)) }
}

fn exactly(part: Part, what: &'static str, found: u64, one: u64) -> Checked {
    let fault = Fault::number(part, what, found, Expected::Exactly(one));
    if found == one { Ok(()) } else { Err(fault) }
}

fn whole_pages(part: Part, what: &'static str, found: u64) -> Checked {
    let fault = Fault::number(part, what, found, Expected::MultipleOf(PAGE_SIZE));
    if found.is_multiple_of(PAGE_SIZE) { Ok(()) } else { Err(fault) }
}

/// Zero, or in the range.
fn none_or(part: Part, what: &'static str, found: u64, range: RangeInclusive<u64>) -> Checked {
    if found == 0 { Ok(()) } else { within(part, what, found, range) }
}

fn expect(is_good: bool, part: Part, expected: &'static str) -> Checked {
    if is_good { Ok(()) } else { Err(Fault::expected(part, expected)) }
}

/// Names are shown everywhere, and kept with a zero behind.
fn is_name(name: &[u8]) -> bool {
    (1..NAME_SIZE).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic)
}

fn is_padded(bytes: &[u8], is_good: fn(&[u8]) -> bool) -> bool {
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    is_good(&bytes[..length]) && bytes[length..].iter().all(|byte| *byte == 0)
}

fn name(part: Part, name: &Name) -> Checked {
    const EXPECTED: &str =
        "a name of 1 to 31 printable characters of ASCII without spaces, and zeros behind it";
    expect(is_padded(name, is_name), part, EXPECTED)
}

fn are_letters(letters: &[u8]) -> bool {
    (1..=LETTERS_SIZE).contains(&letters.len()) && letters.iter().all(u8::is_ascii_graphic)
}

const LETTERS: &str = "1 to 12 printable characters for the parameters of each method";

/// There is not even a head.
pub(super) fn too_short(bytes: &[u8]) -> Fault {
    let least = size_of::<format::Head>() as u64;
    Fault::number(Part::Head, "its size", bytes.len() as u64, Expected::AtLeast(least))
}

/// The bytes of each table of the head, which are there.
pub(super) fn table_sizes(head: &format::Head, found: usize) -> Result<[usize; 6], Fault> {
    expect(head.magic == format::MAGIC, Part::Head, "the mark CAIRNPKG at its beginning")?;
    let version = u64::from(cairn_abi::VERSION);
    exactly(Part::Head, "its version of the binary interface", head.abi_version.into(), version)?;
    let counts = &head.counts;
    let most =
        |count: u32, what, most: usize| within(Part::Head, what, count.into(), 0..=most as u64);
    most(counts.segments, "the number of segments", format::SEGMENTS_MAXIMUM)?;
    most(counts.imports, "the number of imports", IMPORTS_MAXIMUM)?;
    most(counts.exports, "the number of exports", EXPORTS_MAXIMUM)?;
    most(counts.methods, "the number of methods", EXPORTS_MAXIMUM * METHODS_MAXIMUM)?;
    most(counts.values, "the number of arguments", ARGUMENTS_MAXIMUM)?;
    most(counts.texts, "the size of its texts", format::HEAD_MAXIMUM)?;
    let sizes = [
        counts.segments as usize * size_of::<format::Segment>(),
        counts.imports as usize * size_of::<format::Import>(),
        counts.exports as usize * size_of::<format::Export>(),
        counts.methods as usize * size_of::<format::Method>(),
        counts.values as usize * 8,
        counts.texts as usize,
    ];
    let size = size_of::<format::Head>() + sizes.iter().sum::<usize>();
    exactly(Part::Head, "the size of its head", head.head_size.into(), size as u64)?;
    most(head.head_size, "the size of its head", format::HEAD_MAXIMUM)?;
    let there = Expected::AtLeast(size as u64);
    match size <= found {
        true => Ok(sizes),
        false => Err(Fault::number(Part::Head, "its size", found as u64, there)),
    }
}

/// The whole, of which the head says how large it is.
pub(super) fn size(head: &Head, found: u64) -> Checked {
    exactly(Part::Head, "its size", found, head.numbers.size)
}

/// What a head says, whose tables are there.
pub(super) fn check(head: &Head) -> Checked {
    numbers(&head.numbers)?;
    segments(head)?;
    entry_points(head)?;
    imports(head)?;
    exports(head)?;
    paged(head)?;
    argument(head)
}

fn numbers(head: &format::Head) -> Checked {
    /// As many as a region holds beside that of the first thread.
    const STACKS_MAXIMUM: u64 = (DEVICES_OFFSET - IMAGE_OFFSET) / ACTIVATION_STRIDE - 1;
    name(Part::Head, &head.name)?;
    name(Part::Head, &head.component)?;
    let stacks = PAGE_SIZE..=ACTIVATION_STACK_MAXIMUM;
    for (what, found, range) in [
        ("its quota of memory", head.memory, PAGE_SIZE..=REGION_SIZE),
        ("its heap", head.heap, 0..=REGION_SIZE),
        ("its log", head.log_size, 0..=LOG_MAXIMUM),
        ("its stack", head.stack, stacks.clone()),
        ("its stack for calls", head.call_stack, stacks),
        (
            "the size of its image",
            head.image_size.into(),
            PAGE_SIZE..=DEVICES_OFFSET - IMAGE_OFFSET,
        ),
    ] {
        within(Part::Head, what, found, range)?;
        whole_pages(Part::Head, what, found)?;
    }
    for (what, found, most) in [
        ("the number of its stacks for calls", head.activations, STACKS_MAXIMUM),
        ("the number of its threads", head.threads, THREADS_MAXIMUM as u64),
        ("the number of its semaphores", head.semaphores, SEMAPHORES_MAXIMUM as u64),
        ("the number of its locks", head.locks, LOCKS_MAXIMUM as u64),
        ("the number of its portals", head.portals, PORTALS_ADDED as u64),
        ("the number of its names", head.names, NAMES_MAXIMUM as u64),
        ("the number of its sections", head.sections, SECTIONS_MAXIMUM as u64),
        ("the number of its children", head.children, INSTANCES_MAXIMUM as u64 - 1),
        ("its restart policy", head.restart.into(), RESTART_ON_FAULT.into()),
        ("whether it starts on demand", head.on_demand.into(), 1),
        ("whether it says when it serves", head.says_ready.into(), 1),
        ("whether callers wait until it serves", head.callers_wait.into(), 1),
        ("its floating point", head.float.into(), FLOAT_START.into()),
        (
            "the number of portals before its own",
            head.portals_before.into(),
            PORTALS_DESCRIBED as u64,
        ),
        ("its level of logging", head.log_level.into(), LEVELS.len() as u64 - 1),
    ] {
        within(Part::Head, what, found.into(), 0..=most)?;
    }
    let per_client = 1..=STACKS_MAXIMUM;
    within(Part::Head, "the number of stacks of a client", head.per_client.into(), per_client)?;
    none_or(Part::Head, "after how long it is ended", head.idle_stop, IDLE_STOP)?;
    let has_thread = head.main == format::NONE || head.threads > 0;
    expect(has_thread, Part::Head, "a thread, since it has a main function")
}

/// Segments are in the image, do not overlap, and have their content.
fn segments(head: &Head) -> Checked {
    let image_size = u64::from(head.numbers.image_size);
    let mut end = 0;
    for (number, segment) in entries::<format::Segment>(head.segments).enumerate() {
        let part = Part::Segment(number);
        let (offset, size) = (u64::from(segment.offset), u64::from(segment.size));
        within(
            part,
            "its content",
            segment.content.into(),
            CONTENT_TEXT.into()..=CONTENT_DATA.into(),
        )?;
        exactly(part, "what is reserved", segment.reserved.into(), 0)?;
        within(part, "its offset", offset, end..=image_size)?;
        whole_pages(part, "its offset", offset)?;
        within(part, "its size", size, PAGE_SIZE..=image_size - offset)?;
        whole_pages(part, "its size", size)?;
        within(part, "the size of its content", segment.file_size.into(), 0..=size)?;
        end = offset + size;
    }
    let size = head.relocation_bytes().end.next_multiple_of(PAGE_SIZE);
    exactly(Part::Head, "its size", head.numbers.size, size)?;
    within(
        Part::Head,
        "the number of relocations",
        head.numbers.counts.relocations.into(),
        0..=image_size / 8,
    )
}

fn entry_points(head: &Head) -> Checked {
    let numbers = &head.numbers;
    let main = numbers.main == format::NONE || head.has_code(numbers.main);
    expect(main, Part::Head, "its main function in its machine code")?;
    expect(head.has_code(numbers.stub), Part::Head, "its return stub in its machine code")
}

fn imports(head: &Head) -> Checked {
    let mut portal = PORTAL_FIRST_IMPORT + usize::from(head.numbers.portals_before);
    for (number, import) in entries::<format::Import>(head.imports).enumerate() {
        let part = Part::Import(number);
        name(part, &import.name)?;
        let mut before = entries::<format::Import>(head.imports).take(number);
        let is_new = before.all(|other| other.name != import.name);
        expect(is_new, part, "a name that no import before it has")?;
        within(part, "whether it may be left out", import.optional.into(), 0..=1)?;
        within(part, "whether it may be minimal", import.minimal.into(), 0..=1)?;
        exactly(part, "what is reserved", import.reserved.into(), 0)?;
        let text = head.try_bytes_of(import.signature).unwrap_or_default();
        let interface = signature::split(text).filter(|(interface, _)| is_name(interface));
        let Some((_, letters)) = interface else {
            return Err(Fault::expected(part, "the name of its interface, and a space"));
        };
        portal += methods_of(part, letters)?;
        let server = head.try_bytes_of(import.server);
        let is_good = server.is_some_and(|server| match server {
            [] => import.optional == 1,
            server => is_server(server),
        });
        expect(
            is_good,
            part,
            "who serves it, as INSTANCE.EXPORT, or nobody if it may be left out",
        )?;
    }
    let last = portal.saturating_sub(1) as u64;
    within(Part::Head, "the last portal of its imports", last, 0..=PORTALS_MAXIMUM as u64 - 1)
}

/// How many methods have these letters.
fn methods_of(part: Part, letters: &[u8]) -> Result<usize, Fault> {
    let ends = letters.is_empty() || letters.ends_with(b" ");
    let words = || {
        letters
            .split(|byte| *byte == b' ')
            .take(letters.iter().filter(|byte| **byte == b' ').count())
    };
    expect(ends && words().all(are_letters), part, LETTERS)?;
    let count = words().count();
    within(part, "the number of its methods", count as u64, 0..=METHODS_MAXIMUM as u64)?;
    Ok(count)
}

fn is_server(server: &[u8]) -> bool {
    let mut words = server.split(|byte| *byte == b'.');
    let is_good = |word: Option<&[u8]>| word.is_some_and(is_name);
    is_good(words.next()) && is_good(words.next()) && words.next().is_none()
}

fn is_policy(policy: &[u8]) -> bool {
    policy.len() <= format::POLICY_MAXIMUM
        && (policy.is_empty() || policy.split(|byte| *byte == b' ').all(is_name))
}

fn exports(head: &Head) -> Checked {
    let mut methods = 0;
    for (number, export) in entries::<format::Export>(head.exports).enumerate() {
        let part = Part::Export(number);
        name(part, &export.name)?;
        name(part, &export.interface)?;
        let mut before = entries::<format::Export>(head.exports).take(number);
        let is_new = before.all(|other| other.name != export.name);
        expect(is_new, part, "a name that no export before it has")?;
        within(part, "whether it is an object", export.is_object.into(), 0..=1)?;
        none_or(part, "its longest execution", export.longest_execution, LONGEST)?;
        none_or(part, "its longest call", export.longest_call, LONGEST)?;
        none_or(part, "how long it may keep a thread", export.cancelled_for, CANCELLED)?;
        let policy = head.try_bytes_of(export.policy).is_some_and(is_policy);
        expect(policy, part, "who may open it: `*`, or names with a space between each two")?;
        let count = u64::from(export.method_count);
        within(part, "the number of its methods", count, 0..=METHODS_MAXIMUM as u64)?;
        methods += count;
    }
    exactly(Part::Head, "the number of methods", head.numbers.counts.methods.into(), methods)?;
    for (number, method) in entries::<format::Method>(head.methods).enumerate() {
        let part = Part::Method(number);
        name(part, &method.name)?;
        expect(is_padded(&method.letters, are_letters), part, LETTERS)?;
        within(part, "its kind of value", method.value.into(), 0..=VALUE_WORDS.into())?;
        expect(
            head.has_code(method.entry),
            part,
            "its entry point in the component's machine code",
        )?;
        let is_shown = |text: &[u8]| text.iter().all(u8::is_ascii_graphic);
        let meanings = head.try_bytes_of(method.meanings).is_some_and(is_shown);
        expect(meanings, part, "what its words mean in printable characters of ASCII")?;
    }
    Ok(())
}

/// A range has a name, a size and a pager, or none of them.
fn paged(head: &Head) -> Checked {
    const EXPECTED: &str = "the pager of its range, as INSTANCE.EXPORT, and what it calls that";
    let numbers = &head.numbers;
    let pager = head.try_bytes_of(numbers.pager);
    if numbers.paged == 0 {
        let is_none = numbers.paged_name == [0; NAME_SIZE] && pager == Some(&[]);
        return expect(is_none, Part::Head, "no pager, since no range has one");
    }
    within(Part::Head, "its range that has a pager", numbers.paged, PAGE_SIZE..=REGION_SIZE)?;
    whole_pages(Part::Head, "its range that has a pager", numbers.paged)?;
    expect(pager.is_some_and(is_server), Part::Head, EXPECTED)?;
    name(Part::Head, &numbers.paged_name)
}

fn argument(head: &Head) -> Checked {
    let numbers = &head.numbers;
    let length = u64::from(numbers.argument.length);
    within(Part::Head, "the length of its argument", length, 0..=ARGUMENT_SIZE as u64)?;
    let own = numbers.argument_length.into();
    within(Part::Head, "the length of its argument string", own, 0..=length)?;
    let is_there = head.try_bytes_of(numbers.argument).is_some();
    expect(is_there, Part::Head, "its argument among its texts")
}

/// A relocation, with the first offset at which it can be.
pub(super) fn relocation(head: &Head, number: usize, offset: u64, from: u64) -> Checked {
    let part = Part::Relocation(number);
    within(part, "its offset", offset, from..=u64::from(head.numbers.image_size))?;
    let fault = Fault::number(part, "its offset", offset, Expected::MultipleOf(8));
    if !offset.is_multiple_of(8) {
        return Err(fault);
    }
    let has_word = |segment: super::Segment| {
        let content = segment.offset..segment.offset + segment.file_size;
        !segment.is_executable() && content.contains(&offset) && content.end - offset >= 8
    };
    expect(head.segments().any(has_word), part, "a word in the content of constants or data")
}
