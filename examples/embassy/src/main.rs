//! Two asynchronous tasks, on one thread, beside threads that just wait: a task samples ten times a second, one takes the samples out of a
//! channel. A second thread, which waits as threads do, sends into the same channel, and so do callers.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::{Stack, sleep, spawn};
use cairn::time::Duration;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, embassy, println};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Console, Portals, Threads};
use embassy_executor::Spawner;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use embassy_time::{Instant, Ticker, with_timeout};

struct Callers;
static CALLERS: Callers = Callers;

cairn::component! {
    name: "embassy",
    imports: { console: Console, threads: Threads, portals: Portals },
    exports: { samples: Echo = CALLERS },
    main: main,
}

/// Who sent, and what.
static SAMPLES: Channel<CriticalSectionRawMutex, (&'static str, u64), 4> = Channel::new();

#[embassy_executor::task]
async fn sample() {
    let mut ticker = Ticker::every(embassy_time::Duration::from_millis(100));
    for number in 1.. {
        ticker.next().await;
        SAMPLES.send(("task", number)).await;
    }
}

#[embassy_executor::task]
async fn show() {
    let begin = Instant::now();
    loop {
        match with_timeout(embassy_time::Duration::from_millis(150), SAMPLES.receive()).await {
            Ok((who, number)) => {
                println!("{who} {number} after {} ms", begin.elapsed().as_millis())
            }
            Err(_) => println!("no sample in 150 ms"),
        }
    }
}

/// Any thread sends, unless the channel is full.
fn send(who: &'static str, number: u64) -> Result<(), Error> {
    SAMPLES.try_send((who, number)).map_err(|_| Error::WouldBlock)
}

impl Echo for Callers {
    fn add(&self, left: u64, right: u64) -> Result<u64, Error> {
        let sum = left.checked_add(right).ok_or(Error::BadArgument)?;
        send("caller", sum).map(|()| sum)
    }

    fn say(&self, _: ReadWindow) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }
}

fn blocking() -> Result<(), Error> {
    for number in 1.. {
        sleep(Duration::from_millis(250))?;
        send("thread", number)?;
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    static STACK: Stack<8192> = Stack::new();
    // It waits beside the tasks for as long as they run.
    let _thread = spawn(&STACK, 40, blocking)?;
    embassy::run(|spawner: Spawner| {
        spawner.spawn(sample().expect("there is one"));
        spawner.spawn(show().expect("there is one"));
    })
}
