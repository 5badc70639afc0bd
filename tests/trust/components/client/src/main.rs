//! Calls the same server with every kind of trust, and has it die in each.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::address::{PAGE_SIZE, SECTIONS, STACK_GROUPS};
use cairn::call::Call;
use cairn::exclusive::Exclusive;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::say;
use cairn_test_trust_contract::{Friend, FriendProxy, busy};

cairn::component! {
    name: "trust-client",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        none: Friend,
        shared: Friend,
        #[minimal] minimal: Friend,
        #[minimal] both: Friend,
    },
    main: main,
}

const KINDS: [(&str, FriendProxy); 4] = [
    ("neither", imports::NONE),
    ("a shared stack", imports::SHARED),
    ("minimal state", imports::MINIMAL),
    ("both", imports::BOTH),
];

#[repr(align(4096))]
struct Pages([u8; 3 * PAGE_SIZE as usize]);
static PAGES: Exclusive<Pages> = Exclusive::new(Pages([0; 3 * PAGE_SIZE as usize]));

fn main() {
    for (name, friend) in KINDS {
        stacks(name, friend);
        small(friend);
        words(friend);
        PAGES.with(|pages| large(friend, &mut pages.0));
        say!("ok: calls with {name}");
    }
    for (name, friend) in KINDS {
        // More often than it has stacks.
        for seed in 1..=3 {
            death(friend, seed);
        }
        death_of_words(name, friend);
        PAGES.with(|pages| death_with_window(friend, &mut pages.0));
        say!("ok: death with {name}");
    }
    let _ = imports::SUPERVISOR.halt(0);
}

fn is_group(address: u64) -> bool {
    (STACK_GROUPS..SECTIONS).contains(&address)
}

/// This thread began on a stack of the group: a callee is on the same, or on one of its own.
fn stacks(name: &str, friend: FriendProxy) {
    let own = 0u64;
    let own = &raw const own as u64;
    assert!(is_group(own));
    let theirs = friend.stack().expect("stack");
    let shares = name == "both" || name == "a shared stack";
    assert_eq!(is_group(theirs), shares, "{name}: {theirs:#x}");
    assert!(!shares || (theirs < own && own - theirs < 8 * PAGE_SIZE), "{name}: {theirs:#x}");
}

/// What is copied, from and to the stack.
fn small(friend: FriendProxy) {
    let mut bytes = [3u8; 64];
    assert_eq!(friend.sum(&bytes), Ok(3 * 64));
    assert_eq!(friend.fill(&mut bytes[1..63], 5), Ok(()));
    assert_eq!((bytes[0], bytes[1], bytes[62], bytes[63]), (3, 5, 5, 3));
}

/// Replies of four words, with registers in use meanwhile.
fn words(friend: FriendProxy) {
    for seed in 0..4u64 {
        let [b, c, d, e, f, g] =
            [1, 2, 3, 4, 5, 6].map(|turn| (seed + turn).rotate_right(turn as u32));
        let inner = busy(seed, |_| {}) ^ seed.wrapping_add(b).wrapping_add(c);
        let mut result = Err(Error::Unknown);
        let found = busy(seed, |seed| result = friend.mixed(seed, b, c, d, e, f, g));
        assert_eq!(found, busy(seed, |_| {}));
        assert_eq!(result, Ok((g, f ^ e, d, inner)));
    }
    assert_eq!(friend.mixed_not(true, 1), Err(Error::Busy));
}

/// Its death in such a call leaves nothing of it in the registers of a reply.
fn death_of_words(name: &str, friend: FriendProxy) {
    let is_minimal = name == "minimal state" || name == "both";
    if is_minimal {
        // Whoever calls without the proxy loses its registers.
        let expected = busy(1, |_| {});
        let found = busy(1, |_| assert_eq!(friend.mixed_not(false, !0), Err(Error::Dead)));
        assert_eq!(found, expected);
    } else {
        let method = FriendProxy::DESCRIPTOR
            .methods
            .iter()
            .position(|method| cairn::abi::descriptor::is_name(&method.name, b"mixed_not"));
        let index = friend.first_portal() + method.expect("a method") as u32;
        let mut call = Call::new();
        call.word(0);
        call.word(!0);
        assert_eq!(call.invoke(index), (Error::Dead.status(), [0; 4]));
    }
    answers_again(friend);
    words(friend);
}

/// What goes through windows: pages, and what lies on the stack.
fn large(friend: FriendProxy, pages: &mut [u8]) {
    pages.fill(1);
    assert_eq!(friend.sum(pages), Ok(3 * PAGE_SIZE));
    assert_eq!(friend.fill(&mut pages[PAGE_SIZE as usize..][..PAGE_SIZE as usize], 2), Ok(()));
    assert_eq!(friend.sum(pages), Ok(4 * PAGE_SIZE));
    let mut on_stack = [1u8; 1000];
    assert_eq!(friend.sum(&on_stack), Ok(1000));
    assert_eq!(friend.fill(&mut on_stack, 4), Ok(()));
    assert_eq!(on_stack.iter().filter(|byte| **byte == 4).count(), 1000);
}

/// Its death is an error, after which this component has every register that calls keep.
fn death(friend: FriendProxy, seed: u64) {
    let expected = busy(seed, |_| {});
    let mut result = Ok(0);
    let found = busy(seed, |seed| result = friend.die(seed));
    assert_eq!((result, found), (Err(Error::Dead), expected));
    answers_again(friend);
}

/// The window closes; what was written stays.
fn death_with_window(friend: FriendProxy, pages: &mut [u8]) {
    pages.fill(0);
    let middle = &mut pages[PAGE_SIZE as usize..][..PAGE_SIZE as usize];
    assert_eq!(friend.fill_and_die(middle, 9), Err(Error::Dead));
    assert_eq!(pages.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 9 * PAGE_SIZE);
    answers_again(friend);
    large(friend, pages);
}

fn answers_again(friend: FriendProxy) {
    assert_eq!(imports::SUPERVISOR.restart("friend"), Ok(()));
    while friend.stack() == Err(Error::Dead) {
        imports::THREADS.sleep_until(now() + ticks(500)).expect("sleep");
    }
    small(friend);
}
