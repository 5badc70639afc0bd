//! Page faults of a range of addresses: a call of its pager by the instruction that faulted, whose reply the portal maps on
//! the way back.

use super::code::{Code, enter};
use super::frame::frame_values;
use super::pair::find_base;
use super::{Crossing, GenerateError, Generated};
use crate::literal::*;
use crate::plan::{PagerMemory, Place, Source};
use crate::specification::Specification;
use crate::stencil::{self, Label, Value};
use cairn_abi::thread::{FAULT_FRAME, FRAME_HEADER};

/// A range of addresses of a client, `crossing.caller`, that a pager, `crossing.callee`, provides with pages. What the crossing has as its
/// source is the pager's memory.
#[derive(Clone, Copy, Debug)]
pub struct PagedRange {
    /// Its first address.
    pub first: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// Kernel address of the page-table entry of its first page in the client; those of the next pages follow.
    pub entries: u64,
    /// Whether the client may write there.
    pub is_writable: bool,
    /// Where a fault goes on that is not in the range, or that the pager does not mend.
    pub elsewhere: u64,
}

/// The rights in a pager's reply that a client may have.
const WRITE: i64 = 2;

/// An interposer, `crossing.callee`, to whom the faults of a range go first.
#[derive(Clone, Copy, Debug)]
pub struct FaultBetween {
    /// The word with which it is entered.
    pub inner: u64,
    /// What a thread that waits for one of its stacks goes on with: that of the portal of the range that the layout made, which stays for good.
    pub again: u64,
    /// How that one's frame, and so this one's, moves the frame pointer.
    pub size: u16,
    /// Where a fault goes on that is not mended. (Behind `elsewhere` of the range the pager is asked.)
    pub unmended: u64,
}

/// Generates the portal of a range's faults, an entry of the client's domain, with its way back.
pub fn fault(
    range: &PagedRange,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let size = FAULT_FRAME + if crossing.stamps() { 16 } else { 0 };
    let Source::Memory { first, size: source_size } = crossing.source else {
        return Err(GenerateError::DoesNotFit);
    };
    values(&mut code, range, size);

    let call = fault_call(&mut code, crossing, None)?;
    let back = code.literals()?;
    enter(&mut code, crossing, &stencil::RETURN_ENTER)?;
    code.emit(&stencil::FAULT_MAP)?;
    code.emit(&stencil::FAULT_TRAP)?;
    let (abort, dead) = fault_end(&mut code, crossing, back, &stencil::FAULT_REFUSED)?;

    // A thread that waits for a stack is in no pager.
    let again = code.literals()?;
    code.emit(&stencil::FAULT_AGAIN)?;
    let again_dead = dead_entry(&mut code, again, false)?;
    code.resolve()?;

    let (client, pager) = (crossing.caller, crossing.callee);
    let at = |word: usize| address + word as u64 * 4;
    let frame = |callee| {
        CallFrame { size: size as u16, of_carrier: false, caller: client.domain, callee }.word()
    };
    fault_literals(&mut code, crossing, range, (call, at(back), at(again)));
    for (literal, word) in [
        (LITERAL_ELSE, range.elsewhere),
        (LITERAL_SOURCE, first),
        (LITERAL_SOURCE_SIZE, source_size),
        (LITERAL_SOURCE_ENTRY, crossing.source_entry),
        (LITERAL_FRAME, frame(pager.domain)),
    ] {
        code.literal(back, literal, word);
    }
    back_literals(&mut code, crossing, back, (at(abort), at(dead)));
    for (literal, word) in [
        (LITERAL_MARK, MARK_RETURN),
        (LITERAL_ABORT, at(again)),
        (LITERAL_RETURN, at(again_dead)),
        (LITERAL_FRAME, frame(client.domain)),
    ] {
        code.literal(again, literal, word);
    }
    for (entry, portal) in [(dead, back), (again_dead, again)] {
        code.literals_at(entry, &[at(portal), at(entry), MARK_DEAD]);
    }
    code.finish(call, back)
}

