//! A call portal with its return portal, and the hybrid portals of semaphores, which are pairs
//! with a fast path.

use super::code::{Code, enter};
use super::fast_path::fast_path;
use super::fault::{fault_back, fault_not_mapped, fault_passed, passed_fault_literals};
use super::float::{begin_float, end_float, find_float, float_elsewhere, start_float};
use super::frame::{
    fits_behind, frame_values, restore_global_pointer, save_global_pointer, stamped_frame_size,
    window_values,
};
use super::links::{Links, call_literals, return_literals};
use super::parameters::{
    close_windows, limits, on_behalf, parameters, refuse_strangers, refused, scrub_unused,
    value_back,
};
use super::space::{fence_windows, stays};
use super::upcall::discarding;
use super::{Crossing, GenerateError, Generated, SemaphoreOperation};
use crate::literal::*;
use crate::parameter::Parameters;
use crate::plan::Place;
use crate::specification::{Letter, Specification, Stack, State};
use crate::stencil::{self, Label, Value};

/// Generates a call portal and its return portal into `words`, to be executed at `address` (a
/// multiple of 16).
pub fn pair(
    specification: &Specification,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    pair_with_types(specification, &Parameters::NONE, crossing, words, address)
}

/// The same for a specification that may have registered letters.
pub fn pair_with_types(
    specification: &Specification,
    types: &Parameters,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    portal_pair((specification, types), crossing, None, words, address)
}

/// Generates a hybrid portal: P or V on the semaphore that is `crossing.source` in portal code, and
/// a call into the scheduler when it would block or change which thread runs.
pub fn semaphore(
    operation: SemaphoreOperation,
    specification: &Specification,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    portal_pair((specification, &Parameters::NONE), crossing, Some(operation), words, address)
}

fn portal_pair(
    (specification, types): (&Specification, &Parameters),
    crossing: &Crossing,
    semaphore: Option<SemaphoreOperation>,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    if specification.state == State::Discarded {
        return discarding(code, specification, crossing);
    }
    let (call, fence) = call_half(&mut code, (specification, types), crossing, semaphore)?;
    let links = return_half(&mut code, (specification, types), crossing)?;
    let back = links.back / 4;
    code.literals_at(call, &call_literals(crossing, address + links.back as u64));
    let (literals, dead) = return_literals(&links, crossing, address);
    code.literals_at(back, &literals);
    passed_fault_literals(&mut code, crossing, (call, back));
    code.literals_at(links.dead / 4, &dead);
    Ok(Generated { fence: fence * 4, ..code.finish(call, back)? })
}

/// Generates the code of a call portal alone, without its literals ([`call_literals`]); its size in bytes.
pub fn call(
    (specification, types): (&Specification, &Parameters),
    semaphore: Option<SemaphoreOperation>,
    crossing: &Crossing,
    words: &mut [u32],
) -> Result<usize, GenerateError> {
    let mut code = Code::new(words, 0);
    let (call, _) = call_half(&mut code, (specification, types), crossing, semaphore)?;
    Ok(code.finish(call, 0)?.size)
}

/// Generates the code of a return portal alone, without its literals ([`return_literals`]); its size in bytes. It
/// serves all call portals between the same two ends, with the same stack queue, limits and
/// [`shape`](Specification::shape).
pub fn back(
    (specification, types): (&Specification, &Parameters),
    crossing: &Crossing,
    words: &mut [u32],
) -> Result<(usize, Links), GenerateError> {
    let mut code = Code::new(words, 0);
    let links = return_half(&mut code, (specification, types), crossing)?;
    Ok((code.finish(0, links.back / 4)?.size, links))
}

