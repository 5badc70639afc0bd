//! Puts a value into the vault, hands its capability to the courier, and takes it back; the courier tries for more.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_example_capabilities_contract::{Capabilities, Courier, Rights, Vault};
use cairn_interfaces as interfaces;
use core::fmt::Debug;

cairn::component! {
    name: "capability-client",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        capabilities: Capabilities,
        vault: Vault,
        courier: Courier,
    },
    main: main,
}

use imports::{CAPABILITIES, CONSOLE, COURIER, VAULT};

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    match found == expected {
        true => CONSOLE.print(format_args!("ok {what}\n")),
        false => CONSOLE.print(format_args!("FAILED {what}: {found:?}, expected {expected:?}\n")),
    }
    .expect("console");
}

fn main() {
    let (Ok(other), Ok(coin)) = (VAULT.put(7), VAULT.put(42)) else {
        return expect("two values are in the vault", false, true);
    };
    expect("numbers of its own", (other >= 1000, coin >= 1000, other != coin), (true, true, true));
    expect(
        "which are for what was put in",
        (VAULT.value(other), VAULT.value(coin)),
        (Ok(7), Ok(42)),
    );
    let guesses = [0, 1, 999, coin + 1, u64::MAX].map(|number| VAULT.value(number));
    expect("no others are for anything", guesses, [Err(Error::NotAllowed); 5]);

    let guesses = [1, coin].map(|number| COURIER.look(number));
    expect("who was passed nothing has nothing", guesses, [Err(Error::NotAllowed); 2]);
    expect("and cannot be passed what its client has not", COURIER.hand(3), Err(Error::NotAllowed));
    let theirs = COURIER.hand(coin).unwrap_or(0);
    expect("handed over it is another number", (theirs >= 1000, theirs != coin), (true, true));
    expect("for the same", COURIER.look(theirs), Ok(42));
    expect("of the courier's alone", VAULT.value(theirs), Err(Error::NotAllowed));
    expect("handed over twice it is one", COURIER.hand(coin), Ok(theirs));
    expect("it can change it", (COURIER.change(theirs, 43), VAULT.value(coin)), (Ok(()), Ok(43)));
    let back = COURIER.back().unwrap_or(0);
    expect("and hand it back", (back != coin, VAULT.value(back)), (true, Ok(43)));
    expect("taken back, with what came of it", CAPABILITIES.revoke(coin), Ok(2));
    let gone = (COURIER.look(theirs), VAULT.value(back), VAULT.value(coin));
    expect("it is gone", gone, (Err(Error::NotAllowed), Err(Error::NotAllowed), Ok(43)));

    let few = Rights { methods: Rights::LOOK, calls: 2, hands: 1 };
    let weak = CAPABILITIES.derive(coin, few).unwrap_or(0);
    let theirs = COURIER.hand(weak).unwrap_or(0);
    expect("a weaker one changes nothing", COURIER.change(theirs, 0), Err(Error::NotAllowed));
    expect("and goes no further", COURIER.back(), Err(Error::NotAllowed));
    let stronger = CAPABILITIES.derive(weak, Rights::ALL).unwrap_or(0);
    expect("nor is it made stronger", VAULT.change(stronger, 0), Err(Error::NotAllowed));
    let calls = [COURIER.look(theirs), VAULT.value(stronger), COURIER.look(theirs)];
    expect("for two calls of all", calls, [Ok(43), Ok(43), Err(Error::Exhausted)]);
    expect("of the first there are any", VAULT.value(coin), Ok(43));
    expect("nobody takes back another's", CAPABILITIES.revoke(theirs), Err(Error::NotAllowed));

    let derived = |_: &u64| CAPABILITIES.derive(coin, Rights::ALL).is_ok();
    expect("as many as there are places", (0..100).take_while(derived).count(), 64 - 5);
    expect("then no more", COURIER.hand(other), Err(Error::Exhausted));
    expect("until they are taken back", CAPABILITIES.revoke(coin), Ok(64 - 2));
    expect("the courier is none the worse", COURIER.hand(other).is_ok(), true);
    CONSOLE.print(format_args!("capability-manager: done\n")).expect("console");
    let _ = imports::SUPERVISOR.halt(0);
}
