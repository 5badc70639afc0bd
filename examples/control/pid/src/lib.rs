//! A controller with proportional, integral and derivative part, and an oven that it heats. Built without the floating-point unit and
//! with it, the numbers are the same to the last bit.
#![no_std]
#![forbid(unsafe_code)]

/// What drives something towards a wanted value, step by step.
#[derive(Clone, Debug)]
pub struct Pid {
    /// Parts of the output: of the error, of its sum, of its change.
    pub proportional: f64,
    pub integral: f64,
    pub derivative: f64,
    /// The output stays in here.
    pub output: (f64, f64),
    sum: f64,
    /// The last value.
    before: f64,
}

impl Pid {
    /// A controller that has seen nothing but `value`.
    pub fn new(gains: [f64; 3], output: (f64, f64), value: f64) -> Pid {
        let [proportional, integral, derivative] = gains;
        Pid { proportional, integral, derivative, output, sum: 0.0, before: value }
    }

    /// The output for the next `seconds`, by the value that was measured now.
    pub fn step(&mut self, wanted: f64, value: f64, seconds: f64) -> f64 {
        let error = wanted - value;
        let sum = self.sum + error * seconds;
        // Of the value, not of the error: a new wanted value is no kick.
        let change = (value - self.before) / seconds;
        self.before = value;
        let output = self.proportional * error + self.integral * sum - self.derivative * change;
        let (least, most) = self.output;
        // Where the output can do no more, the sum does not grow any further.
        if output > least && output < most {
            self.sum = sum;
        }
        output.clamp(least, most)
    }
}

/// An oven: it is heated, and loses heat to the room.
#[derive(Clone, Debug)]
pub struct Oven {
    /// Degrees.
    pub temperature: f64,
    heater: f64,
}

impl Oven {
    const ROOM: f64 = 20.0;

    /// One as warm as the room.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Oven {
        Oven { temperature: Oven::ROOM, heater: Oven::ROOM }
    }

    /// What `power`, 0 to 1, makes of it in so many seconds.
    pub fn heat(&mut self, power: f64, seconds: f64) {
        self.heater += (power * 400.0 - (self.heater - self.temperature) * 0.8) * seconds;
        self.temperature += ((self.heater - self.temperature) * 0.05
            - (self.temperature - Oven::ROOM) * 0.02)
            * seconds;
    }
}

/// An oven with its controller, a step a millisecond.
#[derive(Clone, Debug)]
pub struct Control {
    pub pid: Pid,
    pub oven: Oven,
}

impl Control {
    /// Degrees that it shall have.
    pub const WANTED: f64 = 180.0;
    /// Seconds between two steps.
    pub const PERIOD: f64 = 0.001;

    #[allow(clippy::new_without_default)]
    pub fn new() -> Control {
        let oven = Oven::new();
        Control { pid: Pid::new([0.08, 0.01, 0.02], (0.0, 1.0), oven.temperature), oven }
    }

    /// One step of the controller, and what it makes of the oven. The oven's part is not the controller's work.
    pub fn step(&mut self) {
        let power = self.pid.step(Control::WANTED, self.oven.temperature, Control::PERIOD);
        self.oven.heat(power, Control::PERIOD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oven_is_as_warm_as_it_shall_be_and_hardly_warmer_before() {
        let mut control = Control::new();
        let mut warmest: f64 = 0.0;
        for _ in 0..600_000 {
            control.step();
            warmest = warmest.max(control.oven.temperature);
        }
        let distance = (control.oven.temperature - Control::WANTED).abs();
        assert!(distance < 0.5, "{:?}", control.oven);
        assert!(warmest < Control::WANTED + 20.0, "{warmest}");
    }

    #[test]
    fn the_output_stays_in_its_bounds_and_the_sum_waits_there() {
        let mut pid = Pid::new([1.0, 1.0, 0.0], (0.0, 1.0), 0.0);
        for _ in 0..1000 {
            assert_eq!(pid.step(100.0, 0.0, 1.0), 1.0);
        }
        assert_eq!(pid.step(0.0, 100.0, 1.0), 0.0, "nothing has piled up");
    }
}
