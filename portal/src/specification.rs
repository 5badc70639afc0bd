//! Portal specifications: the short strings that fix a portal's code (Pebble, USENIX 1999,
//! section "Portal Specification").

use crate::parameter::Parameters;
use core::fmt;

/// Most argument words of a portal: the argument registers of the C convention.
pub const WORDS_MAXIMUM: usize = 8;
/// Most words of a reply: the status in `a0` has as many behind it.
pub const REPLY_MAXIMUM: usize = 4;
/// Most windows of a portal.
pub const WINDOWS_MAXIMUM: usize = cairn_abi::address::WINDOW_SLOTS;

/// First letter: the stack on which the callee runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// `s`: the caller's, which lies in a stack group of both.
    Shared,
    /// `n`: a new one, from the callee's stack queue.
    New,
    /// `r`: the callee's one stack, interrupts off, to completion.
    RunToCompletion,
    /// `k`: the thread's own in the kernel domain, where the callee runs.
    Kernel,
}

/// Second letter: the state that the portal keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// `m`: minimal; the callee keeps what the C convention preserves.
    Minimal,
    /// `p`: partial; the portal keeps that, and clears the rest.
    Partial,
    /// `d`: discarded; the caller does not come back. Only from one run-to-completion component
    /// to another.
    Discarded,
    /// `k`: of a caller in the kernel domain, whose space is that of whoever its thread came from: what the convention
    /// preserves, that space, and how far the thread's stack there is in use.
    Kernel,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    /// `i`: a word.
    Word,
    /// `c`: the server's constant.
    Constant,
    /// `r`: bytes the callee reads.
    Read,
    /// `w`: bytes the callee reads and writes.
    Write,
    /// `=`: the portal's index.
    Index,
    /// `a`: the caller.
    Caller,
    /// `t`: the calling thread.
    Thread,
    /// `h`: the time.
    Time,
    /// `A` to `Z`: a type that was registered ([`Parameter`](crate::Parameter)).
    Registered {
        /// The letter.
        letter: u8,
        /// Its argument registers.
        words: u8,
    },
}

impl Letter {
    /// Argument registers that the parameter takes.
    pub const fn words(self) -> usize {
        match self {
            Letter::Read | Letter::Write => 2,
            Letter::Registered { words, .. } => words as usize,
            _ => 1,
        }
    }

    /// Whether it is memory, which takes a window slot.
    pub const fn is_window(self) -> bool {
        matches!(self, Letter::Read | Letter::Write)
    }
}

/// A parsed specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specification {
    /// The stack.
    pub stack: Stack,
    /// The state.
    pub state: State,
    letters: [Letter; WORDS_MAXIMUM],
    count: u8,
    reply: u8,
}

/// Why a specification is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The string ends before stack and state letters.
    TooShort,
    /// Not `s`, `n` or `r`.
    UnknownStack,
    /// Not `m`, `p`, `d` or `k`.
    UnknownState,
    /// Not a parameter letter.
    UnknownLetter,
    /// More than eight words.
    TooManyWords,
    /// More windows than an activation has slots.
    TooManyWindows,
    /// The number of a reply's words is not 2 to 4, or not the last letter.
    BadReply,
    /// Run-to-completion callees take no memory, `d` goes only with `r`, `m` never does; `k` never goes with `s`.
    Impossible,
}

/// A refused specification: why, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecificationError {
    /// Byte offset in the string.
    pub at: usize,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for SpecificationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.reason {
            Reason::TooShort => {
                "expected a stack letter (s, n, r, k) and a state letter (m, p, d, k)"
            }
            Reason::UnknownStack => {
                "expected a stack letter: s (shared), n (new), r (run to completion) or k (kernel)"
            }
            Reason::UnknownState => {
                "expected a state letter: m (minimal), p (partial), d (discarded) or k (kernel)"
            }
            Reason::UnknownLetter => {
                "expected a parameter letter: one of i c r w = a t h, or a registered one"
            }
            Reason::TooManyWords => "more than 8 argument words (r and w take two)",
            Reason::TooManyWindows => "more than 3 parameters of r and w",
            Reason::BadReply => "a reply of more than one word is the last letter: 2, 3 or 4",
            Reason::Impossible => {
                "r goes with p, d or k and takes no r or w; d goes only with r, and k never with s"
            }
        };
        write!(formatter, "portal specification, character {}: {text}", self.at + 1)
    }
}

impl Specification {
    /// Reads a specification such as `smcwi`.
    pub fn parse(text: &str) -> Result<Specification, SpecificationError> {
        let bytes = text.as_bytes();
        let error = |at, reason| Err(SpecificationError { at, reason });
        let [stack, state, letters @ ..] = bytes else {
            return error(bytes.len(), Reason::TooShort);
        };
        let stack = match stack {
            b's' => Stack::Shared,
            b'n' => Stack::New,
            b'r' => Stack::RunToCompletion,
            b'k' => Stack::Kernel,
            _ => return error(0, Reason::UnknownStack),
        };
        let state = match state {
            b'm' => State::Minimal,
            b'p' => State::Partial,
            b'd' => State::Discarded,
            b'k' => State::Kernel,
            _ => return error(1, Reason::UnknownState),
        };
        let is_possible = match (stack, state) {
            (Stack::RunToCompletion, state) => state != State::Minimal,
            (Stack::Shared, State::Kernel) | (_, State::Discarded) => false,
            _ => true,
        };
        if !is_possible {
            return error(1, Reason::Impossible);
        }
        Specification::without_letters(stack, state).with_letters(letters)
    }

