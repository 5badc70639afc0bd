//! A thread of the one executes code of the other, which stays where it is when the one is killed: the thread goes home all the same.

use super::imports::{GUEST, HOST, SUPERVISOR, THREADS};
use super::{READ, expect, judge, lives, place};
use cairn::Error;
use cairn::abi::RegionId;
use cairn::abi::address::{IMAGE_OFFSET, image_spread, region};
use cairn::thread::Stack;
use cairn_interfaces::spawn;
use cairn_test_trouble::TroubleProxy;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const JUMP: u64 = 3;
/// The instruction `pause`, which stands in the loop that never ends.
const PAUSE: u64 = 0x0100_000f;
/// Where it is looked for.
const TEXT_MAXIMUM: u64 = 0x8000;

static STACK: Stack<8192> = Stack::new();
// Relaxed: told by one thread to another.
static CAME_BACK: AtomicU64 = AtomicU64::new(0);

fn stray(to: u64) {
    // A loop of the guest's is for the host to execute, and the other way round.
    let is_guests = to >> 63 != 0;
    let of = if is_guests { HOST } else { GUEST };
    let found = of.commit(JUMP, to & !(1 << 63));
    CAME_BACK.store(if found == Err(Error::Dead) { 1 } else { 2 }, Relaxed);
}

/// The loop of an instance, as another reads it that has it in its page table.
fn find(by: TroubleProxy, home: u16) -> Option<u64> {
    let home = RegionId(home);
    let first = region(home) + IMAGE_OFFSET + image_spread(home);
    let word = |at: u64| by.commit(READ, at).unwrap_or(0);
    (first..first + TEXT_MAXIMUM).step_by(8).find_map(|at| {
        let both = u128::from(word(at)) | u128::from(word(at + 8)) << 64;
        let is_there = |place: &u64| (both >> (place * 8)) as u32 == PAUSE as u32;
        [0, 2, 4, 6].iter().find(|place| is_there(place)).map(|place| at + place)
    })
}

/// Where both are in one page table; at home they are in these domains.
pub fn attack([guest, host]: [u16; 2]) {
    let loops = (find(HOST, guest), find(GUEST, host));
    let (Some(of_guest), Some(of_host)) = loops else {
        return expect("both have a loop", loops, (Some(0), Some(0)));
    };
    for (name, of, other, to) in
        [("host", HOST, GUEST, of_guest | 1 << 63), ("guest", GUEST, HOST, of_host)]
    {
        CAME_BACK.store(0, Relaxed);
        let calls = other.count().unwrap_or(0);
        let inside = spawn(THREADS, &STACK, stray, to, 50).expect("a thread");
        judge::pause(THREADS, 2000);
        expect("it executes the other's code", CAME_BACK.load(Relaxed), 0);
        expect("it is killed there", SUPERVISOR.kill(name), Ok(()));
        let is_back = judge::wait_until(THREADS, || CAME_BACK.load(Relaxed) != 0);
        expect("who was there comes back", (name, is_back), (name, true));
        expect("with an error", CAME_BACK.load(Relaxed), 1);
        let _ = inside.join();
        expect("the other goes on", (name, other.count()), (name, Ok(calls + 1)));
        lives(of, name);
        expect("and stays where it was", place("guest").1, true);
    }
}
