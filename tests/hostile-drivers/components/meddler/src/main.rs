//! A driver of the real-time clock (as `alarm` of `hostile-time`) that shares its domain or its fate with another driver.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::call::Call;
use cairn::registers::Registers;
use cairn::{Error, environment};
use cairn_interfaces::{self as interfaces, waiting::Interrupt};
use cairn_random::Random;
use cairn_test_hostile_drivers_meddler::{Meddle, deed};
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const TIME_LOW: usize = 0x00;
const TIME_HIGH: usize = 0x04;
const ALARM_LOW: usize = 0x08;
const ALARM_HIGH: usize = 0x0c;
const INTERRUPT_ENABLE: usize = 0x10;
const CLEAR_INTERRUPT: usize = 0x1c;
const PERIOD: u64 = 200_000;
/// Beyond all portals that the two have.
const INDEXES: u64 = 200;
const STORM: u64 = 2000;

struct Server;
static SERVER: Server = Server;
static COUNT: AtomicU64 = AtomicU64::new(0);
static NEXT: AtomicU64 = AtomicU64::new(deed::SERVE);

cairn::component! {
    name: "meddler",
    imports: { threads: interfaces::Threads, portals: interfaces::Portals },
    exports: { meddle: Meddle = SERVER },
    main: main,
}

fn set_alarm(clock: &Registers) {
    let low = clock.read_u32(TIME_LOW);
    let due = (u64::from(clock.read_u32(TIME_HIGH)) << 32 | u64::from(low)) + PERIOD;
    clock.write_u32(ALARM_HIGH, (due >> 32) as u32);
    clock.write_u32(ALARM_LOW, due as u32);
}

fn acknowledge(interrupt: &Interrupt) {
    interrupt.acknowledge().expect("acknowledge");
}

fn main() {
    let clock = environment::device(0).expect("the description gives a clock");
    clock.write_u32(INTERRUPT_ENABLE, 1);
    clock.write_u32(CLEAR_INTERRUPT, 1);
    let interrupt = Interrupt::open(&clock).expect("the clock has an interrupt");
    loop {
        set_alarm(&clock);
        interrupt.wait().expect("wait for the interrupt");
        COUNT.fetch_add(1, Relaxed);
        match NEXT.swap(deed::SERVE, Relaxed) {
            deed::DIE => panic!("as asked"),
            deed::END => return,
            deed::SPIN => loop {
                black_box(());
            },
            deed::STORM => (0..STORM).for_each(|_| acknowledge(&interrupt)),
            _ => {}
        }
        clock.write_u32(CLEAR_INTERRUPT, 1);
        acknowledge(&interrupt);
    }
}

impl Meddle for Server {
    fn count(&self) -> Result<u64, Error> {
        Ok(COUNT.load(Relaxed))
    }

    fn next(&self, deed: u64) -> Result<(), Error> {
        NEXT.store(deed, Relaxed);
        Ok(())
    }

    fn chance(&self, seed: u64, calls: u64) -> Result<(), Error> {
        let mut random = Random::of_seed(seed);
        for _ in 0..calls {
            let mut call = Call::new();
            (0..random.below(4)).for_each(|_| call.word(random.below(300)));
            black_box(call.invoke(random.below(INDEXES) as u32));
        }
        Ok(())
    }
}
