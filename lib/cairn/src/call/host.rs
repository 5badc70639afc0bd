//! On the host there are no portals: a test sets what answers instead.

extern crate std;

use super::{REGISTERS, REPLY_WORDS};
use crate::Error;
use crate::expansion::{Rest, Wide};
use crate::interpose::{Interposer, serve};
use cairn_abi::descriptor::Reply;
use std::boxed::Box;
use std::cell::{Cell, RefCell};

/// Answers a call: index of the portal, the argument registers.
pub type Answer = Box<dyn Fn(u64, [u64; REGISTERS]) -> Reply>;

std::thread_local! {
    static ANSWER: RefCell<Option<Answer>> = const { RefCell::new(None) };
    /// `a2` to `a4` behind the last answer.
    static REST: Cell<Rest> = const { Cell::new([GARBAGE; REPLY_WORDS - 1]) };
}

const GARBAGE: u64 = 0xdead_beef_dead_beef;

/// Lets `answer` stand for all portals of this thread.
pub fn answer_with(answer: impl Fn(u64, [u64; REGISTERS]) -> Reply + 'static) {
    ANSWER.with(|slot| *slot.borrow_mut() = Some(Box::new(answer)));
}

pub(super) fn invoke<const WORDS: usize>(index: u64, words: &[u64; REGISTERS]) -> Reply {
    // What the method has no register for arrives as garbage, as on the machine.
    let mut passed = [GARBAGE; REGISTERS];
    passed[1..WORDS.max(1)].copy_from_slice(&words[1..WORDS.max(1)]);
    ANSWER.with(|slot| match &*slot.borrow() {
        Some(answer) => answer(index, passed),
        None => Reply { status: Error::NoPortal.status(), value: 0 },
    })
}

/// There are no stubs.
pub(super) type Stubs = [Option<u8>; 0];

pub(super) const fn stubs<const FIRST: u32, const METHODS: u32>(
    _minimal: bool,
) -> Option<&'static Stubs> {
    None
}

pub(super) fn invoke_stub<const WORDS: usize>(_stub: u8, words: &[u64; REGISTERS]) -> Reply {
    invoke::<WORDS>(0, words)
}

pub(super) fn invoke_wide_stub<const WORDS: usize>(
    _stub: u8,
    words: &[u64; REGISTERS],
) -> (i64, [u64; REPLY_WORDS]) {
    invoke_wide::<WORDS>(0, words)
}

pub(super) fn invoke_minimal<const WORDS: usize>(index: u64, words: &[u64; REGISTERS]) -> Reply {
    invoke::<WORDS>(index, words)
}

/// For an answer: the words of its reply behind the value.
pub fn answer_rest(rest: Rest) {
    REST.set(rest);
}

pub(super) fn invoke_wide<const WORDS: usize>(
    index: u64,
    words: &[u64; REGISTERS],
) -> (i64, [u64; REPLY_WORDS]) {
    REST.set([GARBAGE; REPLY_WORDS - 1]);
    let Reply { status, value } = invoke::<WORDS>(index, words);
    let [second, third, fourth] = REST.get();
    (status, [value, second, third, fourth])
}

pub(super) fn invoke_wide_minimal<const WORDS: usize>(
    index: u64,
    words: &[u64; REGISTERS],
) -> (i64, [u64; REPLY_WORDS]) {
    invoke_wide::<WORDS>(index, words)
}

/// What an interposer passes on.
pub(crate) fn pass_on(index: u64, words: &[u64; REGISTERS]) -> (i64, [u64; REPLY_WORDS]) {
    invoke_wide::<REGISTERS>(index, words)
}

/// An interposer's entry point: nobody enters it here.
pub(crate) extern "C" fn entrance<I: Interposer>(registers: &mut [u64; REGISTERS]) {
    serve::<I>(registers);
}

/// A skeleton whose rest is where a proxy of this thread finds it.
#[allow(clippy::too_many_arguments)]
pub(crate) extern "C" fn wide<W: Wide>(
    a0: u64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    a6: u64,
    a7: u64,
) -> Reply {
    let mut rest = [GARBAGE; REPLY_WORDS - 1];
    let reply = W::serve(a0, a1, a2, a3, a4, a5, a6, a7, &mut rest);
    REST.set(rest);
    reply
}
