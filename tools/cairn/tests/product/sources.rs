//! What the product is made of beyond what the command makes.

/// Serves the product's interface `Meter`, and calls its interface `Pump`.
pub const GAUGE: &str = r#"#include "console.h"
#include "meter.h"
#include "pump.h"
#include <stdio.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT, PUMP = CONSOLE + CONSOLE_METHODS };
METER_SERVER(gauge)

struct cairn_reply gauge_double(uint64_t control, uint64_t number)
{
    (void)control;
    return (struct cairn_reply){ 0, 2 * number };
}

static void gauge(void)
{
    uint64_t value = 0;
    char line[64];
    int64_t status = pump_double(PUMP, 30, &value);
    int length = snprintf(line, sizeof line, "gauge: %d, %u\n", (int)status, (unsigned)value);
    console_write(CONSOLE, line, (size_t)length);
}

CAIRN_COMPONENT(
    .name = "gauge", .main = gauge,
    .import_count = 2,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE }, { "pump", PUMP, PUMP_INTERFACE } },
    .export_count = 1,
    .exports = { { "meter", 0, METER_INTERFACE, METER_ENTRIES(gauge) } });
"#;

/// The product with the component in C and with sixty instances of another.
pub const FLEET: &str = r#"[system]
name = "fleet"
extends = "heater"
threads = 96

[instance.pump.exports.pump]
open = ["shell", "watcher", "gauge"]

[instance.gauge]
component = "gauge"
memory = "128K"
[instance.gauge.imports]
console = "console.console"
pump = "pump.pump"
[instance.gauge.exports.meter]
open = ["shell"]

[instance.station]
component = "pump"
count = 60
memory = "64K"
threads = 0
[instance.station.exports.pump]
open = ["shell"]

[instance.panel]
component = "panel"
memory = "64K"
threads = 0

[instance.twins]
component = "twins"
memory = "128K"
threads = 2
[instance.twins.imports]
console = "panel.console"
threads = "panel.threads"
terminal = "console.console"
machine = "scheduler.threads"
"#;

/// Interfaces that are called as two of Cairn's.
pub const NAMESAKES: &str = r#"
#[cairn::interface]
pub trait Console {
    fn rows(&self) -> Result<u64, cairn::Error>;
}

#[cairn::interface]
pub trait Threads {
    fn count(&self) -> Result<u64, cairn::Error>;
}
"#;

/// Serves them.
pub const PANEL: &str = r#"#![no_std]
#![cfg_attr(not(test), no_main)]
#![forbid(unsafe_code)]
use cairn::Error;
use heater_interfaces::{Console, Threads};

struct Panel;
static PANEL: Panel = Panel;

impl Console for Panel {
    fn rows(&self) -> Result<u64, Error> {
        Ok(24)
    }
}

impl Threads for Panel {
    fn count(&self) -> Result<u64, Error> {
        Ok(7)
    }
}

cairn::component! {
    name: "panel",
    exports: { console: Console = PANEL, threads: Threads = PANEL },
}

#[test]
fn its_manifest_says_that_this_is_no_test() {
    panic!("it says `test = false`");
}
"#;

/// A server that makes locks, and cannot.
pub const UNMADE: &str = r#"
static ROWS: cairn::sync::Mutex<u64> = cairn::sync::Mutex::new(24);

impl Console for Panel {
    fn rows(&self) -> Result<u64, Error> {
        cairn::thread::yield_now()?;
        Ok(*ROWS.lock()?)
    }
}
"#;

/// Calls them, before Cairn's own, prints, and starts a thread.
pub const TWINS: &str = r#"#![no_std]
#![cfg_attr(not(test), no_main)]
#![forbid(unsafe_code)]
use cairn::thread::{Stack, spawn};
use heater_interfaces::{Console, Threads};

cairn::component! {
    name: "twins",
    imports: {
        console: Console,
        threads: Threads,
        terminal: cairn_interfaces::Console,
        machine: cairn_interfaces::Threads,
    },
    main: main,
}

static STACK: Stack<4096> = Stack::new();

fn main() {
    cairn::println!("twins: {:?}, {:?}", imports::CONSOLE.rows(), imports::THREADS.count());
    let thread = spawn(&STACK, 0, || 42).and_then(|thread| thread.join());
    cairn::println!("twins: a thread answers {thread:?}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn::Error;
    use cairn::thread::sleep;
    use cairn::time::Duration;
    use cairn::watchdog::Watchdog;

    /// A stack has one user at a time.
    #[test]
    fn threads_run_on_the_host() {
        let first = spawn(&STACK, 0, || 42).unwrap();
        assert_eq!(spawn(&STACK, 0, || 43).err(), Some(Error::Busy));
        assert_eq!(first.join(), Ok(42));
        let ends = spawn(&STACK, 0, || assert!(imports::MACHINE.yield_now().is_ok(), "on purpose"));
        assert_eq!(ends.and_then(|one| one.join()), Err(Error::Dead));
        let machine = imports::MACHINE;
        let other = cairn_interfaces::spawn(machine, &STACK, |number| assert_eq!(number, 7), 7, 0);
        assert_eq!(other.and_then(|one| one.join()), Ok(()));
    }

    #[test]
    fn watchdogs_bark_on_the_host() {
        static FED: Watchdog = Watchdog::new("fed", Duration::from_millis(1));
        static LOOKING: Stack<4096> = Stack::new();
        let looks = FED.start(&LOOKING, 0).unwrap();
        sleep(Duration::from_millis(1)).unwrap();
        assert_eq!(looks.join(), Err(Error::Dead));
    }

    #[test]
    fn the_environment_is_empty_on_the_host() {
        assert_eq!(cairn::environment::name(), "");
        assert!(cairn::environment::device(0).is_none());
        assert!(cairn::environment::section("shared").is_none());
        assert!(cairn::dma::Buffer::all().is_none());
    }
}
"#;

pub const FLEET_TEST: &str = r#"system = "fleet"
exit = 0
steps = [
    { expect_all = ['gauge: 0, 60', 'twins: Ok\(24\), Ok\(7\)', 'twins: a thread answers Ok\(42\)'] },
    { send = "call gauge double 4" },
    { expect_match = '^8\b' },
    { send = "call station-60 double 7" },
    { expect_match = '^14\b' },
    { send = "halt" },
]
"#;

/// A benchmark of the product's own: what its component prints is what was measured.
pub const BENCHMARKS: &str =
    "[[benchmark]]\nname = \"heat.wave\"\nsystem = \"heat\"\nbudget = 50\n";
pub const BENCHMARK_SYSTEM: &str = r#"[system]
name = "heat"
extends = "base"

[instance.wave]
component = "wave"
memory = "64K"
imports = { console = "console.console" }
"#;
pub const WAVE: &str = r#"#![no_std]
#![cfg_attr(not(test), no_main)]
#![forbid(unsafe_code)]

cairn::component! {
    name: "wave",
    imports: { console: cairn_interfaces::Console },
    main: main,
}

fn main() {
    cairn::println!("BENCH heat.wave instructions 2 80 84 90 92 100");
    cairn::println!("BENCH-END");
}
"#;
