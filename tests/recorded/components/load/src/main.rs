//! Calls the greeter by two threads at a time, when it is called itself. Once it keeps what each call was answered; later it says how many answers
//! are others.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::text::Line;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::Threads;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "recorded-load",
    imports: { echo: Echo, threads: Threads },
    exports: { load: Echo = SERVER },
    main: main,
}

use imports::{ECHO, THREADS};

/// Most rounds of three calls.
const ROUNDS: usize = 32;
const PAUSE_MICROSECONDS: u64 = 500;

/// What a thread was answered: a word for each call.
type Answers = [AtomicU64; 3 * ROUNDS];
static ANSWERS: [Answers; 2] = [const { [const { AtomicU64::new(0) }; 3 * ROUNDS] }; 2];
/// Rounds that the second thread is to do, and whether it keeps the answers; 0: none.
static TASK: AtomicU64 = AtomicU64::new(0);
/// Its differences and 1, when it has done so.
static DONE: AtomicU64 = AtomicU64::new(0);

/// What came back, in a word.
fn word(result: Result<u64, Error>, bytes: &[u8]) -> u64 {
    let begin = match result {
        Ok(value) => value,
        Err(error) => error.status() as u64,
    };
    bytes.iter().fold(begin, |word, byte| word.wrapping_mul(31).wrapping_add((*byte).into()))
}

/// Calls, as one of the two threads; how many answers are others than those kept, which these are if they are to be.
fn run(thread: usize, rounds: usize, keeps: bool) -> u64 {
    let mut differences = 0;
    for round in 0..rounds.min(ROUNDS) {
        let text = Line::<32>::of(format_args!("thread {thread}, round {round}"));
        let mut buffer = [0; 64];
        let buffer = &mut buffer[..48 + 16 * thread];
        let said = word(ECHO.say(text.text()).map(|()| 0), &[]);
        let filled = ECHO.fill(buffer).map(|length| length as u64);
        let sum = ECHO.add(round as u64, 1000 * thread as u64);
        let answers = [said, word(filled, buffer), word(sum, &[])];
        for (kept, answer) in ANSWERS[thread].iter().skip(3 * round).zip(answers) {
            if keeps {
                kept.store(answer, Relaxed);
            }
            differences += u64::from(kept.load(Relaxed) != answer);
        }
    }
    differences
}

fn pause() {
    let _ = THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS));
}

fn main() {
    loop {
        match TASK.swap(0, Acquire) {
            0 => pause(),
            task => DONE.store(1 + run(1, task as usize >> 1, task & 1 != 0), Release),
        }
    }
}

impl Echo for Server {
    /// So many rounds of both threads; 1: their answers are kept. The value is how many are others than those kept.
    fn add(&self, rounds: u64, keeps: u64) -> Result<u64, Error> {
        DONE.store(0, Relaxed);
        TASK.store(rounds << 1 | keeps & 1, Release);
        // Nobody is before the other.
        pause();
        let own = run(0, rounds as usize, keeps & 1 != 0);
        loop {
            match DONE.load(Acquire) {
                0 => pause(),
                other => return Ok(own + other - 1),
            }
        }
    }

    fn say(&self, _text: ReadWindow) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn fill(&self, _buffer: WriteWindow) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }
}
