//! Writes a part of a disk again and again while its driver is killed, by calls or, with `queue`, by a section; and says of each block at
//! the end which time of writing was the last that was acknowledged, and which the last.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment;
use cairn::section::Section;
use cairn::text::Line;
use cairn_driver_interfaces::{BLOCK_SIZE, BlockQueueProxy};
use cairn_interfaces as interfaces;
use cairn_queue::blocks::{Client, DATA, Kind, Request};
use cairn_random::Random;
use core::fmt::Write;

cairn::component! {
    name: "disk-deaths-writer",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        blocks: cairn_driver_interfaces::Blocks,
        queue: Option<cairn_driver_interfaces::BlockQueue>,
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
    /// Something was lost, and the part was not looked at since.
    is_in_doubt: bool,
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
        is_in_doubt: false,
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

fn word_of(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at * 8..][..8].try_into().unwrap_or([0; 8]))
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
                self.is_in_doubt = true;
                return;
            }
            Err(error) => panic!("{}", error.text()),
        }
        for number in 0..count {
            if writes {
                let times = &mut self.times[from + number];
                times.acknowledged = times.attempted;
            } else {
                self.look(from + number, |at| load(number * BLOCK / 8 + at));
            }
        }
    }

    /// A block that was read has a write that was acknowledged or tried later; from now on this one.
    fn look(&mut self, number: usize, load: impl Fn(usize) -> u64) {
        let times = &mut self.times[number];
        let Times { acknowledged, attempted } = *times;
        let (block, time) = (self.first + number as u64, load(0) as u32);
        let is_known = (acknowledged..=attempted).contains(&time);
        assert!(
            is_known && (0..BLOCK / 8).all(|at| load(at) == word(block, time)),
            "FAILED: block {block} was written {acknowledged} to {attempted} times and reads {:#x}",
            load(0)
        );
        times.acknowledged = time;
    }

    /// Reads the whole part after a loss, until the driver is there for all of it.
    fn look_at_all(&mut self) {
        let mut buffer = [0; BYTES];
        let mut group = 0;
        while self.is_in_doubt && group < BATCH {
            let first = self.first + (group * MOST) as u64;
            if imports::BLOCKS.read(first, &mut buffer).is_err() {
                pause();
                continue;
            }
            for number in 0..MOST {
                self.look(group * MOST + number, |at| word_of(&buffer, number * BLOCK / 8 + at));
            }
            group += 1;
        }
        self.is_in_doubt = false;
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
        self.end(blocks, result, |at| word_of(part, at));
        self.look_at_all();
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
        let _ = client.submit(|group, result| {
            let offset = DATA + group as usize * BYTES;
            self.end(batch[group as usize], result, |at| section.load(offset + at * 8));
        });
        self.look_at_all();
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
