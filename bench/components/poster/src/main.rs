//! Measures what a confined driver's portals cost.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::device::{DEVICE_NOTIFY, DEVICE_POST, Descriptor};
use cairn::environment::startup;
use cairn::measure::{self, unused_mark};
use cairn_bench::{Meter, Report, Rounds, SAMPLES};
use cairn_driver_interfaces::Devices;

cairn::component! {
    name: "poster",
    imports: { devices: Devices },
    main: main,
}

const WARM_UP: usize = 100;
/// Its place among the description's devices: the serial port is the first.
const DEVICE: usize = 1;

fn main() {
    imports::DEVICES.begin(DEVICE as u64, 0).expect("the device begins");
    let portal = startup().devices[DEVICE].device_portal as u32;
    let mut report = Report::new();
    let meter = Meter::new();
    let rounds = Rounds::of_chain(WARM_UP, SAMPLES, 1);
    let descriptor =
        Descriptor { offset: 64, length: 512, device_writes: true, has_next: false }.word();
    let descriptor = descriptor.expect("it fits");
    let mut measure = |name, portal, words: [u64; 8]| {
        report.samples(name, 1, |samples| {
            for round in rounds.all() {
                let sample = measure::portal(portal, &words, &unused_mark());
                assert!(sample.reply.status == 0, "the portal refuses");
                if rounds.counts(round) {
                    samples.add(meter.between(sample.begin, sample.end));
                }
            }
        });
    };
    let post = |count: usize| {
        let mut words = [0; 8];
        words[2..2 + count].fill(descriptor);
        words
    };
    measure(format_args!("driver.post.1"), portal + DEVICE_POST, post(1));
    measure(format_args!("driver.post.3"), portal + DEVICE_POST, post(3));
    measure(format_args!("driver.post.6"), portal + DEVICE_POST, post(6));
    measure(format_args!("driver.notify"), portal + DEVICE_NOTIFY, [0; 8]);
    report.end();
}
