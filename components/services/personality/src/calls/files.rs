//! Reading and writing.

use super::{Answer, Outcome, done};
use crate::limits;
use crate::node::{Device, Kind, Node};
use crate::open::{Open, Pipe, What};
use crate::signals::Cause;
use crate::system::{BY_PROCESS, System};
use crate::terminal;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;

/// Parts of a read or write of several.
const PARTS: u64 = 1024;

/// What comes of a read or write.
enum Moved {
    /// So many bytes.
    Done(usize),
    /// Nothing yet.
    Waits,
}

fn can_read(open: &Open) -> Result<()> {
    if open.flags.get() & O_ACCMODE == O_WRONLY { Err(Errno::EBADF) } else { Ok(()) }
}

fn can_write(open: &Open) -> Result<()> {
    if open.flags.get() & O_ACCMODE == O_RDONLY { Err(Errno::EBADF) } else { Ok(()) }
}

/// Of the terminal: a line, if the process may have it now.
fn read_terminal(system: &mut System, most: usize) -> Result<Option<Vec<u8>>> {
    if system.is_in_background() {
        let (number, group) = (system.me().number, system.me().group);
        let signals = &system.me().signals;
        let is_blocked = signals.blocked & crate::signals::bit(SIGTTIN) != 0;
        if signals.ignores(SIGTTIN) || is_blocked {
            return Err(Errno::EIO);
        }
        let cause = Cause { code: BY_PROCESS, word: number.into() };
        let _ = system.send(|process| process.group == group, SIGTTIN, cause);
        return Ok(None);
    }
    Ok(system.terminal.line.read(most))
}

fn read_device(system: &mut System, device: Device, bytes: &mut [u8]) -> Result<Moved> {
    match device {
        Device::Null => Ok(Moved::Done(0)),
        Device::Zero => {
            bytes.fill(0);
            Ok(Moved::Done(bytes.len()))
        }
        Device::Random => {
            for part in bytes.chunks_mut(8) {
                part.copy_from_slice(&system.random.next().to_le_bytes()[..part.len()]);
            }
            Ok(Moved::Done(bytes.len()))
        }
        Device::Terminal => match read_terminal(system, bytes.len())? {
            Some(line) => {
                bytes[..line.len()].copy_from_slice(&line);
                Ok(Moved::Done(line.len()))
            }
            None => Ok(Moved::Waits),
        },
    }
}

/// Reads what is opened. `at`: from there, and what is read next stays.
fn read_open(system: &mut System, open: &Open, bytes: &mut [u8], at: Option<u64>) -> Result<Moved> {
    match &open.what {
        What::Reader(pipe) => match pipe.read(bytes) {
            Some(count) => Ok(Moved::Done(count)),
            None => Ok(Moved::Waits),
        },
        What::Writer(_) => Err(Errno::EBADF),
        What::Node(node) => match &node.kind {
            Kind::File(_) => {
                let count = node.read(at.unwrap_or(open.at.get()), bytes);
                if at.is_none() {
                    open.at.set(open.at.get() + count as u64);
                }
                Ok(Moved::Done(count))
            }
            Kind::Device(device) => read_device(system, *device, bytes),
            Kind::Folder(_) => Err(Errno::EISDIR),
            Kind::Link(_) => Err(Errno::EINVAL),
        },
    }
}

/// Writes to what is opened.
fn write_open(open: &Open, bytes: &[u8], at: Option<u64>) -> Result<Moved> {
    match &open.what {
        What::Writer(pipe) => match pipe.write(bytes)? {
            Some(count) => Ok(Moved::Done(count)),
            None => Ok(Moved::Waits),
        },
        What::Reader(_) => Err(Errno::EBADF),
        What::Node(node) => match &node.kind {
            Kind::File(_) => {
                let append = open.flags.get() & O_APPEND != 0;
                let from = at.unwrap_or(if append { node.size() } else { open.at.get() });
                let count = node.write(from, bytes)?;
                if at.is_none() {
                    open.at.set(from + count as u64);
                }
                Ok(Moved::Done(count))
            }
            Kind::Device(Device::Terminal) => {
                terminal::write(bytes);
                Ok(Moved::Done(bytes.len()))
            }
            Kind::Device(_) => Ok(Moved::Done(bytes.len())),
            Kind::Folder(_) => Err(Errno::EISDIR),
            Kind::Link(_) => Err(Errno::EINVAL),
        },
    }
}