/// The call half: where its code begins, behind the literals, and the fence by which it enters a component that does not
/// run to completion. Of its return half it knows nothing but the literal with its address.
fn call_half(
    code: &mut Code,
    (specification, types): (&Specification, &Parameters),
    crossing: &Crossing,
    semaphore: Option<SemaphoreOperation>,
) -> Result<(usize, usize), GenerateError> {
    let start = code.literals()?;
    let is_kernel = specification.stack == Stack::Kernel;
    let from_kernel = specification.state == State::Kernel;
    frame_values(code, specification, crossing);
    on_behalf(code, specification, crossing)?;
    limits(code, specification, crossing, true)?;
    if let Some(operation) = semaphore {
        fast_path(code, operation, from_kernel, crossing.is_limited())?;
        code.label(Label::Slow);
    }
    let is_last = specification.stack == Stack::RunToCompletion;
    code.emit(match is_last {
        true => &stencil::CALL_PUSH_LAST,
        false if crossing.of_manager && fits_behind(specification, crossing) => {
            &stencil::CALL_PUSH_MANAGER
        }
        false => &stencil::CALL_PUSH,
    })?;
    code.emit(&stencil::CALL_FRAME)?;
    if crossing.stamps() {
        code.emit(&stencil::STAMP)?;
    }
    if crossing.counter != 0 {
        code.emit(&stencil::COUNT)?;
    }
    begin_float(code, crossing)?;
    match specification.stack {
        // The abort entry gives the stack pointer back.
        Stack::Shared => code.emit(&stencil::STACK_SHARED)?,
        Stack::New => {
            if from_kernel {
                code.emit(&stencil::KERNEL_STACK_ROOM)?;
                code.emit(&stencil::KEEP_KERNEL_STACK)?;
            }
            code.emit(&stencil::STACK_NEW)?;
        }
        Stack::RunToCompletion => {
            code.emit(&stencil::STACK_RUN_TO_COMPLETION)?;
            if masks(crossing) {
                code.emit(&stencil::INTERRUPTS_OFF)?;
            }
        }
        Stack::Kernel => {
            if from_kernel {
                code.emit(&stencil::KERNEL_STACK_ROOM)?;
            }
            code.emit(&stencil::KEEP_STACK)?;
            if !from_kernel {
                code.emit(&stencil::STACK_KERNEL)?;
            }
        }
    }
    let windows = specification.windows();
    if windows > 0 && is_kernel {
        code.emit(&stencil::WINDOWS_UNMARKED)?;
    } else if windows > 0 {
        match specification.stack {
            Stack::New => code.emit(&stencil::STACK_BELOW_COPIES)?,
            _ => code.emit(&stencil::STACK_WINDOWS)?,
        }
        // If the limits refuse the call, not even the first is open.
        let first = i64::from(!crossing.is_limited());
        for slot in first..windows as i64 {
            window_values(code, crossing, slot);
            code.emit(&stencil::WINDOW_CLEAR)?;
        }
    }
    match specification.state {
        State::Partial => {
            code.emit(&stencil::SAVE_REGISTERS)?;
            save_global_pointer(code, specification)?;
            code.emit(&stencil::SAVE_OWN_POINTER)?;
        }
        State::Kernel => {
            code.emit(&stencil::SAVE_REGISTERS)?;
            save_global_pointer(code, specification)?;
            if !is_kernel {
                code.emit(&stencil::SAVE_SPACE)?;
            }
        }
        _ if is_kernel => code.emit(&stencil::SAVE_THREAD_POINTER)?,
        _ => {}
    }
    limits(code, specification, crossing, false)?;
    parameters(code, (specification, types), crossing)?;
    fault_passed(code, crossing)?;
    start_float(code, crossing)?;
    // Nothing is hidden from who may read all.
    let fence = match crossing.callee.place {
        Place::User => enter_domain(code, specification, crossing)?,
        Place::Kernel if specification.only_pops() => {
            code.emit(&stencil::ENTER_INSIDE_KERNEL).map(|()| 0)?
        }
        Place::Kernel => code.emit(&stencil::ENTER_KERNEL).map(|()| 0)?,
        Place::KernelToCompletion { .. } => code.emit(&stencil::ENTER_TO_COMPLETION).map(|()| 0)?,
    };
    if !is_last {
        code.label(Label::Overflow);
        match from_kernel {
            true => code.leave(5, &stencil::OVERFLOW_IN_KERNEL)?,
            false => code.emit(&stencil::OVERFLOW)?,
        }
    }
    refuse_strangers(code, crossing)?;
    if specification.stack == Stack::Shared {
        code.label(Label::BadStack);
        code.emit(&stencil::BAD_STACK)?;
    }
    if specification.takes_activation() {
        code.label(Label::StackWait);
        if is_below_kernel(specification) {
            // What the first word loads is in its register still.
            code.emit_part(&stencil::RESTORE_KERNEL_STACK, 1..)?;
        }
        let service = if from_kernel { SERVICE_STACK_WAIT_IN_KERNEL } else { SERVICE_STACK_WAIT };
        code.value(Value::StackWaitService, service);
        code.emit(&stencil::STACK_WAIT)?;
    }
    if windows > 0 && is_kernel {
        code.label(Label::TooLarge);
        code.emit(&stencil::TOO_LARGE)?;
        code.label(Label::BadPointer);
        code.emit(&stencil::BAD_POINTER)?;
    }
    if windows > 0 || crossing.is_limited() {
        refused(code, specification)?;
    }
    code.resolve()?;
    Ok((start, fence))
}

/// Whether interrupts are masked one by one while the callee runs to completion.
pub(super) fn masks(crossing: &Crossing) -> bool {
    crossing.callee.place != Place::KernelToCompletion { masks: false }
}

