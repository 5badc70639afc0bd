//! What processes do with signals: those of their own faults, and those that others send.

use crate::arch::{ARGUMENT, RETURNS_TO, STACK, frame};
use crate::memory::{Machine, RETURN};
use crate::process::{Process, State};
use cairn::process::FloatingPoint;
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;

/// Signals there are.
pub const SIGNALS: u32 = 64;
/// What a program says instead of a handler: what is usual, and nothing.
const DEFAULT: u64 = 0;
const IGNORED: u64 = 1;

/// What a process does with a signal.
#[derive(Clone, Copy, Default)]
pub struct Action {
    /// Where its handler begins, or what it does without.
    pub handler: u64,
    /// As it was said.
    pub flags: u64,
    /// Those that wait while it runs.
    pub mask: u64,
}

/// Who sends a signal, and why.
#[derive(Clone, Copy, Default)]
pub struct Cause {
    /// The code in `siginfo`.
    pub code: i32,
    /// The sender's number, or the address of a fault.
    pub word: u64,
}

/// What a process does with all of them.
#[derive(Clone)]
pub struct Signals {
    actions: [Action; SIGNALS as usize],
    causes: [Cause; SIGNALS as usize],
    /// Those that wait until they are let through.
    pub blocked: u64,
    /// Those that have come.
    pub pending: u64,
    /// Which are to be blocked when the handler of one has returned that a call let through.
    pub restored: Option<u64>,
    /// Where handlers have their stack that ask for it, its flags, and its bytes.
    pub stack: (u64, u32, u64),
}

impl Default for Signals {
    fn default() -> Signals {
        let actions = [Action::default(); SIGNALS as usize];
        let causes = [Cause::default(); SIGNALS as usize];
        let stack = (0, SS_DISABLE, 0);
        Signals { actions, causes, blocked: 0, pending: 0, restored: None, stack }
    }
}

/// The bit of a signal in a mask.
pub fn bit(signal: u32) -> u64 {
    1 << (signal - 1)
}

/// What nobody can block.
pub const ALWAYS: u64 = 1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1);
const STOPPING: u64 =
    1 << (SIGSTOP - 1) | 1 << (SIGTSTP - 1) | 1 << (SIGTTIN - 1) | 1 << (SIGTTOU - 1);
const USUALLY_IGNORED: u64 =
    1 << (SIGCHLD - 1) | 1 << (SIGCONT - 1) | 1 << (SIGURG - 1) | 1 << (SIGWINCH - 1);

impl Signals {
    /// What is done with one.
    pub fn action(&mut self, signal: u64) -> Result<&mut Action> {
        let place = signal.checked_sub(1).ok_or(Errno::EINVAL)?;
        self.actions
            .get_mut(usize::try_from(place).map_err(|_| Errno::EINVAL)?)
            .ok_or(Errno::EINVAL)
    }

    /// Whether nothing comes of one.
    pub fn ignores(&self, signal: u32) -> bool {
        match self.actions[signal as usize - 1].handler {
            IGNORED => bit(signal) & ALWAYS == 0,
            DEFAULT => bit(signal) & USUALLY_IGNORED != 0,
            _ => false,
        }
    }

    /// One comes.
    pub fn send(&mut self, signal: u32, cause: Cause) {
        if signal == SIGCONT {
            self.pending &= !STOPPING;
        } else if bit(signal) & STOPPING != 0 {
            self.pending &= !bit(SIGCONT);
        }
        if !self.ignores(signal) {
            self.pending |= bit(signal);
            self.causes[signal as usize - 1] = cause;
        }
    }

    /// A new program begins: handlers are gone, what is ignored stays so.
    pub fn begin_program(&mut self) {
        for action in &mut self.actions {
            let handler = if action.handler == IGNORED { IGNORED } else { DEFAULT };
            *action = Action { handler, ..Action::default() };
        }
        self.stack = (0, SS_DISABLE, 0);
    }

    /// Whether one waits for its process to take it.
    pub fn has_come(&self) -> bool {
        self.pending & !self.blocked != 0
    }

    /// Whether the one that cannot be handled has come.
    pub fn is_killed(&self) -> bool {
        self.pending & bit(SIGKILL) != 0
    }

    /// Whether nobody asks for children that have ended.
    pub fn lets_children_go(&self) -> bool {
        let action = &self.actions[SIGCHLD as usize - 1];
        action.handler == IGNORED || action.flags & u64::from(SA_NOCLDWAIT) != 0
    }

    /// Takes one of a set, blocked or not.
    pub fn take_of(&mut self, set: u64) -> Option<(u32, Cause)> {
        let found = self.pending & set;
        (found != 0).then(|| {
            let signal = found.trailing_zeros() + 1;
            self.pending &= !bit(signal);
            (signal, self.causes[signal as usize - 1])
        })
    }

    /// Takes the first one.
    fn take(&mut self) -> Option<(u32, Cause)> {
        let pending = self.pending & !self.blocked;
        (pending != 0).then(|| {
            let signal = pending.trailing_zeros() + 1;
            self.pending &= !bit(signal);
            (signal, self.causes[signal as usize - 1])
        })
    }
}

/// What becomes of a process that takes its signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It goes on, in a handler perhaps.
    Goes,
    /// It stops.
    Stops(u32),
    /// It ends by that signal.
    Ends(u32),
}

