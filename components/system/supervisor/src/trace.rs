//! How a thread came to where an instance died. What its invocation stack says is noted at once, since the thread goes on; what
//! lies in the memory of the instance is read when the text is made, before the next life takes it.

use crate::component as imports;
use crate::printer;
use crate::system::System;
use cairn::{DomainId, InstanceId};
use cairn_abi::address::{PAGE_SIZE, REGION_SIZE};
use cairn_abi::arch::trap::{
    PANIC_LENGTH_REGISTER, PANIC_MARK_REGISTER, PANIC_MESSAGE_REGISTER, RETURN_REGISTER,
    STACK_REGISTER,
};
use cairn_abi::descriptor::name_text;
use cairn_abi::record::Instance;
use cairn_abi::startup::{PANIC_MARK, PANIC_MESSAGE_MAXIMUM};
use cairn_abi::text::Visible;
use cairn_abi::thread::{FIELD_DOMAIN, FRAME_RA, TRAP_SEPC, thread_block, trap_register};
use cairn_supervisor::report;
use cairn_supervisor::stack::{Frame, Kind, Words};
use core::fmt::Write;

/// Calls that a report names.
const CALLS: usize = 6;
/// How far up the stack addresses of code are looked for, how many of them a report has, and how many a line.
const STACK_SPAN: u64 = 1024;
const STACK_WORDS: usize = 12;
const STACK_WORDS_OF_LINE: usize = 5;
/// Bytes that are shown of a function's name.
const NAME_SHOWN: usize = 160;
/// What is read at once, which lies in one page.
const PIECE: u64 = report::PIECE as u64;

/// What the registers of a fault say.
#[derive(Clone, Copy)]
pub struct Registers {
    pub pc: u64,
    pub stack: u64,
    link: u64,
    mark: u64,
    message: u64,
    length: u64,
}

impl Registers {
    pub const NONE: Registers =
        Registers { pc: 0, stack: 0, link: 0, mark: 0, message: 0, length: 0 };

    pub fn of(system: &System, frame: Frame) -> Registers {
        let word = |offset: i64| system.load(frame.header.wrapping_add_signed(offset)).unwrap_or(0);
        let register = |number: i64| word(trap_register(number));
        Registers {
            pc: word(TRAP_SEPC),
            stack: register(STACK_REGISTER),
            link: register(RETURN_REGISTER),
            mark: register(PANIC_MARK_REGISTER),
            message: register(PANIC_MESSAGE_REGISTER),
            length: register(PANIC_LENGTH_REGISTER),
        }
    }

    /// Whether a breakpoint is a panic.
    pub fn is_panic(&self) -> bool {
        self.mark == PANIC_MARK
    }
}

/// A call that had not come back: from where, and to where it returns.
#[derive(Clone, Copy)]
struct Call {
    from: DomainId,
    back: u64,
}

/// The calls by which a thread came into an instance, the innermost first.
#[derive(Clone, Copy)]
pub struct Calls {
    calls: [Option<Call>; CALLS],
    /// The domain in which the thread began.
    home: DomainId,
}

impl Calls {
    pub const NONE: Calls = Calls { calls: [None; CALLS], home: DomainId(0) };

    /// Those by which a thread came into a domain.
    pub fn of(system: &System, thread: u64, domain: DomainId) -> Calls {
        let word =
            |address: u64, offset| system.load(address.wrapping_add_signed(offset)).unwrap_or(0);
        let enters = Kind::Call { callee: domain };
        let frames = system.frames(thread).skip_while(|frame| frame.kind != enters);
        let frames = frames.filter(|frame| matches!(frame.kind, Kind::Call { .. }));
        let mut calls = Calls::NONE;
        for (place, frame) in calls.calls.iter_mut().zip(frames) {
            *place = Some(Call { from: frame.into, back: word(frame.header, FRAME_RA) });
        }
        let home = word(thread_block(thread as usize), FIELD_DOMAIN);
        Calls { home: DomainId::of_word(home).unwrap_or(DomainId(0)), ..calls }
    }
}

