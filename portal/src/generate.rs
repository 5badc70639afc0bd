//! Puts stencils together: a call portal with its return portal, an event portal, a short circuit.

use crate::literal::*;
use crate::specification::{Letter, Specification, Stack, State};
use crate::stencil::{self, Fill, Label, Stencil, Value};
use cairn_abi::thread::FRAME_HEADER;

/// One end of a crossing.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// Number of the domain.
    pub domain: u64,
    /// `satp`: mode, ASID and root page table.
    pub satp: u64,
    /// Kernel address of the portal table.
    pub table: u64,
}

/// Everything that a portal's code depends on beside its specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crossing {
    /// Who calls.
    pub caller: End,
    /// Who is called.
    pub callee: End,
    /// The callee's entry point.
    pub entry: u64,
    /// The callee's return stub.
    pub stub: u64,
    /// `c`.
    pub constant: u64,
    /// `=`: the index at which the portal will be installed.
    pub index: u64,
    /// `s`: base of the stack group. `r`: top of the callee's stack.
    pub stack: u64,
    /// Address of the callee's stack queue for this client, if the specification takes
    /// activations.
    pub queue: u64,
    /// Address of the word that counts who waits for that queue.
    pub waiters: u64,
    /// Windows: first address of what the caller may pass.
    pub source: u64,
    /// Windows: bytes of it.
    pub source_size: u64,
    /// Windows: kernel address of the page-table entry of its first page.
    pub source_entry: u64,
    /// Address of the nucleus' service table.
    pub services: u64,
    /// Counting build: address of the call counter, else zero.
    pub counter: u64,
    /// The longest execution that the export declares, in ticks; zero: none.
    pub longest_execution: u64,
    /// Whether the machine's ASIDs tell domains apart; if not, entering a domain fences.
    pub asids: bool,
}

/// What the generator made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Address of the call portal's code: what goes into the portal table.
    pub call: u64,
    /// Address of the return portal's code (zero if there is none).
    pub back: u64,
    /// Bytes used, a multiple of 16.
    pub size: usize,
    /// Of a call portal with its return portal: what [`link`] needs.
    pub links: Option<Links>,
}

/// Where the parts of a call portal and its return portal lie, in bytes from the beginning. The code
/// of two portals of the same specification is the same (but for `=` and `a`, whose numbers are in
/// instructions); what differs is in the literals, which [`link`] fills in. So a portal can be made of
/// a copy of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    call: usize,
    back: usize,
    abort: usize,
    dead: usize,
    frame_size: u64,
}

impl Links {
    /// Of no portal.
    pub const NONE: Links = Links { call: 0, back: 0, abort: 0, dead: 0, frame_size: 0 };

    /// Offset of the call portal's code: what goes into the portal table.
    pub const fn call(&self) -> usize {
        self.call
    }
}

/// Hands over every literal of a pair at `address`, with its offset in bytes. The others are zero.
#[inline(always)]
pub fn link(links: &Links, crossing: &Crossing, address: u64, mut put: impl FnMut(usize, u64)) {
    let at = |offset: usize| address + offset as u64;
    let asid = crossing.callee.satp >> 44 & 0xffff;
    let mut call = |literal: i64, word: u64| put(links.call.wrapping_add_signed(literal as isize), word);
    call(LITERAL_MARK, MARK_CALL);
    call(LITERAL_RETURN, at(links.back));
    call(LITERAL_SATP, crossing.callee.satp);
    call(LITERAL_TABLE, crossing.callee.table);
    call(LITERAL_ENTRY, crossing.entry);
    call(LITERAL_STUB, crossing.stub);
    call(LITERAL_STACK, crossing.stack);
    call(LITERAL_CONSTANT, crossing.constant);
    call(LITERAL_SERVICES, crossing.services);
    call(LITERAL_SOURCE, crossing.source);
    call(LITERAL_SOURCE_SIZE, crossing.source_size);
    call(LITERAL_SOURCE_ENTRY, crossing.source_entry);
    call(LITERAL_QUEUE, crossing.queue);
    call(LITERAL_ASID, asid);
    call(LITERAL_FRAME, crossing.counter);
    let mut back = |literal: i64, word: u64| put(links.back.wrapping_add_signed(literal as isize), word);
    back(LITERAL_MARK, MARK_RETURN);
    back(LITERAL_ABORT, at(links.abort));
    back(LITERAL_RETURN, at(links.dead));
    back(LITERAL_SATP, crossing.caller.satp);
    back(LITERAL_TABLE, crossing.caller.table);
    back(LITERAL_ENTRY, crossing.waiters);
    back(LITERAL_CONSTANT, crossing.longest_execution);
    back(LITERAL_SERVICES, crossing.services);
    back(LITERAL_QUEUE, crossing.queue);
    back(LITERAL_ASID, asid);
    back(LITERAL_FRAME, links.frame_size | crossing.caller.domain << 32 | crossing.callee.domain << 48);
    let mut dead = |literal: i64, word: u64| put(links.dead.wrapping_add_signed(literal as isize), word);
    dead(LITERAL_MARK, MARK_DEAD);
    dead(LITERAL_ABORT, at(links.dead));
    dead(LITERAL_RETURN, at(links.back));
}

