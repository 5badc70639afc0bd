//! Waiting for several descriptors.

use super::files::is_ready;
use super::time::{deadline, duration};
use super::{Answer, Outcome, done};
use crate::limits;
use crate::signals::ALWAYS;
use crate::system::System;
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;

/// Other signals are let through until the call comes back.
fn let_through(system: &mut System, mask: u64) -> Result<()> {
    if mask != 0 && system.me().signals.restored.is_none() {
        let blocked = system.word(mask)? & !ALWAYS;
        let signals = &mut system.me().signals;
        signals.restored = Some(core::mem::replace(&mut signals.blocked, blocked));
    }
    Ok(())
}

/// What comes of a look at all of them: `count` are ready.
fn looked(system: &mut System, count: u64, timeout: u64) -> Answer {
    let until = match timeout {
        0 => None,
        _ => {
            let wait = duration(system, timeout)?;
            Some(deadline(system, wait))
        }
    };
    let is_late = until.is_some_and(|until| until <= cairn::time::counter());
    if count == 0 && !is_late && !system.me().signals.has_come() {
        return Ok(Outcome::Waits(until));
    }
    let signals = &mut system.me().signals;
    if count == 0 && signals.has_come() {
        // They are taken before it is made again.
        return Ok(Outcome::Waits(until));
    }
    if let Some(mask) = signals.restored.take() {
        signals.blocked = mask;
    }
    done(count)
}

/// By a list of descriptors.
pub fn poll(system: &mut System, list: u64, count: u64, timeout: u64, mask: u64) -> Answer {
    const ENTRY: u64 = 8;
    if count > limits::DESCRIPTORS as u64 {
        return Err(Errno::EINVAL);
    }
    let_through(system, mask)?;
    let mut ready = 0;
    for place in 0..count {
        let at = list.checked_add(place * ENTRY).ok_or(Errno::EFAULT)?;
        let entry = system.word(at)?.to_le_bytes();
        let number = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let wanted = u32::from(u16::from_le_bytes([entry[4], entry[5]]));
        let mut found = 0;
        if number >= 0 {
            match system.me().files.get(number as u64) {
                Ok(open) => {
                    let (reads, writes, is_gone) = is_ready(system, &open);
                    let bit = |is: bool, bit: u32| if is { bit } else { 0 };
                    found = (bit(reads, POLLIN | POLLRDNORM) | bit(writes, POLLOUT | POLLWRNORM))
                        & wanted;
                    found |= bit(is_gone, if writes { POLLERR } else { POLLHUP });
                }
                Err(_) => found = POLLNVAL,
            }
        }
        ready += u64::from(found != 0);
        let at = at.checked_add(6).ok_or(Errno::EFAULT)?;
        system.write(at, &(found as u16).to_le_bytes())?;
    }
    looked(system, ready, timeout)
}

/// By sets of descriptors: to be read, to be written, and in trouble, which none ever is.
pub fn select(system: &mut System, most: u64, sets: [u64; 3], timeout: u64, mask: u64) -> Answer {
    let most = most.min(limits::DESCRIPTORS as u64);
    if mask != 0 {
        let mask = system.word(mask)?;
        let_through(system, mask)?;
    }
    let wanted = |system: &mut System, at: u64| if at == 0 { Ok(0) } else { system.word(at) };
    let [reads, writes, _] = sets;
    let (reads, writes) = (wanted(system, reads)?, wanted(system, writes)?);
    let mut found = [0u64; 3];
    let mut count = 0;
    for number in (0..most).filter(|number| (reads | writes) >> number & 1 != 0) {
        let open = system.me().files.get(number)?;
        let (read, write, is_gone) = is_ready(system, &open);
        for (place, is_set) in [
            (0, (read || is_gone) && reads >> number & 1 != 0),
            (1, write && writes >> number & 1 != 0),
        ] {
            if is_set {
                found[place] |= 1 << number;
                count += 1;
            }
        }
    }
    let answer = looked(system, count, timeout)?;
    if let Outcome::Done(_) = answer {
        for (at, found) in sets.into_iter().zip(found).filter(|(at, _)| *at != 0) {
            system.write(at, &found.to_le_bytes())?;
        }
    }
    Ok(answer)
}
