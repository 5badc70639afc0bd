//! Descriptors.

use super::{Answer, done};
use crate::system::System;
use cairn_personality::errno::Errno;
use linux_raw_sys::general::*;

/// Closes one.
pub fn close(system: &mut System, number: u64) -> Answer {
    system.me().files.close(number)?;
    done(0)
}

/// One more for the same.
pub fn duplicate(system: &mut System, number: u64) -> Answer {
    let files = &mut system.me().files;
    let open = files.get(number)?;
    done(files.add(open, 0, false)?)
}

/// A certain one for the same.
pub fn duplicate_to(system: &mut System, number: u64, to: u64, flags: u32) -> Answer {
    let files = &mut system.me().files;
    let open = files.get(number)?;
    if number == to || flags & !O_CLOEXEC != 0 {
        return Err(Errno::EINVAL);
    }
    files.put(open, to, flags & O_CLOEXEC != 0)?;
    done(to)
}

/// What is done with a descriptor.
pub fn control(system: &mut System, number: u64, what: u32, word: u64) -> Answer {
    const CHANGED: u32 = O_APPEND | O_NONBLOCK;
    let files = &mut system.me().files;
    let open = files.get(number)?;
    match what {
        F_DUPFD => done(files.add(open, word, false)?),
        F_DUPFD_CLOEXEC => done(files.add(open, word, true)?),
        F_GETFD => done((*files.closes(number)?).into()),
        F_SETFD => {
            *files.closes(number)? = word as u32 & FD_CLOEXEC != 0;
            done(0)
        }
        F_GETFL => done(open.flags.get().into()),
        F_SETFL => {
            open.flags.set(open.flags.get() & !CHANGED | word as u32 & CHANGED);
            done(0)
        }
        _ => Err(Errno::EINVAL),
    }
}
