//! Calls on a thread of their own, so that ctrl-C brings the prompt back whatever the callee does: the supervisor calls
//! the thread home then, and the shell goes on without it.

use crate::call::{BUFFER, BUFFERS};
use crate::{imports, listing};
use cairn::Error;
use cairn::call::{Call, REPLY_WORDS};
use cairn::exclusive::Exclusive;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces::{Thread, spawn};
use cairn_shell::method::{Argument, Arguments};
use cairn_shell::words::{Word, Words};
// Relaxed: the name of the thread is this thread's own.
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use heapless::Deque;

const CONTROL_C: u8 = 3;
/// The priority of the thread that calls: the shell's own.
const PRIORITY: u8 = 50;
/// Between two looks whether the call is back or ctrl-C was typed; doubles up to the longest.
const LOOK_FIRST_MICROSECONDS: u64 = 50;
const LOOK_MAXIMUM_MICROSECONDS: u64 = 20_000;
/// How long a new call waits for the last one to come home.
const PATIENCE_MICROSECONDS: u64 = 2_000_000;
/// Bytes that were typed and not looked at yet.
const TYPED: usize = 128;

/// What to call, and then what came back.
struct Errand {
    index: u32,
    arguments: Arguments,
    words: Words,
    back: Option<Answer>,
}

/// What came back.
pub struct Answer {
    pub status: i64,
    pub words: [u64; REPLY_WORDS],
    pub buffers: [[u8; BUFFER]; BUFFERS],
}

/// How a call ended.
// It lives for one call; there is no heap for what it holds.
#[allow(clippy::large_enum_variant)]
pub enum Outcome<T> {
    /// It came back.
    Back(T),
    /// Ctrl-C was typed: its thread has been called home.
    Left,
    /// The last call is not back yet.
    Busy,
}

impl Outcome<()> {
    /// With what the thread brought.
    pub fn with<T>(self, take: impl FnOnce() -> Option<T>) -> Outcome<T> {
        match self {
            Outcome::Back(()) => take().map_or(Outcome::Busy, Outcome::Back),
            Outcome::Left => Outcome::Left,
            Outcome::Busy => Outcome::Busy,
        }
    }
}

// One at a time has each, and what else `perform` works with: the shell, until the thread begins and after it has said that it
// is back; the thread, between these.
static WORK: Exclusive<fn()> = Exclusive::new(|| {});
static ERRAND: Exclusive<Errand> = Exclusive::new(Errand {
    index: 0,
    arguments: Arguments::new(),
    words: Words::new(),
    back: None,
});
static IS_BACK: AtomicBool = AtomicBool::new(true);
/// The name of the last thread that called.
static THREAD: AtomicU64 = AtomicU64::new(0);
static STACK: Stack<24576> = Stack::new();
static KEPT: Exclusive<Deque<u8, TYPED>> = Exclusive::new(Deque::new());

/// Keeps what was typed until its turn comes; what there is no room for is lost.
pub fn keep(bytes: &[u8]) {
    KEPT.with(|kept| {
        for byte in bytes {
            let _ = kept.push_back(*byte);
        }
    });
}

/// What was typed next.
pub fn next_typed() -> Option<u8> {
    KEPT.with(Deque::pop_front)
}

/// Makes a call, with the numbers, texts and buffers of `arguments`.
pub fn call(index: u32, arguments: &[Argument], words: &[Word]) -> Outcome<Answer> {
    // A call that reads from the console must not find that this does so, too.
    if is_console(index) {
        return Outcome::Back(make(index, arguments, words));
    }
    let prepare = || {
        ERRAND.with(|errand| {
            errand.index = index;
            errand.arguments = arguments.iter().copied().collect();
            errand.words = words.iter().cloned().collect();
            errand.back = None;
        });
    };
    perform(prepare, run_errand).with(|| ERRAND.with(|errand| errand.back.take()))
}

