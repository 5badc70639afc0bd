//! Attacks everyone, when it is asked to.
#![no_std]
#![no_main]

mod exhaustion;
mod fuzz;
mod instructions;
mod memory;
mod registers;
mod threads;
mod windows;

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::{Memory, Names, Portals, Threads};
use cairn_test_hostile_contract::{Attacker, Victim, attack};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server {
    calls: AtomicU64,
}
static SERVER: Server = Server { calls: AtomicU64::new(0) };

cairn::component! {
    name: "hostile-attacker",
    imports: {
        victim: Victim,
        threads: Threads,
        portals: Portals,
        memory: Memory,
        names: Names,
        sharing: Victim,
    },
    exports: { attacker: Attacker = SERVER },
    main: main,
}

/// Indexes of methods that are called with registers of the attacker's own choice.
const SPAWN: u64 = 2;
const SUM: u64 = 1;
const FILL: u64 = 2;
const HOLD: u64 = 3;

fn main() {
    fuzz::go_on();
}

impl Attacker for Server {
    fn count(&self) -> Result<u64, Error> {
        windows::call_is_over();
        Ok(self.calls.fetch_add(1, Relaxed) + 1)
    }

    fn attack(&self, attack: u64, first: u64, second: u64) -> Result<u64, Error> {
        match attack {
            attack::LOAD => Ok(memory::load(first)),
            attack::STORE => memory::store(first),
            attack::JUMP => memory::jump(first),
            attack::INSTRUCTION => instructions::execute(first),
            attack::ADDRESS => memory::address(first),
            attack::PASS_READABLE => Ok(windows::pass(SUM, first, second)),
            attack::PASS_WRITABLE => Ok(windows::pass(FILL, first, second)),
            attack::TOUCH => Ok(windows::touch()),
            attack::LEAVE_SECRETS => registers::leave_secrets(),
            attack::REGISTER_LOOK => registers::register_look(),
            attack::LOOKED => registers::looked(first),
            attack::WRITE_SECRETS => memory::write_secrets(),
            attack::FIND_SECRETS => Ok(memory::find_secrets()),
            attack::CALL_WITH_STACK => Ok(registers::call_with_stack(first)),
            attack::CALL_WITH_RETURN => registers::call_with_return(first),
            attack::SPIN => registers::spin(first),
            attack::OVERFLOW_STACK => Ok(memory::overflow(first)),
            attack::CALL_ITSELF => threads::call_itself(),
            attack::THREAD => threads::start(first, second),
            attack::EXHAUST_THREADS => exhaustion::threads(),
            attack::EXHAUST_MEMORY => exhaustion::memory(),
            attack::EXHAUST_PORTALS => exhaustion::portals(),
            attack::EXHAUST_NAMES => exhaustion::names(),
            attack::EXHAUST_SEMAPHORES => exhaustion::semaphores(),
            attack::EXHAUST_LOCKS => exhaustion::locks(),
            attack::MISALIGNED => instructions::misaligned(first, second),
            attack::HOLD => windows::hold(),
            attack::SHARE_STACK => Ok(registers::call_shared_with_stack(first)),
            attack::PANIC => panic!("on purpose"),
            _ => Err(Error::BadArgument),
        }
    }

    fn keep(&self, bytes: ReadWindow<'_>, afterwards: bool) -> Result<u64, Error> {
        windows::keep(bytes, afterwards)
    }

    fn keep_for_ever(&self, bytes: WriteWindow<'_>) -> Result<u64, Error> {
        windows::keep_for_ever(bytes)
    }

    fn keep_writable(&self, bytes: WriteWindow<'_>, afterwards: bool) -> Result<u64, Error> {
        windows::keep_writable(bytes, afterwards)
    }
}
