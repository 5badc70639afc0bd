//! Signals.

use super::time::{deadline, duration};
use super::{Answer, Outcome, done};
use crate::process::Process;
use crate::signals::{self, ALWAYS, Action, Cause, SIGNALS};
use crate::system::{BY_PROCESS, FIRST, System};
use cairn_personality::errno::{Errno, Result};
use core::time::Duration;
use linux_raw_sys::general::*;

/// Bytes of a set of signals.
const SET: u64 = 8;
/// Bytes of a stack for handlers at least.
const STACK_LEAST: u64 = 2048;

fn signal(number: u64) -> Result<u32> {
    u32::try_from(number).ok().filter(|number| *number <= SIGNALS).ok_or(Errno::EINVAL)
}

fn send(system: &mut System, is_meant: impl Fn(&Process) -> bool, number: u64) -> Answer {
    let signal = signal(number)?;
    let cause = Cause { code: BY_PROCESS, word: system.me().number.into() };
    system.send(is_meant, signal, cause)?;
    done(0)
}

/// Sends one to a process, a group, or all but oneself.
pub fn kill(system: &mut System, whom: i32, number: u64) -> Answer {
    let (own, group) = (system.me().number, system.me().group);
    match whom {
        0 => send(system, |one| one.group == group, number),
        -1 => send(system, |one| one.number != own && one.number != FIRST, number),
        1.. => send(system, |one| one.number == whom as u32, number),
        _ => send(system, |one| one.group == whom.unsigned_abs(), number),
    }
}

/// Sends one to a process.
pub fn kill_one(system: &mut System, whom: i32, number: u64) -> Answer {
    let whom = u32::try_from(whom).ok().filter(|whom| *whom > 0).ok_or(Errno::EINVAL)?;
    send(system, |one| one.number == whom, number)
}

/// What is done with one, and from now on.
pub fn action(system: &mut System, number: u64, new: u64, old: u64, size: u64) -> Answer {
    if size != SET || signal(number)? == 0 {
        return Err(Errno::EINVAL);
    }
    let before = *system.me().signals.action(number)?;
    if new != 0 {
        let mut bytes = [0; 24];
        system.read(new, &mut bytes)?;
        if ALWAYS & signals::bit(number as u32) != 0 {
            return Err(Errno::EINVAL);
        }
        let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes"));
        let signals = &mut system.me().signals;
        *signals.action(number)? = Action { handler: word(0), flags: word(8), mask: word(16) };
        if signals.ignores(number as u32) {
            signals.pending &= !signals::bit(number as u32);
        }
    }
    if old != 0 {
        let mut bytes = [0; 24];
        for (place, word) in [before.handler, before.flags, before.mask].into_iter().enumerate() {
            bytes[place * 8..][..8].copy_from_slice(&word.to_le_bytes());
        }
        system.write(old, &bytes)?;
    }
    done(0)
}

/// Which wait, and from now on.
pub fn mask(system: &mut System, how: u32, new: u64, old: u64, size: u64) -> Answer {
    if size != SET {
        return Err(Errno::EINVAL);
    }
    let before = system.me().signals.blocked;
    if new != 0 {
        let set = system.word(new)?;
        let blocked = match how {
            SIG_BLOCK => before | set,
            SIG_UNBLOCK => before & !set,
            SIG_SETMASK => set,
            _ => return Err(Errno::EINVAL),
        };
        system.me().signals.blocked = blocked & !ALWAYS;
    }
    if old != 0 {
        system.write(old, &before.to_le_bytes())?;
    }
    done(0)
}

/// Which have come and wait.
pub fn pending(system: &mut System, to: u64, size: u64) -> Answer {
    if size > SET {
        return Err(Errno::EINVAL);
    }
    let signals = &system.me().signals;
    let waiting = signals.pending & signals.blocked;
    system.write(to, &waiting.to_le_bytes()[..size as usize])?;
    done(0)
}

