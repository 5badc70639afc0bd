// Measures a step of a controller, and the step of the example's control loop. `control-soft` and `control-hard` are made of it,
// and say by `UNIT` how they compute.

use cairn::measure::Stamp;
use cairn_bench::{Meter, Report, Rounds};
use cairn_example_control::Control;
use core::hint::black_box;

cairn::component! {
    name: "control",
    main: main,
}

const WARM_UP: usize = 100;
const SAMPLES: usize = 2000;

/// Not a part of what is around it.
#[inline(never)]
fn pid_step(control: &mut Control, value: f64) -> f64 {
    control.pid.step(Control::WANTED, value, Control::PERIOD)
}

#[inline(never)]
fn loop_step(control: &mut Control) {
    control.step();
}

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    let rounds = Rounds::new(WARM_UP, SAMPLES, 1);
    let mut control = Control::new();
    report.samples(format_args!("control.pid.{UNIT}"), 1, |samples| {
        for round in rounds.all() {
            let value = black_box(control.oven.temperature);
            let begin = Stamp::begin();
            let power = pid_step(&mut control, value);
            let end = Stamp::end();
            control.oven.heat(power, Control::PERIOD);
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    report.samples(format_args!("control.step.{UNIT}"), 1, |samples| {
        for round in rounds.all() {
            let begin = Stamp::begin();
            loop_step(black_box(&mut control));
            let end = Stamp::end();
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    report.end();
}
