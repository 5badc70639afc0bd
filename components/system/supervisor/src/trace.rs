//! How a thread came to where an instance died. What its invocation stack says is noted at once, since the thread goes on; what
//! lies in the memory of the instance is read before the next life takes that.

use crate::component as imports;
use crate::printer;
use crate::system::System;
use cairn::{DomainId, InstanceId};
use cairn_abi::address::{KERNEL, PAGE_SIZE, REGION_SIZE};
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
use cairn_supervisor::stack::{Kind, Words};
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

    /// Reads those in a frame of a trap, by its header.
    pub fn read(&mut self, system: &System, frame: u64) {
        let word = |offset: i64| system.load(frame.wrapping_add_signed(offset)).unwrap_or(0);
        let register = |number: i64| word(trap_register(number));
        self.pc = word(TRAP_SEPC);
        self.stack = register(STACK_REGISTER);
        self.link = register(RETURN_REGISTER);
        self.mark = register(PANIC_MARK_REGISTER);
        self.message = register(PANIC_MESSAGE_REGISTER);
        self.length = register(PANIC_LENGTH_REGISTER);
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
    calls: [Call; CALLS],
    count: usize,
    /// The domain in which the thread began.
    home: DomainId,
}

impl Calls {
    pub const NONE: Calls =
        Calls { calls: [Call { from: DomainId(0), back: 0 }; CALLS], count: 0, home: DomainId(0) };

    /// Reads those by which a thread came into a domain.
    pub fn read(&mut self, system: &System, from: Option<(u64, DomainId)>) {
        self.count = 0;
        let Some((thread, domain)) = from else { return };
        let word =
            |address: u64, offset| system.load(address.wrapping_add_signed(offset)).unwrap_or(0);
        let enters = Kind::Call { callee: domain };
        let frames = system.frames(thread).skip_while(|frame| frame.kind != enters);
        let frames = frames.filter(|frame| matches!(frame.kind, Kind::Call { .. }));
        for (place, frame) in self.calls.iter_mut().zip(frames) {
            // Of a thread that is called home the nucleus has moved it into the other half (`divert`).
            let caller = system.instance(system.lives_in(frame.into));
            let half = caller.map_or(0, |caller| caller.start_address & KERNEL);
            let back = word(frame.header, FRAME_RA) & !KERNEL | half;
            *place = Call { from: frame.into, back };
            self.count += 1;
        }
        let home = word(thread_block(thread as usize), FIELD_DOMAIN);
        self.home = DomainId::of_word(home).unwrap_or(DomainId(0));
    }
}

/// What lay on a stack that may be where a function returns to.
#[derive(Clone, Copy)]
pub struct StackWords {
    /// How far above the stack pointer, and the address.
    words: [(u64, u64); STACK_WORDS],
    count: usize,
}

impl StackWords {
    pub const NONE: StackWords = StackWords { words: [(0, 0); STACK_WORDS], count: 0 };

    /// Adds one, if there is room.
    fn add(&mut self, offset: u64, word: u64) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = (offset, word);
            self.count += 1;
        }
    }
}

impl System {
    /// Says who called whom.
    pub fn tell_calls(&self, calls: &Calls) {
        let mut log = printer::log();
        for (place, call) in calls.calls.iter().take(calls.count).enumerate() {
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
        let fellows = self.together(leader);
        let mut has = fellows.filter(|one| (code ^ one.start_address) < REGION_SIZE);
        has.next().map_or(self.name(leader), |one| name_text(&one.name))
    }

    /// The package that is the content of the instance that has this address; its image begins at `package`. Its functions have no names here,
    /// and what was there before had others.
    fn package_at(&self, address: u64) -> Option<&'static Instance> {
        let mut all = self.instances(0);
        all.find(|one| one.package != 0 && (address ^ one.start_address) < REGION_SIZE)
    }

    /// Writes an address and the function that has the instruction `before` bytes before it.
    pub fn tell_place(&self, address: u64, before: u64) {
        let mut log = printer::log();
        if let Some(content) = self.package_at(address) {
            let at = address.wrapping_sub(before).wrapping_sub(content.package);
            let _ =
                write!(log, "{address:#x}, {at:#x} of the package {:016x}", content.package_hash);
            return;
        }
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
        let mut log = report::Shortened::new(printer::others_text(), most);
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

    /// Looks where on the stack there are addresses of code: with the file of the component the host knows which of them are those
    /// to which functions return.
    pub fn stack_words(&self, instance: &Instance, stack: u64) -> StackWords {
        let is_code = |word: u64| {
            (word ^ instance.start_address) < REGION_SIZE
                && report::nearest_symbol(self.symbols, word.wrapping_sub(1)).is_some()
        };
        let mut found = StackWords::NONE;
        let (mut at, mut end) = (stack, stack.saturating_add(STACK_SPAN));
        while at < end && found.count < STACK_WORDS {
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
                if place >= at && is_code(word) {
                    found.add(place.wrapping_sub(stack), word);
                }
            }
            at = start + PIECE;
        }
        found
    }

    /// Says what was found on the stack.
    pub fn tell_stack(&self, registers: &Registers, found: &StackWords) {
        let mut log = printer::log();
        let Registers { pc, stack, link, .. } = *registers;
        if self.package_at(pc).is_some() {
            let _ = write!(log, "supervisor:   ra ");
            self.tell_place(link, 1);
            let _ = writeln!(log);
            return;
        }
        let _ = write!(log, "supervisor:   stack {stack:#x}: pc {pc:#x}, ra {link:#x}");
        for (place, (offset, word)) in found.words.iter().take(found.count).enumerate() {
            if place % STACK_WORDS_OF_LINE == STACK_WORDS_OF_LINE - 1 {
                // The comma says that the line goes on.
                let _ = write!(log, ",\nsupervisor:   stack {stack:#x}: ");
            } else {
                let _ = write!(log, ", ");
            }
            let _ = write!(log, "+{offset:#x} {word:#x}");
        }
        let _ = writeln!(log);
    }
}