    /// One without parameters.
    pub const fn without_letters(stack: Stack, state: State) -> Specification {
        Specification { stack, state, letters: [Letter::Word; WORDS_MAXIMUM], count: 0, reply: 1 }
    }

    /// The same stack and state with these parameter letters.
    pub fn with_letters(self, letters: &[u8]) -> Result<Specification, SpecificationError> {
        self.with_types(letters, &Parameters::NONE)
    }

    /// The same when there are registered letters.
    pub fn with_types(
        mut self,
        letters: &[u8],
        types: &Parameters,
    ) -> Result<Specification, SpecificationError> {
        (self.count, self.reply) = (0, 1);
        let mut words = 0;
        let mut windows = 0;
        for (position, byte) in letters.iter().enumerate() {
            let at = position + 2;
            let letter = match byte {
                b'i' => Letter::Word,
                b'c' => Letter::Constant,
                b'r' => Letter::Read,
                b'w' => Letter::Write,
                b'=' => Letter::Index,
                b'a' => Letter::Caller,
                b't' => Letter::Thread,
                b'h' => Letter::Time,
                letter => match types.get(*letter) {
                    Some(found) => Letter::Registered { letter: *letter, words: found.words },
                    None => {
                        self.reply = reply_words(*letter, position + 1 == letters.len())
                            .map_err(|reason| SpecificationError { at, reason })?;
                        continue;
                    }
                },
            };
            words += letter.words();
            if words > WORDS_MAXIMUM {
                return Err(SpecificationError { at, reason: Reason::TooManyWords });
            }
            windows += usize::from(letter.is_window());
            if windows > WINDOWS_MAXIMUM {
                return Err(SpecificationError { at, reason: Reason::TooManyWindows });
            }
            if letter.is_window() && self.stack == Stack::RunToCompletion {
                return Err(SpecificationError { at, reason: Reason::Impossible });
            }
            self.letters[self.count as usize] = letter;
            self.count += 1;
        }
        Ok(self)
    }

    /// The parameters.
    pub fn letters(&self) -> &[Letter] {
        &self.letters[..self.count as usize]
    }

    /// Argument words.
    pub fn words(&self) -> usize {
        self.letters().iter().map(|letter| letter.words()).sum()
    }

    /// Parameters that are windows.
    pub fn windows(&self) -> usize {
        self.letters().iter().filter(|letter| letter.is_window()).count()
    }

    /// Words of the reply behind its status.
    pub fn reply(&self) -> usize {
        self.reply.into()
    }

    /// What a return portal's code depends on: stack, state, words of the reply, and the parameters that a way back has to look at. Two
    /// specifications of the same shape have the same return portal.
    pub fn shape(&self) -> u64 {
        // The first bit tells how many letters follow.
        let reply = u64::from(self.reply) - 1;
        let kinds = 1 << 6 | reply << 4 | (self.stack as u64) << 2 | self.state as u64;
        self.letters().iter().fold(kinds, |shape, letter| match letter {
            Letter::Read => shape << 5 | 27,
            Letter::Write => shape << 5 | 28,
            Letter::Registered { letter, .. } => shape << 5 | u64::from(letter - b'A' + 1),
            _ => shape,
        })
    }

    /// Whether both ends are in the kernel domain, and neither runs to completion.
    pub fn is_inside_kernel(&self) -> bool {
        self.stack == Stack::Kernel && self.state == State::Kernel
    }

    /// Whether the way back has nothing to do but to take the frame off.
    pub fn only_pops(&self) -> bool {
        let is_looked_at =
            |letter: &Letter| letter.is_window() || matches!(letter, Letter::Registered { .. });
        self.is_inside_kernel() && !self.letters().iter().any(is_looked_at)
    }

    /// Whether a call takes an activation from the callee's stack queue.
    pub fn takes_activation(&self) -> bool {
        self.stack == Stack::New || self.stack == Stack::Shared && self.windows() > 0
    }
}

/// The words of a reply, as a letter says, which has to be the last.
fn reply_words(letter: u8, is_last: bool) -> Result<u8, Reason> {
    match letter {
        b'2'..=b'4' if is_last => Ok(letter - b'0'),
        b'0'..=b'9' => Err(Reason::BadReply),
        _ => Err(Reason::UnknownLetter),
    }
}
const _: () = assert!(REPLY_MAXIMUM == 4);

impl fmt::Display for Specification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stack = match self.stack {
            Stack::Shared => 's',
            Stack::New => 'n',
            Stack::RunToCompletion => 'r',
            Stack::Kernel => 'k',
        };
        let state = match self.state {
            State::Minimal => 'm',
            State::Partial => 'p',
            State::Discarded => 'd',
            State::Kernel => 'k',
        };
        write!(formatter, "{stack}{state}")?;
        for letter in self.letters() {
            let text = match letter {
                Letter::Word => 'i',
                Letter::Constant => 'c',
                Letter::Read => 'r',
                Letter::Write => 'w',
                Letter::Index => '=',
                Letter::Caller => 'a',
                Letter::Thread => 't',
                Letter::Time => 'h',
                Letter::Registered { letter, .. } => char::from(*letter),
            };
            write!(formatter, "{text}")?;
        }
        if self.reply > 1 {
            write!(formatter, "{}", self.reply)?;
        }
        Ok(())
    }
}
