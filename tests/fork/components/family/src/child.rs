//! What a copy has, and what it has not.

use crate::imports::{LOADER, MEMORY, PORTALS, THREADS, TILL};
use crate::{NOTIFIED, NOTIFIED_COUNT, PASSED, QUOTAS, expect, explain, fork, idle, own};
use cairn::fork::Side;
use cairn::thread::Stack;
use cairn_interfaces::{SemaphoreProxy, spawn};
use cairn_test_shared_contract::Till;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

const BYTES: usize = 200;

/// Whole pages, which go in a window.
#[repr(C, align(4096))]
struct Page([AtomicU8; 4096]);
static PAGE: Page = Page([const { AtomicU8::new(0) }; 4096]);
static COUNT: AtomicU64 = AtomicU64::new(0);
static STACK: Stack<4096> = Stack::new();

fn fill(byte: u8) {
    PAGE.0.iter().for_each(|place| place.store(byte, Relaxed));
}

/// The sum that the till makes of the page, which it finds in a window at addresses that the family's other members have, too.
fn sum() -> Result<u64, cairn::Error> {
    let mut bytes = [0; BYTES];
    bytes.iter_mut().zip(&PAGE.0).for_each(|(byte, place)| *byte = place.load(Relaxed));
    TILL.sum(&bytes)
}

fn count(by: u64) {
    COUNT.fetch_add(by, Relaxed);
}

/// All that a copy can do.
pub fn one(done: SemaphoreProxy) {
    let parent = u64::from(own());
    let on_stack = AtomicU64::new(5);
    fill(1);
    COUNT.store(7, Relaxed);
    let page = MEMORY.pages(1).expect("a page");
    page.store(0, 40);
    let side = fork("child", QUOTAS);
    match side {
        Ok(Side::Child) => {
            expect(
                "it has what its parent had",
                (COUNT.load(Relaxed), on_stack.load(Relaxed)),
                (7, 5),
            );
            expect("and what that allocated", page.load(0), 40);
            fill(3);
            page.store(0, 41);
            on_stack.store(6, Relaxed);
            expect(
                "it is another",
                (TILL.who(), u64::from(own()) == parent),
                (Ok(own().into()), false),
            );
            expect("its memory goes in windows", sum(), Ok(3 * BYTES as u64));
            let mut bytes = [0; BYTES];
            expect("and what is written comes back", TILL.number(&mut bytes), Ok(()));
            expect("to it", bytes[199], 199);
            let spawned = spawn(THREADS, &STACK, count, 10, 30);
            let joined = spawned.and_then(|thread| thread.join());
            expect("it has threads", (joined, COUNT.load(Relaxed)), (Ok(()), 17));
            let more = MEMORY.pages(2).map(|more| {
                more.store(8, 9);
                more.load(8)
            });
            expect("it has more memory", more, Ok(9));
            let opened = PORTALS.open_proxy::<dyn Till>("teller.till");
            expect(
                "it opens what is open to all",
                opened.map(|till| till.who()),
                Ok(Ok(own().into())),
            );
            expect("it may have no children", fork("grandchild", QUOTAS).err().is_some(), true);
            let _ = done.v();
            idle();
        }
        Ok(Side::Parent(child)) => {
            expect("the child does all this", done.p(), Ok(()));
            expect(
                "the parent's memory is as it was",
                (sum(), page.load(0)),
                (Ok(BYTES as u64), 40),
            );
            expect(
                "its statics, and its stack",
                (COUNT.load(Relaxed), on_stack.load(Relaxed)),
                (7, 5),
            );
            expect("the child's calls came by", PASSED.load(Relaxed) > 10, true);
            let first = NOTIFIED.load(Relaxed);
            expect(
                "it was told of what the child opened",
                (first > 16, NOTIFIED_COUNT.load(Relaxed)),
                (true, 10),
            );
            expect("the child is no other", child.0 != own(), true);
            expect("it ends", LOADER.unload("child"), Ok(()));
        }
        Err(_) => explain(&side),
    }
}
