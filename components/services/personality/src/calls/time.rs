//! Time, and chance.

use super::{Answer, Outcome, done};
use crate::clock::{uptime, wall};
use crate::limits;
use crate::system::System;
use alloc::vec::Vec;
use cairn_personality::errno::{Errno, Result};
use core::time::Duration;
use linux_raw_sys::general::*;

fn bytes(time: Duration) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&time.as_secs().to_le_bytes());
    bytes[8..].copy_from_slice(&u64::from(time.subsec_nanos()).to_le_bytes());
    bytes
}

/// A `struct timespec` of the process that runs.
pub fn duration(system: &mut System, at: u64) -> Result<Duration> {
    let next = at.checked_add(8).ok_or(Errno::EFAULT)?;
    let (seconds, nanoseconds) = (system.word(at)?, system.word(next)?);
    let is_one = seconds <= i64::MAX as u64 && nanoseconds < 1_000_000_000;
    is_one.then(|| Duration::new(seconds, nanoseconds as u32)).ok_or(Errno::EINVAL)
}

/// When what it waits for is over, in ticks: the same, however often it makes its call.
pub fn deadline(system: &mut System, wait: Duration) -> u64 {
    let end = cairn::time::counter().saturating_add(cairn::time::ticks_of(wait));
    *system.me().until.get_or_insert(end)
}

/// What a clock shows.
fn now(system: &mut System, clock: u32) -> Result<Duration> {
    match clock {
        CLOCK_REALTIME | CLOCK_REALTIME_COARSE | CLOCK_TAI => Ok(wall()),
        CLOCK_MONOTONIC | CLOCK_MONOTONIC_RAW | CLOCK_MONOTONIC_COARSE | CLOCK_BOOTTIME => {
            Ok(uptime())
        }
        CLOCK_PROCESS_CPUTIME_ID | CLOCK_THREAD_CPUTIME_ID => {
            Ok(cairn::time::duration(system.me().computed))
        }
        _ => Err(Errno::EINVAL),
    }
}

/// What a clock shows.
pub fn clock(system: &mut System, clock: u32, to: u64) -> Answer {
    let now = now(system, clock)?;
    system.write(to, &bytes(now))?;
    done(0)
}

/// How exact a clock is.
pub fn resolution(system: &mut System, clock: u32, to: u64) -> Answer {
    now(system, clock)?;
    if to != 0 {
        let tick = cairn::time::duration(1).max(Duration::from_nanos(1));
        system.write(to, &bytes(tick))?;
    }
    done(0)
}

/// The time of day in microseconds.
pub fn of_day(system: &mut System, to: u64) -> Answer {
    let now = wall();
    let mut bytes = bytes(now);
    bytes[8..].copy_from_slice(&u64::from(now.subsec_micros()).to_le_bytes());
    if to != 0 {
        system.write(to, &bytes)?;
    }
    done(0)
}

/// Waits for a while, or until a time.
pub fn sleep(system: &mut System, (clock, flags): (u32, u32), at: u64, rest: u64) -> Answer {
    let mut wait = duration(system, at)?;
    if flags & TIMER_ABSTIME != 0 {
        wait = wait.saturating_sub(now(system, clock)?);
    } else {
        now(system, clock)?;
    }
    let until = deadline(system, wait);
    let left = until.saturating_sub(cairn::time::counter());
    if left == 0 {
        return done(0);
    }
    if rest != 0 && flags & TIMER_ABSTIME == 0 {
        // A signal may end it at any time.
        system.write(rest, &bytes(cairn::time::duration(left)))?;
    }
    Ok(Outcome::Waits(Some(until)))
}

/// Bytes by chance.
pub fn random(system: &mut System, to: u64, length: u64) -> Answer {
    let count = length.min(limits::PART);
    let words = (0..count.div_ceil(8)).map(|_| system.random.next());
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take(count as usize).collect();
    system.write(to, &bytes)?;
    done(count)
}
