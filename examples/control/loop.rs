// The control loop, of which `soft` and `hard` are made: every millisecond a step, and every hundred steps a line.

use cairn_example_control::Control;
use cairn_interfaces::{Clock, Console, Portals};
use core::fmt::Write;

cairn::component! {
    name: "control",
    imports: { console: Console, clock: Clock, portals: Portals },
    main: main,
}

struct Terminal;
impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        imports::CONSOLE.write(text.as_bytes()).map_err(|_| core::fmt::Error)
    }
}

const MILLISECOND: u64 = 1_000_000;
/// Steps between two lines.
const LINE: u64 = 100;

fn main() {
    let name = cairn::environment::name();
    let timer = match imports::CLOCK.timer(imports::PORTALS, MILLISECOND) {
        Ok(timer) => timer,
        Err(error) => {
            let _ = writeln!(Terminal, "{name}: no timer: {}", error.text());
            return;
        }
    };
    let (mut control, mut steps, mut late) = (Control::new(), 0, 0);
    while let Ok(periods) = timer.proxy().wait() {
        late += periods.saturating_sub(1);
        // A step that was missed is made up for.
        for _ in 0..periods {
            control.step();
            steps += 1;
            if steps % LINE == 0 {
                // A console shows no fractions of a number that it does not need: thousandths of a degree.
                let thousandths = (control.oven.temperature * 1000.0) as u64;
                let (whole, part) = (thousandths / 1000, thousandths % 1000);
                let _ = writeln!(
                    Terminal,
                    "{name}: {steps} steps, {late} late, {whole}.{part:03} degrees"
                );
            }
        }
    }
}