/// Why nothing was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerateError {
    /// The buffer is too small.
    NoSpace,
    /// A number does not fit its instruction: a table's index or a domain's number is too large.
    DoesNotFit,
}

/// A buffer that is being filled; `address` is where its first word will be executed.
struct Code<'a> {
    words: &'a mut [u32],
    at: usize,
    address: u64,
    labels: [Option<usize>; Label::COUNT],
    values: [i64; Value::COUNT],
    pending: [(usize, Label, stencil::Form); 16],
    pending_count: usize,
}

impl<'a> Code<'a> {
    fn new(words: &'a mut [u32], address: u64) -> Code<'a> {
        Code {
            words,
            at: 0,
            address,
            labels: [None; Label::COUNT],
            values: [0; Value::COUNT],
            pending: [(0, Label::Overflow, stencil::Form::Jump); 16],
            pending_count: 0,
        }
    }

    fn value(&mut self, value: Value, number: i64) {
        self.values[value as usize] = number;
    }

    fn label(&mut self, label: Label) {
        self.labels[label as usize] = Some(self.at);
    }

    /// Zeros up to the next multiple of 16 bytes.
    fn align(&mut self) -> Result<(), GenerateError> {
        self.zeros(self.at.next_multiple_of(4) - self.at)
    }

    fn zeros(&mut self, count: usize) -> Result<(), GenerateError> {
        let end = self.at + count;
        self.words.get_mut(self.at..end).ok_or(GenerateError::NoSpace)?.fill(0);
        self.at = end;
        Ok(())
    }

    /// Leaves room for literals and returns where the code begins.
    fn literals(&mut self) -> Result<usize, GenerateError> {
        self.align()?;
        self.zeros(LITERALS_SIZE as usize / 4)?;
        Ok(self.at)
    }

    fn literal(&mut self, code: usize, literal: i64, word: u64) {
        let at = (code as i64 + literal / 4) as usize;
        self.words[at] = word as u32;
        self.words[at + 1] = (word >> 32) as u32;
    }

    fn emit(&mut self, stencil: &Stencil) -> Result<(), GenerateError> {
        let end = self.at + stencil.code.len();
        self.words.get_mut(self.at..end).ok_or(GenerateError::NoSpace)?.copy_from_slice(stencil.code);
        for hole in stencil.holes {
            let at = self.at + hole.at;
            match hole.fill {
                Fill::Value(value) => {
                    let number = self.values[value as usize] + hole.addend;
                    self.words[at] =
                        hole.form.fill(self.words[at], number).ok_or(GenerateError::DoesNotFit)?;
                }
                Fill::Label(label) => {
                    *self.pending.get_mut(self.pending_count).ok_or(GenerateError::NoSpace)? =
                        (at, label, hole.form);
                    self.pending_count += 1;
                }
            }
        }
        self.at = end;
        Ok(())
    }

    /// Fills the distances to labels, which are those of one portal: a new portal starts without.
    fn resolve(&mut self) -> Result<(), GenerateError> {
        for (at, label, form) in &self.pending[..self.pending_count] {
            let target = self.labels[*label as usize].ok_or(GenerateError::DoesNotFit)?;
            let distance = (target as i64 - *at as i64) * 4;
            self.words[*at] = form.fill(self.words[*at], distance).ok_or(GenerateError::DoesNotFit)?;
        }
        self.pending_count = 0;
        self.labels = [None; Label::COUNT];
        Ok(())
    }

    fn finish(mut self, call: usize, back: usize) -> Result<Generated, GenerateError> {
        self.align()?;
        let address = |word: usize| if word == 0 { 0 } else { self.address + word as u64 * 4 };
        Ok(Generated { call: address(call), back: address(back), size: self.at * 4, links: None })
    }
}

/// Bytes by which a call of this specification moves the frame pointer.
pub fn frame_size(specification: &Specification) -> i64 {
    FRAME_HEADER - state_offset(specification)
}

/// The same with the stamp of an export that declares a longest execution.
fn stamped_frame_size(specification: &Specification, crossing: &Crossing) -> i64 {
    frame_size(specification) + if crossing.longest_execution == 0 { 0 } else { 16 }
}

/// Where the saved stack pointer and registers begin, from the header: below the windows' records
/// of two words each (pointer, length).
fn state_offset(specification: &Specification) -> i64 {
    let records = -16 * specification.windows() as i64;
    match (specification.stack, specification.state) {
        (_, State::Discarded) => records,
        (_, State::Minimal) => records - 16,
        (_, State::Partial) => records - 128,
    }
}

fn index_of(stencils: &'static [Stencil; 8], position: usize) -> &'static Stencil {
    &stencils[position]
}

const CONSTANT: [Stencil; 8] = [
    stencil::CONSTANT_0, stencil::CONSTANT_1, stencil::CONSTANT_2, stencil::CONSTANT_3,
    stencil::CONSTANT_4, stencil::CONSTANT_5, stencil::CONSTANT_6, stencil::CONSTANT_7,
];
const INDEX: [Stencil; 8] = [
    stencil::INDEX_0, stencil::INDEX_1, stencil::INDEX_2, stencil::INDEX_3,
    stencil::INDEX_4, stencil::INDEX_5, stencil::INDEX_6, stencil::INDEX_7,
];
const DOMAIN: [Stencil; 8] = [
    stencil::DOMAIN_0, stencil::DOMAIN_1, stencil::DOMAIN_2, stencil::DOMAIN_3,
    stencil::DOMAIN_4, stencil::DOMAIN_5, stencil::DOMAIN_6, stencil::DOMAIN_7,
];
const THREAD: [Stencil; 8] = [
    stencil::THREAD_0, stencil::THREAD_1, stencil::THREAD_2, stencil::THREAD_3,
    stencil::THREAD_4, stencil::THREAD_5, stencil::THREAD_6, stencil::THREAD_7,
];
const TIME: [Stencil; 8] = [
    stencil::TIME_0, stencil::TIME_1, stencil::TIME_2, stencil::TIME_3,
    stencil::TIME_4, stencil::TIME_5, stencil::TIME_6, stencil::TIME_7,
];
const SCRUB: [Stencil; 8] = [
    stencil::SCRUB_0, stencil::SCRUB_1, stencil::SCRUB_2, stencil::SCRUB_3,
    stencil::SCRUB_4, stencil::SCRUB_5, stencil::SCRUB_6, stencil::SCRUB_7,
];
/// A window's pointer and length take two registers, so there is no eighth.
const WINDOW: [Stencil; 7] = [
    stencil::WINDOW_0, stencil::WINDOW_1, stencil::WINDOW_2, stencil::WINDOW_3,
    stencil::WINDOW_4, stencil::WINDOW_5, stencil::WINDOW_6,
];
const WINDOW_POINTER: [Stencil; 7] = [
    stencil::WINDOW_POINTER_0, stencil::WINDOW_POINTER_1, stencil::WINDOW_POINTER_2, stencil::WINDOW_POINTER_3,
    stencil::WINDOW_POINTER_4, stencil::WINDOW_POINTER_5, stencil::WINDOW_POINTER_6,
];

fn parameters(code: &mut Code, specification: &Specification) -> Result<(), GenerateError> {
    let mut position = 0;
    let mut slot = 0;
    for letter in specification.letters() {
        match letter {
            Letter::Word => {}
            Letter::Constant => code.emit(index_of(&CONSTANT, position))?,
            Letter::Index => code.emit(index_of(&INDEX, position))?,
            Letter::Domain => code.emit(index_of(&DOMAIN, position))?,
            Letter::Thread => code.emit(index_of(&THREAD, position))?,
            Letter::Time => code.emit(index_of(&TIME, position))?,
            Letter::Read | Letter::Write => {
                let service = if *letter == Letter::Read { SERVICE_OPEN_READ } else { SERVICE_OPEN_WRITE };
                code.value(Value::WindowService, service);
                window_values(code, slot);
                if *letter == Letter::Write {
                    code.emit(&WINDOW_POINTER[position])?;
                }
                code.emit(&WINDOW[position])?;
                slot += 1;
            }
        }
        position += letter.words();
    }
    Ok(())
}

fn scrub_unused(code: &mut Code, specification: &Specification) -> Result<(), GenerateError> {
    for stencil in &SCRUB[specification.words()..] {
        code.emit(stencil)?;
    }
    Ok(())
}

fn frame_values(code: &mut Code, specification: &Specification, crossing: &Crossing) {
    let size = stamped_frame_size(specification, crossing);
    code.value(Value::FrameSize, size);
    code.value(Value::FrameSizeNegative, -size);
    code.value(Value::Stamp, FRAME_HEADER - size);
    code.value(Value::State, state_offset(specification));
    code.value(Value::CopiesSize, -(specification.windows() as i64) * 64);
    code.value(Value::Index, crossing.index as i64);
    code.value(Value::Domain, crossing.caller.domain as i64);
}

fn enter(code: &mut Code, crossing: &Crossing, first: &Stencil) -> Result<(), GenerateError> {
    code.emit(first)?;
    if !crossing.asids {
        code.emit(&stencil::FENCE_ALL)?;
    }
    Ok(())
}

/// The call half; the literals' place is returned so that the pair can be linked.
fn call_half(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
    fast_path: Option<&Stencil>,
) -> Result<usize, GenerateError> {
    let start = code.literals()?;
    frame_values(code, specification, crossing);
    if let Some(fast_path) = fast_path {
        code.emit(fast_path)?;
        code.label(Label::Slow);
    }
    code.emit(&stencil::CALL_PUSH)?;
    if crossing.longest_execution != 0 {
        code.emit(&stencil::STAMP)?;
    }
    if crossing.counter != 0 {
        code.emit(&stencil::COUNT)?;
    }
    match specification.stack {
        // The abort entry gives the stack pointer back.
        Stack::Shared => code.emit(&stencil::STACK_SHARED)?,
        Stack::New => code.emit(&stencil::STACK_NEW)?,
        Stack::RunToCompletion => code.emit(&stencil::STACK_RUN_TO_COMPLETION)?,
    }
    if specification.windows() > 0 {
        match specification.stack {
            Stack::New => code.emit(&stencil::STACK_BELOW_COPIES)?,
            _ => code.emit(&stencil::STACK_WINDOWS)?,
        }
        for slot in 1..specification.windows() as i64 {
            window_values(code, slot);
            code.emit(&stencil::WINDOW_CLEAR)?;
        }
    }
    if specification.state == State::Partial {
        code.emit(&stencil::SAVE_PARTIAL)?;
    }
    parameters(code, specification)?;
    enter(code, crossing, &stencil::ENTER)?;
    code.emit(&stencil::ENTER_ENTRY)?;
    if specification.state == State::Partial && specification.stack != Stack::RunToCompletion {
        scrub_unused(code, specification)?;
        code.emit(&stencil::LEAVE_PARTIAL)?;
        code.emit(&stencil::SRET)?;
    } else {
        code.emit(&stencil::LEAVE_MINIMAL)?;
    }
    code.label(Label::Overflow);
    code.emit(&stencil::OVERFLOW)?;
    if specification.stack == Stack::Shared {
        code.label(Label::BadStack);
        code.emit(&stencil::BAD_STACK)?;
    }
    if specification.takes_activation() {
        code.label(Label::StackWait);
        code.emit(&stencil::STACK_WAIT)?;
    }
    if specification.windows() > 0 {
        code.label(Label::Refused);
        code.emit(&stencil::REFUSED)?;
    }
    code.resolve()?;
    Ok(start)
}

/// A slot's number and, below the frame's header, its record.
fn window_values(code: &mut Code, slot: i64) {
    code.value(Value::WindowSlot, slot);
    code.value(Value::WindowPointer, -16 * (slot + 1));
    code.value(Value::WindowLength, -16 * (slot + 1) + 8);
}

fn close_windows(
    code: &mut Code,
    specification: &Specification,
    service: impl Fn(Letter) -> i64,
) -> Result<(), GenerateError> {
    let windows = specification.letters().iter().filter(|letter| letter.words() == 2);
    for (slot, letter) in windows.enumerate() {
        let service = service(*letter);
        code.value(Value::WindowService, service);
        window_values(code, slot as i64);
        if service == SERVICE_CLOSE_WRITE {
            code.emit(&stencil::WINDOW_CLOSE_POINTER)?;
        }
        code.emit(&stencil::WINDOW_CLOSE)?;
    }
    Ok(())
}

/// Finds `t1` in an entry beside the first.
fn find_base(code: &mut Code, start: usize) -> Result<(), GenerateError> {
    let distance = start as i64 - code.at as i64;
    code.value(Value::BaseDistance, distance * 4);
    code.emit(&stencil::FIND_BASE)
}

/// The return half: its places of return, abort and dead entry.
fn return_half(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<(usize, usize, usize), GenerateError> {
    let start = code.literals()?;
    frame_values(code, specification, crossing);
    let run_to_completion = specification.stack == Stack::RunToCompletion;
    let release = specification.takes_activation();

    enter(code, crossing, &stencil::RETURN_ENTER)?;
    close_windows(code, specification, |letter| match letter {
        Letter::Write => SERVICE_CLOSE_WRITE,
        _ => SERVICE_CLOSE,
    })?;
    code.label(Label::Finish);
    if release {
        code.emit(&stencil::RELEASE)?;
    }
    if specification.stack != Stack::Shared {
        code.emit(&stencil::RESTORE_STACK)?;
    }
    code.emit(&stencil::RESTORE_ADDRESS)?;
    if specification.state == State::Partial {
        code.emit(&stencil::RESTORE_PARTIAL)?;
    }
    code.emit(&stencil::POP)?;
    if run_to_completion {
        code.emit(&stencil::INTERRUPTS_ON)?;
    }
    if release {
        code.emit(&stencil::WAKE_CHECK)?;
        code.label(Label::Woken);
    }
    if specification.state == State::Partial {
        code.emit(&stencil::SCRUB_RETURN)?;
    }
    code.emit(&stencil::SRET)?;
    if release {
        code.label(Label::Wake);
        code.emit(&stencil::WAKE)?;
    }

    let abort = code.at;
    find_base(code, start)?;
    enter(code, crossing, &stencil::RETURN_ENTER)?;
    close_windows(code, specification, |_| SERVICE_CLOSE)?;
    code.emit(&stencil::ABORT_REPLY)?;
    if specification.stack == Stack::Shared {
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
    close_windows(code, specification, |_| SERVICE_CLOSE)?;
    if run_to_completion {
        code.emit(&stencil::INTERRUPTS_ON)?;
    }
    if release {
        code.emit(&stencil::RELEASE)?;
        code.emit(&stencil::DEAD_WAKE)?;
        code.label(Label::DeadPop);
    }
    code.emit(&stencil::DEAD_POP)?;
    code.resolve()?;

    Ok((start, abort, dead))
}

/// Generates a call portal and its return portal into `words`, to be executed at `address` (a
/// multiple of 16).
pub fn pair(
    specification: &Specification,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    portal_pair(specification, crossing, None, words, address)
}

/// Which half of a semaphore a hybrid portal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreOperation {
    /// Wait, or take one.
    P,
    /// Signal, or give one.
    V,
}

/// Generates a hybrid portal: P or V on the semaphore word at `crossing.source` in portal code, and
/// a call into the scheduler when it would block or wake.
pub fn semaphore(
    operation: SemaphoreOperation,
    specification: &Specification,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let fast_path = match operation {
        SemaphoreOperation::P => &stencil::SEMAPHORE_P,
        SemaphoreOperation::V => &stencil::SEMAPHORE_V,
    };
    portal_pair(specification, crossing, Some(fast_path), words, address)
}

fn portal_pair(
    specification: &Specification,
    crossing: &Crossing,
    fast_path: Option<&Stencil>,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    if specification.state == State::Discarded {
        let start = discard_half(&mut code, specification, crossing)?;
        return code.finish(start, 0);
    }
    let call = call_half(&mut code, specification, crossing, fast_path)?;
    let (back, abort, dead) = return_half(&mut code, specification, crossing)?;
    let links = Links {
        call: call * 4,
        back: back * 4,
        abort: abort * 4,
        dead: dead * 4,
        frame_size: stamped_frame_size(specification, crossing) as u64,
    };
    link(&links, crossing, address, |offset, word| code.literal(offset / 4, 0, word));
    Ok(Generated { links: Some(links), ..code.finish(call, back)? })
}

fn run_to_completion_literals(code: &mut Code, start: usize, crossing: &Crossing) {
    let own = code.address + start as u64 * 4;
    code.literal(start, LITERAL_MARK, MARK_CALL);
    code.literal(start, LITERAL_ABORT, own);
    code.literal(start, LITERAL_SATP, crossing.callee.satp);
    code.literal(start, LITERAL_TABLE, crossing.callee.table);
    code.literal(start, LITERAL_ENTRY, crossing.entry);
    code.literal(start, LITERAL_STUB, crossing.stub);
    code.literal(start, LITERAL_STACK, crossing.stack);
    code.literal(start, LITERAL_CONSTANT, crossing.constant);
}

fn discard_half(
    code: &mut Code,
    specification: &Specification,
    crossing: &Crossing,
) -> Result<usize, GenerateError> {
    let start = code.literals()?;
    frame_values(code, specification, crossing);
    code.emit(&stencil::EVENT_ENTER)?;
    parameters(code, specification)?;
    enter(code, crossing, &stencil::ENTER)?;
    code.emit(&stencil::ENTER_ENTRY)?;
    code.emit(&stencil::LEAVE_MINIMAL)?;
    code.resolve()?;
    run_to_completion_literals(code, start, crossing);
    Ok(start)
}

/// Generates the portal of an exception or interrupt: after the trap entry saved the registers, it
/// enters a run-to-completion component with the thread's index, the cause and its value, and the
/// domain that ran, which is `crossing.caller`.
/// `acknowledge` clears the software interrupt.
pub fn event(
    crossing: &Crossing,
    acknowledge: bool,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let start = code.literals()?;
    code.emit(&stencil::EVENT_ENTER)?;
    if acknowledge {
        code.emit(&stencil::EVENT_ACKNOWLEDGE)?;
    }
    code.emit(&stencil::THREAD_1)?;
    code.emit(&stencil::EVENT_ARGUMENTS)?;
    code.value(Value::Domain, crossing.caller.domain as i64);
    code.emit(&stencil::DOMAIN_4)?;
    enter(&mut code, crossing, &stencil::ENTER)?;
    code.emit(&stencil::ENTER_ENTRY)?;
    code.emit(&stencil::LEAVE_MINIMAL)?;
    run_to_completion_literals(&mut code, start, crossing);
    code.finish(start, 0)
}

/// A portal that does its work itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortCircuit {
    /// The number of the caller's domain.
    OwnDomain,
    /// The index of the calling thread.
    OwnThread,
    /// The time in ticks.
    Time,
    /// What an index without a portal leads to: an error.
    NoPortal,
}

/// Generates a short-circuit portal for `crossing.caller`.
pub fn short_circuit(
    kind: ShortCircuit,
    crossing: &Crossing,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    let start = code.literals()?;
    code.value(Value::Domain, crossing.caller.domain as i64);
    match kind {
        ShortCircuit::OwnDomain => code.emit(&stencil::OWN_DOMAIN)?,
        ShortCircuit::OwnThread => code.emit(&stencil::OWN_THREAD)?,
        ShortCircuit::Time => code.emit(&stencil::OWN_TIME)?,
        ShortCircuit::NoPortal => code.emit(&stencil::NO_PORTAL)?,
    }
    if kind != ShortCircuit::NoPortal {
        code.emit(&stencil::SHORT_CIRCUIT_LEAVE)?;
    }
    code.literal(start, LITERAL_MARK, MARK_CALL);
    code.finish(start, 0)
}
