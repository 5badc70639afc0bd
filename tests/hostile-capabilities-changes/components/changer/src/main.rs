//! Passes coins on, and has whoever serves, has or passed them on replaced, wrapped and copied: nobody has more afterwards than before.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod between;
mod copied;
mod fallen;
mod replaced;

use cairn::thread::Stack;
use cairn::{Error, Grant, Object, environment, time};
use cairn_interfaces::{self as interfaces, Rights, spawn};
use cairn_test_hostile_capabilities_contract::{Agent, AgentProxy, Bank, Coin};
use cairn_test_hostile_contract::{judge, say};
use cairn_test_interposed_contract::Between;
use core::fmt::Debug;
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "capabilities-changer",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        grants: interfaces::Grants,
        interposition: interfaces::Interposition,
        listing: interfaces::PortalListing,
        loader: interfaces::Loader,
        replacement: interfaces::Replacement,
        bank: Bank,
        one: Agent,
        two: Agent,
        between: Between,
    },
    main: main,
}

use imports::{BANK, CONSOLE, GRANTS, PORTALS, SUPERVISOR, THREADS};

/// Methods of a coin.
const VALUE: u64 = 0;
const ADD: u64 = 1;
const SUM: u64 = 4;

static STACK: Stack<8192> = Stack::new();
// Relaxed: read when the thread has been joined.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
static OUTCOME: AtomicI64 = AtomicI64::new(0);

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

fn own() -> u64 {
    environment::startup().instance.into()
}

/// The instances of the agents: those behind this one and the bank.
fn agents() -> (u64, u64) {
    (own() + 2, own() + 3)
}

fn coin(value: u64) -> Object<dyn Coin> {
    BANK.coin(PORTALS, value).expect("a coin")
}

fn close(coin: Object<dyn Coin>) {
    expect("a coin is given up", PORTALS.close(coin.first_portal().into()), Ok(()));
}

/// Passes a coin on to an agent: the grant, and where that has it.
fn give(agent: AgentProxy, coin: &Object<dyn Coin>, rights: Rights) -> (Grant<dyn Coin>, u64) {
    let grant = GRANTS.pass(coin, agent.first_portal(), rights).expect("a grant");
    (grant, agent.keep(grant).expect("it is accepted"))
}

fn pause(microseconds: u64) {
    let _ = THREADS.sleep_until(time::now() + time::ticks(microseconds));
}

fn main() {
    replaced::server();
    replaced::holder();
    between::wrapped();
    between::on_the_way();
    copied::copied();
    fallen::fallen();
    say!("hostile-capabilities-changes: done");
    let _ = SUPERVISOR.halt(0);
}
