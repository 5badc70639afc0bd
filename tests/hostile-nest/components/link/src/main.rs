//! Calls its peers, which its argument names, one in the other, so that a thread is in many of them at once.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::WriteWindow;
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_nest_link::{Link, LinkProxy};
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
/// The index of each peer's portals; zero: not open.
static OPEN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

cairn::component! {
    name: "nest-link",
    imports: { threads: interfaces::Threads, portals: interfaces::Portals },
    exports: { link: Link = SERVER },
}

use imports::{PORTALS, THREADS};

/// Calls a peer. It may have died since its portals were opened, and then they are opened anew.
fn call(which: usize, body: impl FnOnce(LinkProxy) -> Result<u64, Error>) -> Result<u64, Error> {
    let name = environment::argument().split(' ').nth(which).ok_or(Error::NotFound)?;
    let open = &OPEN[which % 2];
    let mut first = open.load(Relaxed);
    if first == 0 {
        first = PORTALS.open_object::<dyn Link>(name)?.first_portal().into();
        if let Err(other) = open.compare_exchange(0, first, Relaxed, Relaxed) {
            let _ = PORTALS.close(first);
            first = other;
        }
    }
    let result = body(LinkProxy::at(first as u32));
    if matches!(result, Err(Error::Dead | Error::NoPortal))
        && open.compare_exchange(first, 0, Relaxed, Relaxed).is_ok()
    {
        let _ = PORTALS.close(first);
    }
    result
}

#[inline(never)]
fn waste(path: u64) -> u64 {
    black_box([path; 40])[7]
}

impl Link for Server {
    fn down(&self, depth: u64, path: u64) -> Result<u64, Error> {
        let kept: [u64; 8] = core::array::from_fn(|at| black_box(path + at as u64));
        if depth == 0 {
            match path & 7 {
                0 => THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(path & 0xff))?,
                1 => panic!("as asked"),
                2 => (0..path & 0xfff).for_each(|_| black_box(())),
                _ => {}
            }
            return Ok(0);
        }
        let reached = call((path & 1) as usize, |peer| peer.down(depth - 1, path.rotate_right(1)));
        waste(path);
        let is_kept = kept.iter().enumerate().all(|(at, word)| *word == path + at as u64);
        if is_kept { Ok(reached? + 1) } else { Err(Error::Malformed) }
    }

    fn pass(&self, depth: u64, path: u64, bytes: WriteWindow<'_>) -> Result<u64, Error> {
        let mut own = [0; 64];
        let count = bytes.as_read().read(0, &mut own)?;
        own[(depth % 64) as usize] = depth as u8;
        let reached = match depth {
            0 => Ok(0),
            _ => call((path & 1) as usize, |peer| {
                peer.pass(depth - 1, path.rotate_right(1), &mut own[..count])
                    .map(|reached| reached + 1)
            }),
        };
        bytes.write(0, &own[..count])?;
        reached
    }
}