/// Waits for a signal, with others blocked meanwhile.
pub fn suspend(system: &mut System, mask: u64, size: u64) -> Answer {
    if size != SET {
        return Err(Errno::EINVAL);
    }
    let blocked = system.word(mask)? & !ALWAYS;
    let signals = &mut system.me().signals;
    if signals.restored.is_none() {
        signals.restored = Some(core::mem::replace(&mut signals.blocked, blocked));
    }
    Ok(Outcome::Waits(None))
}

/// A handler has come back.
pub fn leave_handler(system: &mut System) -> Answer {
    let (process, machine) = system.parts();
    if signals::leave(process, machine).is_err() {
        signals::fault(process, SIGSEGV, Cause::default());
    }
    Ok(Outcome::Elsewhere)
}

/// Where handlers have their stack.
pub fn stack(system: &mut System, new: u64, old: u64) -> Answer {
    let before = system.me().signals.stack;
    if new != 0 {
        let mut bytes = [0; 24];
        system.read(new, &mut bytes)?;
        let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes"));
        let (base, flags, size) = (word(0), word(8) as u32, word(16));
        if flags & !SS_DISABLE != 0 {
            return Err(Errno::EINVAL);
        }
        if flags & SS_DISABLE == 0 && size < STACK_LEAST {
            return Err(Errno::ENOMEM);
        }
        system.me().signals.stack = (base, flags, size);
    }
    if old != 0 {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&before.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&before.1.to_le_bytes());
        bytes[16..].copy_from_slice(&before.2.to_le_bytes());
        system.write(old, &bytes)?;
    }
    done(0)
}

/// An alarm after a while, once.
pub fn set_alarm(system: &mut System, which: u32, new: u64, old: u64) -> Answer {
    if which != ITIMER_REAL {
        return Err(Errno::EINVAL);
    }
    let now = cairn::time::counter();
    let left = system.me().alarm.map_or(0, |alarm| alarm.saturating_sub(now).max(1));
    if old != 0 {
        let left = cairn::time::duration(left);
        let mut bytes = [0; 32];
        bytes[16..24].copy_from_slice(&left.as_secs().to_le_bytes());
        bytes[24..].copy_from_slice(&u64::from(left.subsec_micros()).to_le_bytes());
        system.write(old, &bytes)?;
    }
    if new != 0 {
        let at = new.checked_add(16).ok_or(Errno::EFAULT)?;
        let (seconds, microseconds) = (system.word(at)?, system.word(at + 8)?);
        if microseconds >= 1_000_000 || seconds > u64::from(u32::MAX) {
            return Err(Errno::EINVAL);
        }
        let wait = Duration::from_secs(seconds) + Duration::from_micros(microseconds);
        let end = now.saturating_add(cairn::time::ticks_of(wait));
        system.me().alarm = (!wait.is_zero()).then_some(end);
    }
    done(0)
}

/// Takes one of a set of signals that are blocked, or waits for one.
pub fn wait(system: &mut System, set: u64, to: u64, timeout: u64, size: u64) -> Answer {
    if size != SET {
        return Err(Errno::EINVAL);
    }
    let set = system.word(set)?;
    let until = match timeout {
        0 => None,
        _ => {
            let wait = duration(system, timeout)?;
            Some(deadline(system, wait))
        }
    };
    if let Some((signal, cause)) = system.me().signals.take_of(set) {
        if to != 0 {
            let mut bytes = [0; 128];
            bytes[..4].copy_from_slice(&signal.to_le_bytes());
            bytes[8..12].copy_from_slice(&cause.code.to_le_bytes());
            bytes[16..24].copy_from_slice(&cause.word.to_le_bytes());
            system.write(to, &bytes)?;
        }
        return done(signal.into());
    }
    match until {
        Some(until) if until <= cairn::time::counter() => Err(Errno::EAGAIN),
        _ => Ok(Outcome::Waits(until)),
    }
}
