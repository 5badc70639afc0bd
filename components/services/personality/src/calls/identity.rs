//! Who a process is, and on what machine.

use super::{Answer, done};
use crate::arch::MACHINE;
use crate::limits;
use crate::system::System;
use cairn_personality::areas::PAGE;
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;
use linux_raw_sys::prctl::{PR_GET_NAME, PR_SET_NAME};

/// Bytes of each name of the machine.
const NAME: usize = 65;

/// A number that means the one that runs if it is 0.
fn of(system: &mut System, number: u32) -> Result<u32> {
    let own = system.me().number;
    let number = if number == 0 { own } else { number };
    system.find(number).filter(|one| one.lives()).map(|one| one.number).ok_or(Errno::ESRCH)
}

/// The group of a process.
pub fn group(system: &mut System, number: u32) -> Answer {
    let number = of(system, number)?;
    done(system.find(number).map_or(0, |one| one.group).into())
}

/// The session of a process.
pub fn session(system: &mut System, number: u32) -> Answer {
    let number = of(system, number)?;
    done(system.find(number).map_or(0, |one| one.session).into())
}

/// Puts a process into a group of its session, or into a new one.
pub fn set_group(system: &mut System, number: u32, group: u32) -> Answer {
    let number = of(system, number)?;
    let (own, session) = (system.me().number, system.me().session);
    let group = if group == 0 { number } else { group };
    if group > i32::MAX as u32 {
        return Err(Errno::EINVAL);
    }
    let there = system.all().any(|one| (one.group, one.session) == (group, session));
    let process = system.find_mut(number).ok_or(Errno::ESRCH)?;
    if number != own && process.parent != own {
        return Err(Errno::ESRCH);
    }
    if process.session != session || process.session == number || group != number && !there {
        return Err(Errno::EPERM);
    }
    process.group = group;
    done(0)
}

/// A session of its own.
pub fn begin_session(system: &mut System) -> Answer {
    let own = system.me().number;
    if system.all().any(|one| one.group == own) {
        return Err(Errno::EPERM);
    }
    let process = system.me();
    (process.group, process.session) = (own, own);
    done(own.into())
}

/// What the machine and its system are called.
pub fn name(system: &mut System, to: u64) -> Answer {
    let names = ["Linux", "cairn", "6.1.0-cairn", "#1 Cairn's personality", MACHINE, "(none)"];
    let mut bytes = [0; NAME * 6];
    for (place, name) in names.into_iter().enumerate() {
        bytes[place * NAME..][..name.len()].copy_from_slice(name.as_bytes());
    }
    system.write(to, &bytes)?;
    done(0)
}

/// How much it may have; no limit is changed.
pub fn limits(system: &mut System, which: u32, to: u64) -> Answer {
    let limit = match which {
        RLIMIT_STACK => limits::STACK,
        RLIMIT_NOFILE => limits::DESCRIPTORS as u64,
        RLIMIT_NPROC => limits::PROCESSES as u64,
        RLIMIT_AS | RLIMIT_DATA => limits::ADDRESSES,
        RLIMIT_FSIZE => limits::FILE,
        RLIMIT_CORE => 0,
        0..RLIM_NLIMITS => u64::MAX,
        _ => return Err(Errno::EINVAL),
    };
    if to != 0 {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&limit.to_le_bytes());
        bytes[8..].copy_from_slice(&limit.to_le_bytes());
        system.write(to, &bytes)?;
    }
    done(0)
}

/// What a process says of itself: its name, and nothing else.
pub fn control(system: &mut System, what: u32, at: u64) -> Answer {
    const LENGTH: usize = 16;
    match what {
        PR_SET_NAME => {
            let (process, machine) = system.parts();
            let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
            let mut name = [0; LENGTH];
            for (place, byte) in name.iter_mut().enumerate().take(LENGTH - 1) {
                let at = at.checked_add(place as u64).ok_or(Errno::EFAULT)?;
                memory.read(machine, at, core::slice::from_mut(byte))?;
                if *byte == 0 {
                    break;
                }
            }
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(LENGTH);
            process.name = name[..end].to_vec();
        }
        PR_GET_NAME => {
            let mut name = [0; LENGTH];
            let own = &system.me().name;
            let count = own.len().min(LENGTH - 1);
            name[..count].copy_from_slice(&own[..count]);
            system.write(at, &name)?;
        }
        _ => return Err(Errno::EINVAL),
    }
    done(0)
}

/// For how long it has computed.
pub fn usage(system: &mut System, to: u64) -> Answer {
    let computed = cairn::time::duration(system.me().computed);
    let mut bytes = [0; 144];
    bytes[..8].copy_from_slice(&computed.as_secs().to_le_bytes());
    bytes[8..16].copy_from_slice(&u64::from(computed.subsec_micros()).to_le_bytes());
    system.write(to, &bytes)?;
    done(0)
}

/// The same in hundredths of a second; those since the machine began.
pub fn times(system: &mut System, to: u64) -> Answer {
    let hundredths = |time: core::time::Duration| time.as_millis() as u64 / 10;
    if to != 0 {
        let mut bytes = [0; 32];
        let computed = hundredths(cairn::time::duration(system.me().computed));
        bytes[..8].copy_from_slice(&computed.to_le_bytes());
        system.write(to, &bytes)?;
    }
    done(hundredths(crate::clock::uptime()))
}

/// How long the machine runs, and how much memory processes have.
pub fn machine(system: &mut System, to: u64) -> Answer {
    let frames = &system.machine.frames;
    let pages = [frames.count(), frames.free()].map(|pages| pages as u64 * PAGE);
    let mut bytes = [0; 112];
    let mut put = |at: usize, word: &[u8]| bytes[at..at + word.len()].copy_from_slice(word);
    put(0, &crate::clock::seconds().to_le_bytes());
    put(32, &pages[0].to_le_bytes());
    put(40, &pages[1].to_le_bytes());
    let processes = system.all().filter(|one| one.lives()).count() as u16;
    put(80, &processes.to_le_bytes());
    put(104, &1u32.to_le_bytes());
    system.write(to, &bytes)?;
    done(0)
}

/// On which harts it runs: the first one.
pub fn harts(system: &mut System, length: u64, to: u64) -> Answer {
    if length < 8 {
        return Err(Errno::EINVAL);
    }
    system.write(to, &1u64.to_le_bytes())?;
    done(8)
}
