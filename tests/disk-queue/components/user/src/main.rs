//! Reads and writes a disk by a queue in a section.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment;
use cairn::section::Section;
use cairn::thread::Stack;
use cairn_driver_interfaces::{BLOCK_SIZE, BlockQueueProxy};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_queue::blocks::{CAPACITY, Client, DATA, Kind, LONGEST, Request};
// Relaxed: the thread that submits needs to see these at some time.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "disk-queue-user",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        blocks: cairn_driver_interfaces::Blocks,
        queue: cairn_driver_interfaces::BlockQueue,
    },
    main: main,
}

type Queue = Client<BlockQueueProxy, Section>;

const BLOCK: usize = BLOCK_SIZE as usize;

fn main() {
    let size = loop {
        match imports::BLOCKS.size() {
            Ok((size, _)) => break size,
            Err(_) => pause(),
        }
    };
    let section = environment::section("queue").expect("the description has a section `queue`");
    let data = section.part(DATA, section.size() - DATA);
    let mut queue = Client::new(imports::QUEUE, section);
    assert_eq!(imports::QUEUE.submit(1), Err(Error::NotFound), "it has not begun");
    there_and_back(&mut queue, &data);
    errors(&mut queue, size, &data);
    beside(&mut queue, &data);
    let _ = imports::SUPERVISOR.halt(0);
}

fn say(text: &str) {
    let _ = imports::CONSOLE.print(format_args!("ok: {text}\n"));
}

fn pause() {
    let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100));
}

fn push(queue: &mut Queue, tag: u64, kind: Kind, first: u64, offset: usize, bytes: usize) {
    let request = Request { kind, first, offset, bytes };
    assert_eq!(queue.push(tag, request), Ok(true));
}

/// Submits, and how many requests were answered with success.
fn submit(queue: &mut Queue) -> usize {
    let mut answered = 0;
    let submitted = queue.submit(|_, result| answered += usize::from(result.is_ok()));
    assert_eq!((submitted, queue.open()), (Ok(()), 0));
    answered
}

/// As many requests as the queue holds, of every length, with a flush among them; the calls of `Blocks` see the same.
fn there_and_back(queue: &mut Queue, data: &Section) {
    let word = |at: usize| at as u64 ^ 0x5555;
    let lengths = || (1..=LONGEST / BLOCK).map(|blocks| blocks * BLOCK);
    for length in lengths() {
        let count = (data.size() / length).min(CAPACITY - 1);
        (0..count * length / 8).for_each(|at| data.store(at * 8, word(at)));
        for one in 0..count {
            let first = (one * length / BLOCK) as u64;
            push(queue, one as u64, Kind::Write, first, one * length, length);
        }
        push(queue, 99, Kind::Flush, 0, 0, 0);
        assert_eq!(submit(queue), count + 1);
        data.zero(0, data.size());
        let mut block = [0; BLOCK];
        imports::BLOCKS.read(1, &mut block).expect("read");
        let seen = block.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
        // The second block is of the second request, if a request has one block.
        assert!(count * length < 2 * BLOCK || seen.eq((BLOCK / 8..BLOCK / 4).map(word)));
        // They come back in the other order.
        for one in (0..count).rev() {
            let first = (one * length / BLOCK) as u64;
            push(queue, one as u64, Kind::Read, first, one * length, length);
        }
        assert_eq!(submit(queue), count);
        assert!((0..count * length / 8).all(|at| data.load(at * 8) == word(at)), "{length}");
    }
    say("batches of every length there and back");
}

fn errors(queue: &mut Queue, size: u64, data: &Section) {
    let end = data.size();
    for (kind, first, offset, bytes, expected) in [
        (Kind::Read, size - 1, 0, BLOCK, Ok(())),
        (Kind::Read, size - 1, 0, 2 * BLOCK, Err(Error::BadArgument)),
        (Kind::Write, size, 0, BLOCK, Err(Error::BadArgument)),
        (Kind::Write, u64::MAX, 0, BLOCK, Err(Error::BadArgument)),
        (Kind::Read, 0, 0, BLOCK - 1, Err(Error::BadArgument)),
        (Kind::Read, 0, 0, 0, Err(Error::BadArgument)),
        (Kind::Read, 0, end - BLOCK, BLOCK, Ok(())),
        (Kind::Read, 0, end - BLOCK + 1, BLOCK, Err(Error::BadArgument)),
        (Kind::Read, 0, 0, LONGEST + BLOCK, Err(Error::TooLarge)),
    ] {
        push(queue, 1, kind, first, offset, bytes);
        push(queue, 2, Kind::Read, 0, 0, BLOCK);
        let mut results = [None; 2];
        queue.submit(|tag, result| results[tag as usize - 1] = Some(result)).expect("submit");
        assert_eq!(results, [Some(expected), Some(Ok(()))], "{kind:?} {first} {offset} {bytes}");
    }
    say("what is not on the disk, or not in the section, is refused, and nothing else");
}

/// The beginning that a second thread submits; 0 when there is no more to do.
static BEGINNING: AtomicU64 = AtomicU64::new(0);
static SUBMITTED: AtomicU64 = AtomicU64::new(0);

fn submitter(_: u64) {
    loop {
        match BEGINNING.load(Relaxed) {
            0 => return,
            beginning => match imports::QUEUE.submit(beginning) {
                Ok(served) => drop(SUBMITTED.fetch_add(served, Relaxed)),
                Err(Error::Busy) => {}
                Err(error) => panic!("{}", error.text()),
            },
        }
        pause();
    }
}

/// One thread puts requests in and takes answers, while another one is with the driver.
fn beside(queue: &mut Queue, data: &Section) {
    static STACK: Stack<8192> = Stack::new();
    const REQUESTS: usize = 2000;
    BEGINNING.store(queue.beginning().expect("it has begun"), Relaxed);
    let thread = spawn(imports::THREADS, &STACK, submitter, 0, 40).expect("spawn");
    let (mut asked, mut answered) = (0, 0);
    while answered < REQUESTS {
        while asked < REQUESTS {
            let request = Request {
                kind: Kind::Read,
                first: asked as u64 % 64,
                offset: asked % (data.size() / BLOCK) * BLOCK,
                bytes: BLOCK,
            };
            match queue.push(asked as u64, request) {
                Ok(true) => asked += 1,
                other => {
                    assert_eq!(other, Ok(false));
                    break;
                }
            }
        }
        let mut count = |_, result: Result<(), Error>| {
            assert_eq!(result, Ok(()));
            answered += 1;
        };
        queue.submit(&mut count).expect("submit");
        queue.poll(&mut count).expect("poll");
        pause();
    }
    BEGINNING.store(0, Relaxed);
    thread.join().expect("join");
    assert_eq!(queue.open(), 0);
    say("two threads, of which one submits, lose no request");
}