/// Has a process take the signals that have come. A call in which it waits is made again behind a handler, or answers `EINTR`.
pub fn take(process: &mut Process, machine: &mut Machine, is_repeated: bool) -> Taken {
    while let Some((signal, cause)) = process.signals.take() {
        let action = process.signals.actions[signal as usize - 1];
        match action.handler {
            DEFAULT | IGNORED => {
                if process.signals.ignores(signal) {
                    continue;
                }
                if bit(signal) & STOPPING != 0 {
                    return Taken::Stops(signal);
                }
                return Taken::Ends(signal);
            }
            _ => {
                if matches!(process.state, State::Waits(_)) {
                    let repeats = is_repeated && action.flags & u64::from(SA_RESTART) != 0;
                    process.state = State::Ready;
                    process.until = None;
                    if !repeats {
                        process.registers.set(ARGUMENT, Errno::EINTR.word());
                        process.registers.skip_call();
                    }
                }
                if enter(process, machine, (signal, cause), action).is_err() {
                    return Taken::Ends(SIGSEGV);
                }
            }
        }
    }
    if let Some(mask) = process.signals.restored.filter(|_| process.state == State::Ready) {
        // No handler has run whose end would restore it.
        process.signals.blocked = mask;
        process.signals.restored = None;
    }
    Taken::Goes
}

/// A fault of the instruction where a process stands: it cannot be ignored, nor wait.
pub fn fault(process: &mut Process, signal: u32, cause: Cause) {
    let signals = &mut process.signals;
    let place = signal as usize - 1;
    if signals.blocked & bit(signal) != 0 || signals.actions[place].handler == IGNORED {
        signals.actions[place] = Action::default();
        signals.blocked &= !bit(signal);
    }
    signals.pending |= bit(signal);
    signals.causes[place] = cause;
}

/// The process goes on in a handler.
fn enter(
    process: &mut Process,
    machine: &mut Machine,
    (signal, cause): (u32, Cause),
    action: Action,
) -> Result<()> {
    let has = |flag: u32| action.flags & u64::from(flag) != 0;
    let pointer = process.registers.get(STACK);
    let (base, state, size) = process.signals.stack;
    let is_inside = pointer.wrapping_sub(base) < size;
    let top = match has(SA_ONSTACK) && state & SS_DISABLE == 0 && !is_inside {
        true => base.wrapping_add(size),
        false => pointer,
    };
    let at = top.checked_sub(frame::SIZE).ok_or(Errno::EFAULT)? & !15;
    let mut bytes = [0; frame::SIZE as usize];
    let mut put =
        |place: u64, word: &[u8]| bytes[place as usize..][..word.len()].copy_from_slice(word);
    put(0, &signal.to_le_bytes());
    put(8, &cause.code.to_le_bytes());
    put(16, &cause.word.to_le_bytes());
    put(frame::STACK, &base.to_le_bytes());
    put(frame::STACK + 8, &state.to_le_bytes());
    put(frame::STACK + 16, &size.to_le_bytes());
    let restored = process.signals.restored.take().unwrap_or(process.signals.blocked);
    put(frame::MASK, &restored.to_le_bytes());
    put(frame::REGISTERS, &process.registers.counter.to_le_bytes());
    for number in 1..32 {
        put(frame::REGISTERS + number * 8, &process.registers.get(number as usize).to_le_bytes());
    }
    if let Some(float) = &process.float {
        for (place, word) in (0..).zip(&float.registers) {
            put(frame::FLOAT + place * 8, &word.to_le_bytes());
        }
        put(frame::STATUS, &(float.control as u32).to_le_bytes());
    }
    process.write(machine, at, &bytes)?;
    process.registers.set(STACK, at);
    process.registers.set(RETURNS_TO, RETURN);
    process.registers.set(ARGUMENT, signal.into());
    process.registers.set(ARGUMENT + 1, at);
    process.registers.set(ARGUMENT + 2, at + frame::CONTEXT);
    process.registers.counter = action.handler;
    process.signals.blocked |= action.mask & !ALWAYS;
    if !has(SA_NODEFER) {
        process.signals.blocked |= bit(signal);
    }
    if has(SA_RESETHAND) {
        process.signals.actions[signal as usize - 1] = Action::default();
    }
    Ok(())
}

/// A handler has come back: the process goes on with what lies on its stack.
pub fn leave(process: &mut Process, machine: &mut Machine) -> Result<()> {
    let at = process.registers.get(STACK);
    let mut bytes = [0; frame::SIZE as usize];
    process.read(machine, at, &mut bytes)?;
    let word = |place: u64| {
        u64::from_le_bytes(
            *bytes[place as usize..].first_chunk().expect("it is inside of the frame"),
        )
    };
    process.signals.blocked = word(frame::MASK) & !ALWAYS;
    process.registers.counter = word(frame::REGISTERS) & !1;
    (1..32).for_each(|number| {
        process.registers.set(number, word(frame::REGISTERS + number as u64 * 8));
    });
    if process.float.is_some() {
        let registers = core::array::from_fn(|place| word(frame::FLOAT + place as u64 * 8));
        process.float =
            Some(FloatingPoint { registers, control: word(frame::STATUS) & frame::STATUS_BITS });
    }
    Ok(())
}