/// Generates the portal by which a range's faults go to an interposer first.
pub fn fault_between(
    range: &PagedRange,
    between: &FaultBetween,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let is_known = i64::from(between.size) >= FAULT_FRAME && !crossing.stamps();
    if !is_known || crossing.callee.place != Place::User {
        return Err(GenerateError::DoesNotFit);
    }
    values(&mut code, range, between.size.into());

    let call = fault_call(&mut code, crossing, Some(between))?;
    let back = code.literals()?;
    enter(&mut code, crossing, &stencil::RETURN_ENTER)?;
    code.emit(&stencil::FAULT_ANSWERED)?;
    code.emit(&stencil::FAULT_TRAP)?;
    let (abort, dead) = fault_end(&mut code, crossing, back, &stencil::FAULT_REFUSED_BETWEEN)?;

    let (client, interposer) = (crossing.caller, crossing.callee);
    let at = |word: usize| address + word as u64 * 4;
    let frame = CallFrame {
        size: between.size,
        of_carrier: false,
        caller: client.domain,
        callee: interposer.domain,
    };
    fault_literals(&mut code, crossing, range, (call, at(back), between.again));
    code.literal(call, LITERAL_INNER, between.inner);
    code.literal(back, LITERAL_ELSE, between.unmended);
    code.literal(back, LITERAL_FAULT, range.entries);
    code.literal(back, LITERAL_FRAME, frame.word());
    back_literals(&mut code, crossing, back, (at(abort), at(dead)));
    code.literals_at(dead, &[at(back), at(dead), MARK_DEAD]);
    code.finish(call, back)
}

fn values(code: &mut Code, range: &PagedRange, size: i64) {
    code.value(Value::FrameSize, size);
    code.value(Value::FrameSizeNegative, -size);
    code.value(Value::Stamp, FRAME_HEADER - size);
    code.value(Value::State, FRAME_HEADER - FAULT_FRAME);
    code.value(Value::Rights, rights(range.is_writable));
}

fn rights(is_writable: bool) -> i64 {
    if is_writable { WRITE } else { 0 }
}

/// The way to the pager, or to an interposer: where its code begins.
fn fault_call(
    code: &mut Code,
    crossing: &Crossing,
    between: Option<&FaultBetween>,
) -> Result<usize, GenerateError> {
    let is_kernel = crossing.callee.place == Place::Kernel;
    let call = code.literals()?;
    code.emit(&stencil::FAULT_RANGE)?;
    code.emit(&stencil::FAULT_FRAME)?;
    if crossing.stamps() {
        code.emit(&stencil::STAMP)?;
    }
    if crossing.counter != 0 {
        code.emit(&stencil::COUNT)?;
    }
    code.emit(&stencil::FAULT_ARGUMENTS)?;
    if between.is_some() {
        code.emit(&stencil::FAULT_BETWEEN)?;
    }
    code.emit(&stencil::NOTE_FRAME)?;
    if is_kernel {
        code.emit(&stencil::STACK_KERNEL)?;
        code.emit(&stencil::ENTER_KERNEL)?;
    } else {
        code.emit(&stencil::FAULT_STACK)?;
        enter(code, crossing, &stencil::ENTER)?;
        code.emit(&stencil::ENTER_ENTRY)?;
        code.emit(&stencil::LEAVE_PARTIAL)?;
        code.scrub_and_leave()?;
    }
    code.label(Label::Overflow);
    code.emit(&stencil::FAULT_OVERFLOW)?;
    code.label(Label::Elsewhere);
    code.emit(&stencil::FAULT_ELSEWHERE)?;
    if !is_kernel {
        code.label(Label::StackWait);
        code.emit(&stencil::FAULT_WAIT)?;
    }
    code.resolve()?;
    Ok(call)
}

/// The rest of the way back, from where `t0` says how the trap goes on: its abort and its dead entry.
fn fault_end(
    code: &mut Code,
    crossing: &Crossing,
    back: usize,
    refused: &stencil::Stencil,
) -> Result<(usize, usize), GenerateError> {
    let is_kernel = crossing.callee.place == Place::Kernel;
    code.label(Label::Finish);
    if !is_kernel {
        code.emit(&stencil::RELEASE)?;
    }
    code.emit(&stencil::FAULT_POP)?;
    if !is_kernel {
        code.emit(&stencil::WAKE_CHECK)?;
        code.label(Label::Woken);
    }
    code.emit(&stencil::FAULT_GO_ON)?;
    if !is_kernel {
        code.label(Label::Wake);
        code.emit(&stencil::WAKE)?;
    }
    code.label(Label::Refused);
    code.emit(refused)?;
    let abort = code.at;
    find_base(code, back)?;
    enter(code, crossing, &stencil::RETURN_ENTER)?;
    code.emit(&stencil::JUMP_TO_REFUSED)?;
    let dead = dead_entry(code, back, !is_kernel)?;
    code.resolve()?;
    Ok((abort, dead))
}