/// Does `work` on the thread, when the last one is back, and what it needs is prepared.
pub fn perform(prepare: impl FnOnce(), work: fn()) -> Outcome<()> {
    if !IS_BACK.load(Ordering::Acquire) {
        // It may not have left yet when it was called home.
        let _ = imports::SUPERVISOR.call_home(THREAD.load(Ordering::Relaxed));
    }
    if !wait(PATIENCE_MICROSECONDS) {
        return Outcome::Busy;
    }
    prepare();
    WORK.with(|next| *next = work);
    IS_BACK.store(false, Ordering::Release);
    let Ok(thread) = begin() else {
        // The description gives the shell one thread only.
        run(0);
        return Outcome::Back(());
    };
    if !wait(u64::MAX) {
        // The supervisor does what it can; without it nothing can be done.
        let _ = imports::SUPERVISOR.call_home(thread.name());
        return Outcome::Left;
    }
    Outcome::Back(())
}

/// Begins the thread, when the last one, which has nothing more to do, has left the stack.
fn begin() -> Result<Thread, Error> {
    // Nobody's if there was none.
    let _ = imports::THREADS.join(THREAD.load(Ordering::Relaxed));
    let thread = spawn(imports::THREADS, &STACK, run, 0, PRIORITY)?;
    THREAD.store(thread.name(), Ordering::Relaxed);
    Ok(thread)
}

/// Waits until the thread is back; false if ctrl-C was typed before, or the time is over.
fn wait(microseconds: u64) -> bool {
    let begin = now();
    let mut pause = LOOK_FIRST_MICROSECONDS;
    // The other thread of this priority first.
    let _ = imports::THREADS.yield_now();
    while !IS_BACK.load(Ordering::Acquire) {
        if is_control_c_typed() || (now() - begin) / ticks(1) > microseconds {
            return IS_BACK.load(Ordering::Acquire);
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(pause));
        pause = (pause * 2).min(LOOK_MAXIMUM_MICROSECONDS);
    }
    true
}

/// Whether ctrl-C was typed; what was typed before it is forgotten, as in a line.
fn is_control_c_typed() -> bool {
    let mut bytes = [0; 16];
    let count = imports::CONSOLE.try_read(&mut bytes).unwrap_or(0);
    keep(&bytes[..count.min(bytes.len())]);
    KEPT.with(|kept| {
        let is_typed = kept.iter().any(|byte| *byte == CONTROL_C);
        while is_typed && kept.pop_front().is_some_and(|byte| byte != CONTROL_C) {}
        is_typed
    })
}

fn is_console(index: u32) -> bool {
    let component = |portal: u32| {
        let mut found = None;
        listing::server_of(portal, |export| {
            found = export.split('.').next().and_then(|name| Word::try_from(name).ok());
        });
        found
    };
    let console = component(imports::CONSOLE.first_portal());
    console.is_some() && component(index) == console
}

fn run(_: u64) {
    WORK.with(|work| *work)();
    IS_BACK.store(true, Ordering::Release);
}

fn run_errand() {
    let (index, arguments, words) = ERRAND.with(|errand| {
        (errand.index, errand.arguments.clone(), core::mem::take(&mut errand.words))
    });
    let answer = make(index, &arguments, &words);
    ERRAND.with(|errand| errand.back = Some(answer));
}

fn make(index: u32, arguments: &[Argument], words: &[Word]) -> Answer {
    let mut buffers = [[0; BUFFER]; BUFFERS];
    let mut unused = buffers.iter_mut();
    let mut call = Call::new();
    for argument in arguments {
        match argument {
            Argument::Number(number) => call.word(*number),
            Argument::Text(position) => call.bytes(words[*position].as_bytes()),
            Argument::Skip => call.skip(),
            Argument::Buffer => {
                if let Some(buffer) = unused.next() {
                    call.bytes_mut(buffer);
                }
            }
        }
    }
    let (status, words) = call.invoke(index);
    Answer { status, words, buffers }
}

/// Why there is no answer, for people.
pub const fn refusal<T>(outcome: &Outcome<T>) -> Option<&'static str> {
    match outcome {
        Outcome::Back(_) => None,
        Outcome::Left => Some("error: left alone: the call has been asked to come back"),
        Outcome::Busy => Some("error: the last call has not come back yet"),
    }
}
