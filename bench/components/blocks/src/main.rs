//! Measures reading and writing 4 KiB of a disk, by its confined driver: all that is executed between the call and its answer,
//! in all domains and in privileged mode. While everybody waits for the disk, QEMU's counters stand, unless a timer is set:
//! the median is of those many times.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment;
use cairn::measure::Stamp;
use cairn::time::{now, ticks};
use cairn_bench::{Meter, PAGE, Page, Report};
use cairn_driver_interfaces::{BLOCK_SIZE, BlockQueue, Blocks};
use cairn_interfaces::Threads;
use cairn_queue::blocks::{Client, Kind, Request};
use cairn_random::Random;

cairn::component! {
    name: "blocks",
    imports: { blocks: Blocks, queue: BlockQueue, threads: Threads },
    main: main,
}

const WARM_UP: usize = 50;
const SAMPLES: usize = 1000;
/// Requests of a batch, by the queue.
const BATCH: usize = 16;

fn main() {
    let blocks = loop {
        match imports::BLOCKS.size() {
            Ok((blocks, _)) => break blocks,
            // The driver has not begun.
            Err(_) => drop(imports::THREADS.sleep_until(now() + ticks(1000))),
        }
    };
    let pages = blocks * BLOCK_SIZE / PAGE;
    let mut page = Page::ZERO;
    let mut report = Report::new();
    let meter = Meter::new();
    let mut random = Random::of_seed(1);
    let mut measure = |name, operation: &mut dyn FnMut(u64, &mut Page) -> Result<(), Error>| {
        report.samples(name, 1, |samples| {
            for round in 0..WARM_UP + SAMPLES {
                let first = random.below(pages) * PAGE / BLOCK_SIZE;
                let before = Stamp::begin();
                let result = operation(first, &mut page);
                let after = Stamp::end();
                result.expect("the disk answers");
                if round >= WARM_UP {
                    samples.add(meter.between(before, after));
                }
            }
        });
    };
    measure(format_args!("block.read.4k"), &mut |first, page| {
        imports::BLOCKS.read(first, page.bytes())
    });
    measure(format_args!("block.write.4k"), &mut |first, page| {
        imports::BLOCKS.write(first, page.bytes())
    });
    measure(format_args!("block.read.512"), &mut |first, page| {
        imports::BLOCKS.read(first, &mut page.bytes()[..BLOCK_SIZE as usize])
    });
    by_queue(&mut report, &meter, pages);
    report.end();
}

/// The same by the queue: what a request of a batch takes, from putting it in to its answer.
fn by_queue(report: &mut Report, meter: &Meter, pages: u64) {
    let section = environment::section("queue").expect("the description has a section `queue`");
    let mut queue = Client::new(imports::QUEUE, section);
    let mut random = Random::of_seed(1);
    for (name, kind) in [("block.queue.read.4k", Kind::Read), ("block.queue.write.4k", Kind::Write)]
    {
        report.samples(format_args!("{name}"), BATCH as u64, |samples| {
            for round in 0..WARM_UP + SAMPLES {
                let first = [(); BATCH].map(|()| random.below(pages) * PAGE / BLOCK_SIZE);
                let mut answered = 0;
                let before = Stamp::begin();
                for (number, first) in first.into_iter().enumerate() {
                    let (offset, bytes) = (number * PAGE as usize, PAGE as usize);
                    let _ = queue.push(number as u64, Request { kind, first, offset, bytes });
                }
                let submitted = queue.submit(|_, result| answered += usize::from(result.is_ok()));
                let after = Stamp::end();
                assert_eq!((submitted, answered), (Ok(()), BATCH));
                if round >= WARM_UP {
                    samples.add(meter.between(before, after));
                }
            }
        });
    }
}
