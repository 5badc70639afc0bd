//! Processes begin, become other programs, and are asked for when they have ended.

use super::{Answer, Outcome, done};
use crate::arch::{ARGUMENT, STACK};
use crate::limits;
use crate::process::{Process, State};
use crate::program::{self, Start, Texts};
use crate::system::System;
use alloc::rc::Rc;
use alloc::vec::Vec;
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;

/// What of `clone` makes no process of its own.
const SHARED: u64 = (CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES | CLONE_FS) as u64;

/// A child: with a copy of the memory, or with the memory itself until it begins a program or ends.
pub fn clone(system: &mut System, flags: u64, stack: u64) -> Answer {
    let has = |flag: u32| flags & u64::from(flag) != 0;
    if flags & SHARED != 0 || has(CLONE_VM) && !has(CLONE_VFORK) {
        // Threads.
        return Err(Errno::EINVAL);
    }
    if !system.has_room() {
        return Err(Errno::EAGAIN);
    }
    let (process, machine) = system.parts();
    let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
    let (memory, lender) = match has(CLONE_VM) {
        true => (process.memory.take(), Some(process.number)),
        false => (Some(memory.fork(machine)?), None),
    };
    let mut registers = process.registers.clone();
    registers.skip_call();
    registers.set(ARGUMENT, 0);
    if stack != 0 {
        registers.set(STACK, stack);
    }
    let mut signals = process.signals.clone();
    signals.pending = 0;
    if lender.is_some() {
        signals.stack = (0, SS_DISABLE, 0);
    }
    let child = Process {
        number: 0,
        parent: process.number,
        group: process.group,
        session: process.session,
        name: process.name.clone(),
        program: process.program.clone(),
        memory,
        lender,
        registers,
        float: process.float.clone(),
        files: process.files.clone(),
        folder: Rc::clone(&process.folder),
        mask: process.mask,
        state: State::Ready,
        until: None,
        alarm: None,
        signals,
        news: None,
        computed: 0,
    };
    done(system.add(child)?.into())
}

/// The texts that a list of pointers leads to.
fn texts(system: &mut System, list: u64, room: &mut usize) -> Result<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    if list == 0 {
        return Ok(texts);
    }
    let mut at = list;
    loop {
        let text = system.word(at)?;
        if text == 0 {
            return Ok(texts);
        }
        at = at.checked_add(8).ok_or(Errno::EFAULT)?;
        *room = room.checked_sub(8).ok_or(Errno::E2BIG)?;
        let (process, machine) = system.parts();
        let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
        let text = memory.text(machine, text, *room).map_err(|error| match error {
            Errno::ENAMETOOLONG => Errno::E2BIG,
            error => error,
        })?;
        *room = room.checked_sub(text.len() + 1).ok_or(Errno::E2BIG)?;
        texts.push(text);
    }
}

/// Becomes another program.
pub fn begin(system: &mut System, path: u64, arguments: u64, environment: u64) -> Answer {
    let path = system.path(path)?;
    let mut room = limits::ARGUMENTS;
    let mut arguments = texts(system, arguments, &mut room)?;
    let environment = texts(system, environment, &mut room)?;
    if arguments.is_empty() {
        arguments.push(Vec::new());
    }
    let folder = Rc::clone(&system.me().folder);
    let chance = [system.random.next(), system.random.next()];
    let texts = Texts { arguments, environment };
    let started =
        program::begin(&mut system.machine, &system.tree, (&folder, &path), texts, chance);
    let started = started?;
    let name = started.name();
    let Start { memory, registers, path } = started;
    let number = system.me().number;
    system.give_memory_back(number);
    let process = system.me();
    process.memory = Some(memory);
    process.registers = registers;
    process.name = name;
    process.program = path;
    process.float = None;
    process.files.begin_program();
    process.signals.begin_program();
    Ok(Outcome::Elsewhere)
}

/// Asks for a child that has ended, stopped, or gone on.
pub fn wait(system: &mut System, whom: i32, to: u64, options: u32, usage: u64) -> Answer {
    if options & !(WNOHANG | WUNTRACED | WCONTINUED | __WALL | __WCLONE) != 0 {
        return Err(Errno::EINVAL);
    }
    let (own, group) = (system.me().number, system.me().group);
    let is_meant = |child: &Process| {
        child.parent == own
            && match whom {
                -1 => true,
                0 => child.group == group,
                1.. => child.number == whom as u32,
                _ => child.group == whom.unsigned_abs(),
            }
    };
    if !system.all().any(is_meant) {
        return Err(Errno::ECHILD);
    }
    let told = |child: &Process| match child.state {
        State::Ended(status) => Some(status),
        _ => child.news.filter(|news| {
            let asked = if *news == 0xffff { WCONTINUED } else { WUNTRACED };
            options & asked != 0
        }),
    };
    let found = system.all().filter(|child| is_meant(child));
    let found = found.filter_map(|child| Some((child.number, told(child)?))).next();
    let Some((number, status)) = found else {
        return if options & WNOHANG != 0 { done(0) } else { Ok(Outcome::Waits(None)) };
    };
    if to != 0 {
        system.write(to, &status.to_le_bytes())?;
    }
    if usage != 0 {
        system.write(usage, &[0; 144])?;
    }
    let child: Option<&mut Process> = system.find_mut(number);
    match child {
        Some(child) if child.lives() => child.news = None,
        _ => system.forget(number),
    }
    done(number.into())
}