fn answered(moved: Moved, open: &Open) -> Answer {
    match moved {
        Moved::Done(count) => done(count as u64),
        Moved::Waits if open.flags.get() & O_NONBLOCK != 0 => Err(Errno::EAGAIN),
        Moved::Waits => Ok(Outcome::Waits(None)),
    }
}

fn read_to(system: &mut System, open: &Open, to: u64, length: u64, at: Option<u64>) -> Answer {
    can_read(open)?;
    let count = length.min(limits::PART) as usize;
    let mut bytes = vec![0; count];
    // What was taken out of a pipe for an address that is none would be lost.
    check_writable(system, to, count)?;
    let moved = read_open(system, open, &mut bytes, at)?;
    if let Moved::Done(count) = moved {
        system.write(to, &bytes[..count])?;
    }
    answered(moved, open)
}

/// Whether all of a range can be written.
fn check_writable(system: &mut System, to: u64, count: usize) -> Result<()> {
    let (process, machine) = system.parts();
    process.memory.as_mut().ok_or(Errno::EFAULT)?.prepare(machine, to, count)
}

fn write_from(system: &mut System, open: &Open, from: u64, length: u64, at: Option<u64>) -> Answer {
    can_write(open)?;
    let mut bytes = vec![0; length.min(limits::PART) as usize];
    system.read(from, &mut bytes)?;
    match write_open(open, &bytes, at) {
        Ok(moved) => answered(moved, open),
        Err(error) => {
            if error == Errno::EPIPE {
                let cause = Cause { code: BY_PROCESS, word: system.me().number.into() };
                system.me().signals.send(SIGPIPE, cause);
            }
            Err(error)
        }
    }
}

/// Reads.
pub fn read(system: &mut System, number: u64, to: u64, length: u64) -> Answer {
    let open = system.me().files.get(number)?;
    read_to(system, &open, to, length, None)
}

/// Writes.
pub fn write(system: &mut System, number: u64, from: u64, length: u64) -> Answer {
    let open = system.me().files.get(number)?;
    write_from(system, &open, from, length, None)
}

fn of_file(system: &mut System, number: u64, at: u64) -> Result<Rc<Open>> {
    let open = system.me().files.get(number)?;
    match open.node() {
        _ if at > i64::MAX as u64 => Err(Errno::EINVAL),
        Ok(_) => Ok(open),
        Err(_) => Err(Errno::ESPIPE),
    }
}

/// Reads from an offset.
pub fn read_at(system: &mut System, number: u64, to: u64, length: u64, at: u64) -> Answer {
    let open = of_file(system, number, at)?;
    read_to(system, &open, to, length, Some(at))
}

/// Writes at an offset.
pub fn write_at(system: &mut System, number: u64, from: u64, length: u64, at: u64) -> Answer {
    let open = of_file(system, number, at)?;
    write_from(system, &open, from, length, Some(at))
}

/// The same for several ranges: those that go at once.
pub fn vectored(
    system: &mut System,
    (number, ranges, count): (u64, u64, u64),
    one: fn(&mut System, u64, u64, u64) -> Answer,
) -> Answer {
    if count > PARTS {
        return Err(Errno::EINVAL);
    }
    let mut sum = 0;
    for range in 0..count {
        let at = ranges.checked_add(range * 16 + 8).ok_or(Errno::EFAULT)?;
        let (from, length) = (system.word(at - 8)?, system.word(at)?);
        if length == 0 {
            continue;
        }
        match one(system, number, from, length) {
            Ok(Outcome::Done(moved)) => {
                sum += moved;
                if moved < length {
                    break;
                }
            }
            other if sum == 0 => return other,
            _ => break,
        }
    }
    done(sum)
}

