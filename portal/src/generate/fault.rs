//! Page faults of a range of addresses: a call of its pager by the instruction that faulted, whose reply the portal maps on
//! the way back.

use super::code::{Code, enter};
use super::pair::find_base;
use super::{Crossing, GenerateError, Generated};
use crate::literal::*;
use crate::plan::{Place, Source};
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

/// Generates the portal of a range's faults, an entry of the client's domain, with its way back.
pub fn fault(
    range: &PagedRange,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let is_kernel = crossing.callee.place == Place::Kernel;
    let size = FAULT_FRAME + if crossing.stamps() { 16 } else { 0 };
    code.value(Value::FrameSize, size);
    code.value(Value::FrameSizeNegative, -size);
    code.value(Value::Stamp, FRAME_HEADER - size);
    code.value(Value::State, FRAME_HEADER - FAULT_FRAME);
    code.value(Value::Rights, if range.is_writable { WRITE } else { 0 });

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
    code.emit(&stencil::NOTE_FRAME)?;
    if is_kernel {
        code.emit(&stencil::STACK_KERNEL)?;
        code.emit(&stencil::ENTER_KERNEL)?;
    } else {
        code.emit(&stencil::FAULT_STACK)?;
        enter(&mut code, crossing, &stencil::ENTER)?;
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

    let back = code.literals()?;
    enter(&mut code, crossing, &stencil::RETURN_ENTER)?;
    code.emit(&stencil::FAULT_MAP)?;
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
    code.emit(&stencil::FAULT_REFUSED)?;
    let abort = code.at;
    find_base(&mut code, back)?;
    enter(&mut code, crossing, &stencil::RETURN_ENTER)?;
    code.emit(&stencil::JUMP_TO_REFUSED)?;
    let dead = dead_entry(&mut code, back, !is_kernel)?;
    code.resolve()?;

    // A thread that waits for a stack is in no pager.
    let again = code.literals()?;
    code.emit(&stencil::FAULT_AGAIN)?;
    let again_dead = dead_entry(&mut code, again, false)?;
    code.resolve()?;

    let (client, pager) = (crossing.caller, crossing.callee);
    let at = |word: usize| address + word as u64 * 4;
    let frame = |callee| CallFrame { size: size as u16, caller: client.domain, callee }.word();
    let Source::Memory { first, size } = crossing.source else {
        return Err(GenerateError::DoesNotFit);
    };
    for (literal, word) in [
        (LITERAL_MARK, MARK_CALL),
        (LITERAL_RETURN, at(back)),
        (LITERAL_SPACE, pager.space.word()),
        (LITERAL_TABLE, pager.table),
        (LITERAL_ENTRY, crossing.entry),
        (LITERAL_STUB, crossing.stub),
        (LITERAL_RANGE_ENTRIES, range.entries),
        (LITERAL_CONSTANT, crossing.constant),
        (LITERAL_ELSE, range.elsewhere),
        (LITERAL_RANGE, range.first),
        (LITERAL_RANGE_SIZE, range.size),
        (LITERAL_AGAIN, at(again)),
        (LITERAL_QUEUE, crossing.queue),
        (LITERAL_COUNTER, crossing.counter),
    ] {
        code.literal(call, literal, word);
    }
    for (literal, word) in [
        (LITERAL_MARK, MARK_RETURN),
        (LITERAL_ABORT, at(abort)),
        (LITERAL_RETURN, at(dead)),
        (LITERAL_SPACE, client.space.word()),
        (LITERAL_TABLE, client.table),
        (LITERAL_WAITERS, crossing.waiters),
        (LITERAL_LONGEST, crossing.limits.execution),
        (LITERAL_LONGEST_CALL, crossing.limits.call),
        (LITERAL_CANCELLED, crossing.limits.cancelled),
        (LITERAL_ELSE, range.elsewhere),
        (LITERAL_SOURCE, first),
        (LITERAL_SOURCE_SIZE, size),
        (LITERAL_SOURCE_ENTRY, crossing.source_entry),
        (LITERAL_QUEUE, crossing.queue),
        (LITERAL_FRAME, frame(pager.domain)),
    ] {
        code.literal(back, literal, word);
    }
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

/// The dead entry of the return portal at `back`, named like one; on to the trap's own.
fn dead_entry(code: &mut Code, back: usize, releases: bool) -> Result<usize, GenerateError> {
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
