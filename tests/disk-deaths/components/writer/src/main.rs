//! Writes a part of a disk again and again while its driver is killed, by calls or, with `queue`, by a section; and says of each block at
//! the end which time of writing was the last that was acknowledged, and which the last.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment;
use cairn::section::Section;
use cairn::text::Line;
use cairn_interfaces::{self as interfaces, BLOCK_SIZE, BlockQueueProxy};
use cairn_queue::blocks::{Client, DATA, Kind, Request};
use cairn_random::Random;
use core::fmt::Write;

cairn::component! {
    name: "disk-deaths-writer",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        blocks: interfaces::Blocks,
        queue: Option<interfaces::BlockQueue>,
    },
    arguments: {
        first: u64,
        seed: u64,
    },
    main: main,
}

/// Blocks of the part.
const PART: usize = 64;
/// Most blocks of a request.
const MOST: usize = 4;
/// Requests of a batch, each with its own blocks.
const BATCH: usize = PART / MOST;
const BLOCK: usize = BLOCK_SIZE as usize;
/// Bytes of a request's data.
const BYTES: usize = MOST * BLOCK;

/// A word of the section in which all see whether the driver still dies, and say whether they are done.
const OVER: usize = 0;

/// When a block was written, in numbers of times: the last that was acknowledged, and the last.
#[derive(Clone, Copy)]
struct Times {
    acknowledged: u32,
    attempted: u32,
}

struct Writer {
    first: u64,
    times: [Times; PART],
    random: Random,
    answered: u64,
    lost: u64,
}

/// The blocks of a request within the part, and whether it writes.
#[derive(Clone, Copy)]
struct Blocks {
    from: usize,
    count: usize,
    writes: bool,
}

fn main() {
    let shared = environment::section("deaths").expect("the description has a section `deaths`");
    let mut writer = Writer {
        first: arguments::first(),
        times: [Times { acknowledged: 0, attempted: 0 }; PART],
        random: Random::of_seed(arguments::seed()),
        answered: 0,
        lost: 0,
    };
    match imports::QUEUE.get() {
        Some(queue) => {
            let section = environment::section("queue").expect("the description has a queue");
            let mut client = Client::new(queue, section);
            while shared.load(OVER) == 0 {
                writer.by_queue(&mut client, &section);
            }
        }
        None => {
            while shared.load(OVER) == 0 {
                writer.by_calls();
            }
        }
    }
    writer.report();
    shared.words(8)[1].fetch_add(1, core::sync::atomic::Ordering::SeqCst);
}

fn pause() {
    let _ = imports::THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(50));
}

/// What a word of a block has after it was written for the `time`th time; a disk begins with zeros.
fn word(block: u64, time: u32) -> u64 {
    if time == 0 { 0 } else { block << 32 | u64::from(time) }
}

impl Writer {
    fn choose(&mut self, group: usize) -> Blocks {
        let from = self.random.index(MOST);
        let count = 1 + self.random.index(MOST - from);
        let writes = self.random.below(4) > 0;
        Blocks { from: group * MOST + from, count, writes }
    }

    /// The next times of these blocks, and what they have then.
    fn begin(&mut self, blocks: Blocks, mut store: impl FnMut(usize, u64)) {
        let Blocks { from, count, writes } = blocks;
        for number in (0..count).filter(|_| writes) {
            let times = &mut self.times[from + number];
            times.attempted += 1;
            let word = word(self.first + (from + number) as u64, times.attempted);
            (0..BLOCK / 8).for_each(|at| store(number * BLOCK / 8 + at, word));
        }
    }

    fn end(&mut self, blocks: Blocks, result: Result<(), Error>, load: impl Fn(usize) -> u64) {
        let Blocks { from, count, writes } = blocks;
        match result {
            Ok(()) => self.answered += 1,
            Err(Error::Dead | Error::Cancelled | Error::NoPortal | Error::Busy) => {
                self.lost += 1;
                return;
            }
            Err(error) => panic!("{}", error.text()),
        }
        for number in 0..count {
            let times = &mut self.times[from + number];
            if writes {
                times.acknowledged = times.attempted;
                continue;
            }
            let block = self.first + (from + number) as u64;
            let words = || (0..BLOCK / 8).map(|at| load(number * BLOCK / 8 + at));
            let time = load(number * BLOCK / 8) as u32;
            let is_known = (times.acknowledged..=times.attempted).contains(&time);
            assert!(
                is_known && words().all(|found| found == word(block, time)),
                "FAILED: block {block} was written {} to {} times and reads {:#x}",
                times.acknowledged,
                times.attempted,
                load(number * BLOCK / 8)
            );
        }
    }

    fn by_calls(&mut self) {
        let mut buffer = [0; BYTES];
        let group = self.random.index(BATCH);
        let blocks = self.choose(group);
        let part = &mut buffer[..blocks.count * BLOCK];
        self.begin(blocks, |at, word| part[at * 8..][..8].copy_from_slice(&word.to_le_bytes()));
        let first = self.first + blocks.from as u64;
        let result = match blocks.writes {
            true => imports::BLOCKS.write(first, part),
            false => imports::BLOCKS.read(first, part),
        };
        let word = |at: usize| u64::from_le_bytes(part[at * 8..][..8].try_into().unwrap_or([0; 8]));
        self.end(blocks, result, word);
        if result.is_err() {
            pause();
        }
    }

    fn by_queue(&mut self, client: &mut Client<BlockQueueProxy, Section>, section: &Section) {
        let mut batch = [Blocks { from: 0, count: 0, writes: false }; BATCH];
        let size = 1 + self.random.index(BATCH);
        for (group, one) in batch.iter_mut().enumerate().take(size) {
            *one = self.choose(group);
            let offset = group * BYTES;
            self.begin(*one, |at, word| section.store(DATA + offset + at * 8, word));
            let kind = if one.writes { Kind::Write } else { Kind::Read };
            let (first, bytes) = (self.first + one.from as u64, one.count * BLOCK);
            match client.push(group as u64, Request { kind, first, offset, bytes }) {
                Ok(true) => {}
                // Until the driver has begun. Nobody has tried what was not put in, and no later number is the worse for it.
                Ok(false) | Err(_) => {
                    pause();
                    break;
                }
            }
        }
        let submitted = client.submit(|group, result| {
            let offset = DATA + group as usize * BYTES;
            self.end(batch[group as usize], result, |at| section.load(offset + at * 8));
        });
        if submitted.is_err() {
            pause();
        }
    }

    fn report(&self) {
        for (group, times) in self.times.chunks(8).enumerate() {
            let mut line = Line::<256>::new();
            let _ = write!(line, "acknowledged: {}:", self.first + group as u64 * 8);
            for one in times {
                let _ = write!(line, " {}-{}", one.acknowledged, one.attempted);
            }
            say(&line);
        }
        let name = environment::name();
        say(&Line::<256>::of(format_args!(
            "{name}: {} requests answered, {} lost",
            self.answered, self.lost
        )));
    }
}

fn say(line: &Line<256>) {
    let _ = imports::CONSOLE.print(format_args!("{}\n", line.text()));
}