fn fault_literals(
    code: &mut Code,
    crossing: &Crossing,
    range: &PagedRange,
    (call, back, again): (usize, u64, u64),
) {
    for (literal, word) in [
        (LITERAL_MARK, MARK_CALL),
        (LITERAL_RETURN, back),
        (LITERAL_SPACE, crossing.callee.space.word()),
        (LITERAL_TABLE, crossing.callee.table),
        (LITERAL_ENTRY, crossing.entry),
        (LITERAL_STUB, crossing.stub),
        (LITERAL_RANGE_ENTRIES, range.entries),
        (LITERAL_CONSTANT, crossing.constant),
        (LITERAL_ELSE, range.elsewhere),
        (LITERAL_RANGE, range.first),
        (LITERAL_RANGE_SIZE, range.size),
        (LITERAL_AGAIN, again),
        (LITERAL_QUEUE, crossing.queue),
        (LITERAL_COUNTER, crossing.counter),
    ] {
        code.literal(call, literal, word);
    }
}

fn back_literals(code: &mut Code, crossing: &Crossing, back: usize, (abort, dead): (u64, u64)) {
    let client = crossing.caller;
    for (literal, word) in [
        (LITERAL_MARK, MARK_RETURN),
        (LITERAL_ABORT, abort),
        (LITERAL_RETURN, dead),
        (LITERAL_SPACE, client.space.word()),
        (LITERAL_TABLE, client.table),
        (LITERAL_WAITERS, crossing.waiters),
        (LITERAL_LONGEST, crossing.limits.execution),
        (LITERAL_LONGEST_CALL, crossing.limits.call),
        (LITERAL_CANCELLED, crossing.limits.cancelled),
        (LITERAL_QUEUE, crossing.queue),
    ] {
        code.literal(back, literal, word);
    }
}

/// What an interposer passes on is what came, whatever it has in its registers.
pub(super) fn fault_passed(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    match crossing.passed_fault() {
        Some(_) => code.emit(&stencil::FAULT_PASSED),
        None => Ok(()),
    }
}

/// Maps what the pager answered, in the client's space; whether that was entered.
pub(super) fn fault_back(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<bool, GenerateError> {
    let Some(fault) = crossing.passed_fault().filter(|fault| fault.pager.is_some()) else {
        return Ok(false);
    };
    code.emit(&stencil::FAULT_CLIENT)?;
    code.value(Value::State, FRAME_HEADER - FAULT_FRAME);
    code.value(Value::Rights, rights(fault.is_writable));
    code.emit(&stencil::FAULT_MAP)?;
    frame_values(code, specification, crossing);
    code.label(Label::Mapped);
    Ok(true)
}

/// The other end of it.
pub(super) fn fault_not_mapped(code: &mut Code, crossing: &Crossing) -> Result<(), GenerateError> {
    if crossing.passed_fault().is_some_and(|fault| fault.pager.is_some()) {
        code.label(Label::Refused);
        code.emit(&stencil::FAULT_NOT_MAPPED)?;
    }
    Ok(())
}

/// What a portal by which a fault is passed on has beside that of a call.
pub(super) fn passed_fault_literals(
    code: &mut Code,
    crossing: &Crossing,
    (call, back): (usize, usize),
) {
    let Some(fault) = crossing.passed_fault() else { return };
    code.literal(call, LITERAL_BEHALF, fault.entries);
    code.literal(call, LITERAL_RANGE, fault.first);
    code.literal(call, LITERAL_RANGE_NUMBER, fault.number);
    code.literal(back, LITERAL_FAULT, fault.entries);
    if let Some(PagerMemory { first, size, entry }) = fault.pager {
        code.literal(back, LITERAL_SOURCE, first);
        code.literal(back, LITERAL_SOURCE_SIZE, size);
        code.literal(back, LITERAL_SOURCE_ENTRY, entry);
    }
}

/// The dead entry of the return portal at `back`, named like one; on to the trap's own.
pub(super) fn dead_entry(
    code: &mut Code,
    back: usize,
    releases: bool,
) -> Result<usize, GenerateError> {
    code.align()?;
    code.zeros(8)?;
    let dead = code.at;
    if releases {
        find_base(code, back)?;
        code.emit(&stencil::RELEASE)?;
        code.emit(&stencil::DEAD_WAKE)?;
        code.label(Label::DeadPop);
    }
    code.emit(&stencil::DEAD_POP)?;
    Ok(dead)
}