/// Copies from a file to what is opened.
pub fn send(system: &mut System, to: u64, from: u64, offset: u64, length: u64) -> Answer {
    let (to, from) = (system.me().files.get(to)?, system.me().files.get(from)?);
    can_read(&from)?;
    can_write(&to)?;
    let file = from.node()?;
    let Kind::File(_) = file.kind else { return Err(Errno::EINVAL) };
    let at = if offset == 0 { from.at.get() } else { system.word(offset)? };
    let mut bytes = vec![0; length.min(limits::PIPE as u64) as usize];
    let count = file.read(at, &mut bytes);
    if count == 0 {
        return done(0);
    }
    let moved = write_open(&to, &bytes[..count], None)?;
    if let Moved::Done(count) = moved {
        match offset {
            0 => from.at.set(at + count as u64),
            _ => system.write(offset, &(at + count as u64).to_le_bytes())?,
        }
    }
    answered(moved, &to)
}

/// From where a file is read next.
pub fn seek(system: &mut System, number: u64, offset: i64, whence: u32) -> Answer {
    let open = system.me().files.get(number)?;
    let node = open.node().map_err(|_| Errno::ESPIPE)?;
    if let Kind::Device(Device::Terminal) = node.kind {
        return Err(Errno::ESPIPE);
    }
    let from = match whence {
        SEEK_SET => 0,
        SEEK_CUR => open.at.get() as i64,
        SEEK_END => node.size() as i64,
        _ => return Err(Errno::EINVAL),
    };
    let to = from.checked_add(offset).filter(|to| *to >= 0).ok_or(Errno::EINVAL)?;
    open.at.set(to as u64);
    open.told.replace(None);
    done(to as u64)
}

/// Another size of a file.
pub fn set_size(system: &mut System, number: u64, size: u64) -> Answer {
    let open = system.me().files.get(number)?;
    can_write(&open).map_err(|_| Errno::EINVAL)?;
    open.node()?.set_size(size)?;
    done(0)
}

/// Whether there is such a descriptor: what has nothing else to do.
pub fn exists(system: &mut System, number: u64) -> Answer {
    system.me().files.get(number)?;
    done(0)
}

/// Two descriptors: what is written to the second is read from the first.
pub fn pipe(system: &mut System, to: u64, flags: u32) -> Answer {
    if flags & !(O_CLOEXEC | O_NONBLOCK | O_DIRECT) != 0 {
        return Err(Errno::EINVAL);
    }
    check_writable(system, to, 8)?;
    let pipe = Pipe::new(&system.counts)?;
    let closes = flags & O_CLOEXEC != 0;
    let more = flags & O_NONBLOCK;
    let reader = Open::new(What::Reader(Rc::clone(&pipe)), O_RDONLY | more, &system.counts)?;
    let writer = Open::new(What::Writer(pipe), O_WRONLY | more, &system.counts)?;
    let files = &mut system.me().files;
    let first = files.add(reader, 0, closes)?;
    let second = files.add(writer, 0, closes).inspect_err(|_| {
        let _ = files.close(first);
    })?;
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&(first as u32).to_le_bytes());
    bytes[4..].copy_from_slice(&(second as u32).to_le_bytes());
    system.write(to, &bytes)?;
    done(0)
}

/// Whether a read, and a write, come back at once; and whether the other end is gone.
pub fn is_ready(system: &System, open: &Open) -> (bool, bool, bool) {
    let of_node = |node: &Node| match node.kind {
        Kind::Device(Device::Terminal) => (system.terminal.line.is_readable(), true, false),
        _ => (true, true, false),
    };
    match &open.what {
        What::Reader(pipe) => (pipe.is_readable() && pipe.waiting() > 0, false, pipe.has_ended()),
        What::Writer(pipe) => (false, pipe.is_writable(), pipe.is_broken()),
        What::Node(node) => of_node(node),
    }
}