impl System {
    /// Says who called whom.
    pub fn tell_calls(&self, calls: &Calls) {
        let mut log = printer::log();
        for (place, call) in calls.calls.iter().flatten().enumerate() {
            let caller = self.name_of_domain(call.from, call.back);
            let _ = write!(log, "supervisor:   called by `{caller}` at ");
            // The call is the instruction before.
            self.tell_place(call.back, 1);
            if place == 0 && call.from != calls.home {
                let _ = write!(log, ", on behalf of `{}`", self.name(self.lives_in(calls.home)));
            }
            let _ = writeln!(log);
        }
    }

    /// The name of the instance in a domain whose code this is; of others, that of the first.
    fn name_of_domain(&self, domain: DomainId, code: u64) -> &'static str {
        let leader = self.lives_in(domain);
        let fellows = self.instance(leader).into_iter().flat_map(|leader| self.fellows(leader));
        let mut has = fellows.filter(|one| (code ^ one.start_address) < REGION_SIZE);
        has.next().map_or(self.name(leader), |one| name_text(&one.name))
    }

    /// Writes an address and the function that has the instruction `before` bytes before it.
    pub fn tell_place(&self, address: u64, before: u64) {
        let mut log = printer::log();
        let _ = match report::nearest_symbol(self.symbols, address.wrapping_sub(before)) {
            Some((symbol, offset)) => {
                let _ = write!(log, "{address:#x}, ");
                let mut shown = report::Shortened::new(&mut log, NAME_SHOWN);
                let _ = write!(shown, "{}", self.symbol_name(symbol));
                write!(log, "+{:#x}", offset + before)
            }
            None => write!(log, "{address:#x}, in no known function"),
        };
    }

    /// Writes the message of a panic, which the component can have made of any bytes, and be anywhere: at most so many bytes.
    pub fn tell_message(&self, instance: InstanceId, registers: &Registers, most: usize) {
        let mut log = report::Shortened::new(printer::log(), most);
        let length = registers.length.min(PANIC_MESSAGE_MAXIMUM as u64);
        let (mut at, mut left) = (registers.message, length);
        let mut text = report::Pieces::new();
        while left > 0 {
            let mut piece = [0; report::PIECE];
            if imports::MEMORY.peek(instance, at & !(PIECE - 1), &mut piece).is_err() {
                let _ = write!(log, "(a message that is not in its memory)");
                return;
            }
            let from = (at % PIECE) as usize;
            let count = left.min(PIECE - at % PIECE);
            let bytes = &piece[from..][..count as usize];
            (at, left) = (at.wrapping_add(count), left - count);
            let _ = write!(log, "{}", Visible(text.add(bytes, left == 0)));
        }
    }

    /// Says where on the stack there are addresses of code: with the file of the component the host knows which of them are those
    /// to which functions return.
    pub fn tell_stack(&self, instance: &Instance, registers: &Registers) {
        let mut log = printer::log();
        let Registers { pc, stack, link, .. } = *registers;
        let _ = write!(log, "supervisor:   stack {stack:#x}: pc {pc:#x}, ra {link:#x}");
        let is_code = |word: u64| {
            (word ^ instance.start_address) < REGION_SIZE
                && report::nearest_symbol(self.symbols, word.wrapping_sub(1)).is_some()
        };
        let (mut at, mut end) = (stack, stack.saturating_add(STACK_SPAN));
        let mut found = 0;
        while at < end && found < STACK_WORDS {
            let start = at & !(PIECE - 1);
            let mut piece = [0; report::PIECE];
            if imports::MEMORY.peek(instance.number, start, &mut piece).is_err() {
                if at != stack {
                    break;
                }
                // A full stack: its pointer is in the page without access.
                at = (at | (PAGE_SIZE - 1)).wrapping_add(1);
                end = at.saturating_add(STACK_SPAN);
                continue;
            }
            let (words, _) = piece.as_chunks::<8>();
            for (place, word) in (start..).step_by(8).zip(words) {
                let word = u64::from_le_bytes(*word);
                if place >= at && found < STACK_WORDS && is_code(word) {
                    if found % STACK_WORDS_OF_LINE == STACK_WORDS_OF_LINE - 1 {
                        // The comma says that the line goes on.
                        let _ = write!(log, ",\nsupervisor:   stack {stack:#x}: ");
                    } else {
                        let _ = write!(log, ", ");
                    }
                    let _ = write!(log, "+{:#x} {word:#x}", place.wrapping_sub(stack));
                    found += 1;
                }
            }
            at = start + PIECE;
        }
        let _ = writeln!(log);
    }
}