/// Enters the callee's domain. Returns the place of the fence if it does not run to completion, or zero.
#[inline(always)]
fn enter_domain(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<usize, GenerateError> {
    let fence = match stays(specification, crossing) {
        true => fence_windows(code, specification, crossing)?,
        false => enter(code, crossing, &stencil::ENTER)?,
    };
    code.emit(&stencil::ENTER_ENTRY)?;
    if matches!(specification.state, State::Minimal | State::Discarded) {
        code.leave(1, &stencil::LEAVE_MINIMAL)?;
    } else if specification.stack == Stack::RunToCompletion {
        code.leave(0, &stencil::LEAVE)?;
        return Ok(0);
    } else {
        scrub_unused(code, specification)?;
        code.emit(&stencil::LEAVE_PARTIAL)?;
        code.scrub_and_leave()?;
    }
    Ok(fence)
}

/// Finds `t1` in an entry beside the first.
pub(super) fn find_base(code: &mut Code, start: usize) -> Result<(), GenerateError> {
    let distance = start as i64 - code.at as i64;
    code.value(Value::BaseDistance, distance * 4);
    code.emit(&stencil::FIND_BASE)
}

/// Leaves to the caller.
#[inline(always)]
fn leave_back(code: &mut Code, specification: &Specification) -> Result<(), GenerateError> {
    match specification.state {
        State::Partial => {}
        // Nothing is hidden from who may read all.
        State::Kernel => return code.leave(2, &stencil::LEAVE_TO_KERNEL),
        State::Minimal | State::Discarded => return code.leave(0, &stencil::LEAVE),
    }
    // The first words of the reply beside its value stay.
    code.emit_part(&stencil::SCRUB_RETURN, specification.reply() - 1..)?;
    code.scrub_and_leave()
}

/// Loads what the C convention preserves, and leaves the frame.
fn restore_registers(code: &mut Code, specification: &Specification) -> Result<(), GenerateError> {
    if specification.state == State::Kernel {
        code.emit(&stencil::RESTORE_REGISTERS)?;
        restore_global_pointer(code, specification)?;
        return code.emit(&stencil::POP_IN_KERNEL);
    }
    code.emit(&stencil::FIND_BELOW)?;
    code.emit(&stencil::RESTORE_REGISTERS)?;
    restore_global_pointer(code, specification)?;
    code.emit(&stencil::RESTORE_OWN_POINTER)
}

/// Enters the caller's space.
#[inline(always)]
fn enter_back(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<(), GenerateError> {
    let first = match specification.state {
        State::Kernel => &stencil::RESTORE_SPACE,
        _ => &stencil::RETURN_ENTER,
    };
    enter(code, crossing, first).map(drop)
}

/// Whether the caller keeps its place on the thread's stack in the kernel domain while another uses what is below.
fn is_below_kernel(specification: &Specification) -> bool {
    specification.state == State::Kernel && specification.stack == Stack::New
}

/// The return half. What it depends on beside the crossing is the specification's [`shape`](Specification::shape).
fn return_half(
    code: &mut Code,
    (specification, types): (&Specification, &Parameters),
    crossing: &Crossing,
) -> Result<Links, GenerateError> {
    let start = code.literals()?;
    frame_values(code, specification, crossing);
    let masked = specification.stack == Stack::RunToCompletion && masks(crossing);
    let release = specification.takes_activation();
    if specification.stack == Stack::Kernel {
        return back_from_kernel(code, (specification, types), crossing, start);
    }

    end_float(code, crossing)?;
    fault_back(code, specification, crossing)?;
    if !stays(specification, crossing) {
        enter_back(code, specification, crossing)?;
    }
    value_back(code, specification, types)?;
    close_windows(code, specification, crossing, |letter| match letter {
        Letter::Write => SERVICE_CLOSE_WRITE,
        _ => SERVICE_CLOSE,
    })?;
    code.label(Label::Finish);
    // Not before they are closed: what closes them is in the callee's space here.
    fence_windows(code, specification, crossing)?;
    find_float(code, crossing)?;
    if release {
        code.emit(&stencil::RELEASE)?;
    }
    if is_below_kernel(specification) {
        code.emit(&stencil::RESTORE_KERNEL_STACK)?;
    }
    // `s` with `m` trusts the callee to keep the pointer.
    if specification.stack != Stack::Shared || specification.state == State::Partial {
        code.emit(&stencil::RESTORE_STACK)?;
    }
    code.emit(&stencil::RESTORE_ADDRESS)?;
    match specification.state {
        State::Partial | State::Kernel => restore_registers(code, specification)?,
        State::Minimal | State::Discarded => code.emit(&stencil::POP)?,
    }
    if masked {
        code.emit(&stencil::INTERRUPTS_ON)?;
    }
    if release {
        code.emit(&stencil::WAKE_CHECK)?;
        code.label(Label::Woken);
    }
    leave_back(code, specification)?;
    if release {
        code.label(Label::Wake);
        code.emit(&stencil::WAKE)?;
    }
    float_elsewhere(code, crossing)?;
    fault_not_mapped(code, crossing)?;

    let abort = code.at;
    if specification.state == State::Minimal {
        code.emit(&stencil::SCRUB_ABORT)?;
    }
    find_base(code, start)?;
    end_float(code, crossing)?;
    enter_back(code, specification, crossing)?;
    close_windows(code, specification, crossing, |_| SERVICE_CLOSE)?;
    code.emit_part(&stencil::ABORT_REPLY, ..specification.reply())?;
    if specification.stack == Stack::Shared && specification.state == State::Minimal {
        // A callee on the caller's stack that died did not put the stack pointer back.
        code.emit(&stencil::RESTORE_STACK)?;
    }
    code.emit(&stencil::JUMP_TO_FINISH)?;

    // The dead entry is named like a return portal, by an address before which lie its own mark
    // and its own abort entry: itself.
    code.align()?;
    code.zeros(8)?;
    let dead = code.at;
    find_base(code, start)?;
    end_float(code, crossing)?;
    close_windows(code, specification, crossing, |_| SERVICE_CLOSE)?;
    if specification.state == State::Kernel {
        // As the trap's dead entry: for a frame below that does not hold them.
        enter_back(code, specification, crossing)?;
        code.emit(&stencil::RESTORE_GLOBAL_POINTER)?;
    }
    if masked {
        code.emit(&stencil::INTERRUPTS_ON)?;
    }
    if is_below_kernel(specification) {
        code.emit(&stencil::RESTORE_KERNEL_STACK)?;
    }
    if release {
        code.emit(&stencil::RELEASE)?;
        code.emit(&stencil::DEAD_WAKE)?;
        code.label(Label::DeadPop);
    }
    code.emit(&stencil::DEAD_POP)?;
    code.resolve()?;

    let frame_size = stamped_frame_size(specification, crossing) as u16;
    Ok(Links { back: start * 4, abort: abort * 4, dead: dead * 4, frame_size })
}

/// The same of a portal into the kernel domain. The space is the caller's still: what the callee's thread was in when it died, a
/// trap or a portal out of the kernel domain, has entered it again in its dead entry.
#[inline(never)]
fn back_from_kernel(
    code: &mut Code,
    (specification, types): (&Specification, &Parameters),
    crossing: &Crossing,
    start: usize,
) -> Result<Links, GenerateError> {
    if !specification.only_pops() {
        if specification.windows() > 0 {
            code.emit(&stencil::WINDOWS_CHECK)?;
        }
        value_back(code, specification, types)?;
        if fault_back(code, specification, crossing)? {
            enter_back(code, specification, crossing)?;
        }
        code.label(Label::Finish);
        find_float(code, crossing)?;
        if specification.state == State::Kernel {
            code.emit(&stencil::RESTORE_ADDRESS)?;
            code.emit(&stencil::POP_IN_KERNEL)?;
        } else {
            code.emit(&stencil::RESTORE_STACK)?;
            code.emit(&stencil::RESTORE_ADDRESS)?;
            code.emit(&stencil::POP_KERNEL)?;
        }
        leave_back(code, specification)?;
        float_elsewhere(code, crossing)?;
        fault_not_mapped(code, crossing)?;
        if specification.windows() > 0 {
            code.label(Label::BadPointer);
            code.emit(&stencil::OUT_OF_REACH)?;
        }
    }

    let abort = code.at;
    let is_minimal = specification.state == State::Minimal;
    if is_minimal {
        // Without its first word: the thread pointer was saved.
        code.emit_part(&stencil::SCRUB_ABORT, 1..)?;
    }
    if !crossing.asids {
        code.emit(&stencil::FENCE_DOMAINS)?;
    }
    code.emit_part(&stencil::ABORT_REPLY, ..specification.reply())?;
    if is_minimal {
        code.emit(&stencil::JUMP_TO_FINISH)?;
    } else {
        // What a callee that died did not keep is loaded.
        code.emit(&stencil::RESTORE_STACK)?;
        code.emit(&stencil::RESTORE_ADDRESS)?;
        restore_registers(code, specification)?;
        leave_back(code, specification)?;
    }

    code.align()?;
    code.zeros(8)?;
    let dead = code.at;
    code.emit(&stencil::DEAD_POP)?;
    code.resolve()?;

    let frame_size = stamped_frame_size(specification, crossing) as u16;
    Ok(Links { back: start * 4, abort: abort * 4, dead: dead * 4, frame_size })
}
