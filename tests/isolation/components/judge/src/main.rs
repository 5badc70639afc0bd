//! Has a neighbour commit deeds that no component may commit, and looks what comes of each. Short enough for
//! cores that are simulated cycle by cycle.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::say;
use cairn_test_trouble::{DEEDS, PRIVILEGED};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "isolation-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        trouble: cairn_test_trouble::Trouble,
    },
    main: main,
}

/// What the neighbour must not learn or change.
static SECRET: AtomicU64 = AtomicU64::new(SECRET_VALUE);
const SECRET_VALUE: u64 = 0x005e_c3e7;

/// One of each kind, of the deeds that cannot be stopped but by the hardware.
const CHOSEN: [&str; 9] = [
    "read",
    "write",
    "jump",
    "read privileged memory",
    "read a privileged register",
    "forget translations",
    "execute its data",
    "never return",
    "wait for an interrupt",
];

fn main() {
    // A neighbour in the kernel domain may do what privileged code may.
    let in_kernel = environment::argument() == "kernel";
    let deeds = DEEDS
        .iter()
        .enumerate()
        .filter(|(deed, name)| CHOSEN.contains(name) && !(in_kernel && PRIVILEGED.contains(deed)));
    let failed = deeds.filter(|(deed, name)| !is_stopped(*deed, name)).count();
    say!("isolation: {failed} failed");
    // A device's interrupt: what is typed.
    say!("type:");
    let mut typed = [0; 16];
    let length = imports::CONSOLE.read_line(&mut typed).expect("a line");
    say!("typed {} bytes", length);
    imports::SUPERVISOR.halt(failed as u64).expect("halt");
}

/// The neighbour is stopped at the deed, with an error for its caller, which loses nothing; started
/// again, it serves.
fn is_stopped(deed: usize, name: &str) -> bool {
    // Used right before the call: a translation that outlives the switch of domains would serve the
    // neighbour, too.
    let before = SECRET.fetch_add(0, Relaxed);
    let result = imports::TROUBLE.commit(deed as u64, SECRET.as_ptr() as u64);
    let after = SECRET.load(Relaxed);
    SECRET.store(SECRET_VALUE, Relaxed);
    if (result, before, after) != (Err(Error::Dead), SECRET_VALUE, SECRET_VALUE) {
        say!("FAILED: {name}: {result:x?}, and the secret is {after:#x}");
        return false;
    }
    // Faults in a row are punished with waiting, which nobody has time for here.
    imports::SUPERVISOR.restart("trouble").expect("restart");
    while imports::TROUBLE.count().is_err() {}
    say!("ok: {name}");
    true
}
