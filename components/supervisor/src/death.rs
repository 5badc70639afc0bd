//! The death of a domain, and its new life (`docs/architecture.md`, "Death").

use crate::component as imports;
use crate::printer;
use crate::state::{InstanceState, Phase, System, state};
use cairn::time::{now, own_thread, ticks};
use cairn::{Error, privileged};
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::name_text;
use cairn_abi::record::{Instance, RESTART_ALWAYS, RESTART_NEVER};
use cairn_abi::thread::{TRAP_SEPC, trap_register};
use cairn_supervisor::stack::{Frame, Kind, Walk, Words, hold};
use cairn_supervisor::watch::Watch;
use cairn_supervisor::{backoff, report};
use core::fmt::Write;
use core::sync::atomic::Ordering::Relaxed;

/// After a death, how long until the invocation stacks are looked at again; doubles. From the longest on,
/// a tenth of a second after the death, each look ends the waits of threads on their way home.
const LOOK_FIRST_MICROSECONDS: u64 = 100;
const LOOK_MAXIMUM_MICROSECONDS: u64 = 50_000;

/// A bad access this close to the stack pointer looks like a full stack: below each lies a page
/// without access.
const STACK_HINT: u64 = 2 * PAGE_SIZE;

/// Why a domain dies.
#[derive(Clone, Copy)]
pub enum Reason {
    /// It faulted in this thread, whose top frame this is.
    Fault { thread: u64, frame: Frame, cause: u64, value: u64 },
    /// A call of this thread executed for longer than its export declares, in ticks.
    RanAway { thread: u64, longest: u64 },
    /// Its main function returned, and its policy is to start it again.
    Returned,
    /// Somebody asked for it, and perhaps for a new start.
    Asked {
        /// It shall start again.
        restart: bool,
    },
}

impl System {
    /// The frames of a thread that exists and is not the supervisor's own: its name and frames.
    fn frames(&self, index: u64) -> Option<(u64, Walk<'_, System>)> {
        let mut walk = Walk::new(self, self.header.trap_return, index).peekable();
        walk.peek()?;
        if index == own_thread() {
            return None;
        }
        let name = imports::CONTROL.thread_name(index).ok()?;
        Some((name, Walk::new(self, self.header.trap_return, index)))
    }

    /// Whether a thread other than the supervisor's own is in `domain` or comes back to it. Who only
    /// leaves it does not count: whoever calls a dead domain again and again is always there.
    fn is_named(&self, domain: u64) -> bool {
        (0..self.thread_count())
            .any(|index| self.frames(index).is_some_and(|(_, frames)| hold(frames, domain)))
    }

    /// A thread faulted: mends it or lets the domain die.
    pub fn fault(&self, thread: u64) {
        let index = thread & 0xff;
        let (Ok(cause), Ok(value)) =
            (imports::CONTROL.fault_cause(thread), imports::CONTROL.fault_value(thread))
        else {
            return;
        };
        let top = self.frames(index).and_then(|(_, mut frames)| frames.next());
        let Some(frame) = top.filter(|frame| frame.kind == Kind::Trap) else {
            return;
        };
        let domain = frame.into;
        if frame.dead || state(domain).phase() != Phase::Alive {
            // Whoever enters a dead domain faults at its first instruction: an error return.
            self.leave(domain, index, thread);
            return;
        }
        let is_page_fault = matches!(cause, 12 | 13 | 15);
        if is_page_fault && imports::MEMORY.page_fault(domain, value, cause).is_ok() {
            let _ = imports::CONTROL.resume(thread);
            return;
        }
        self.die(domain, Reason::Fault { thread: index, frame, cause, value });
    }

    /// The first thread of a domain has ended. Others may be alive, and it may serve calls: that is an end only
    /// for those that shall always run.
    pub fn returned(&self, domain: u64) {
        let wanted =
            |instance: &&Instance| instance.restart == RESTART_ALWAYS && instance.essential == 0;
        if self.instance(domain).filter(wanted).is_some() && state(domain).phase() == Phase::Alive {
            self.die(domain, Reason::Returned);
        }
    }

    /// The frames of a thread that return into a dead domain become error returns; a thread that is in
    /// the domain leaves it as soon as it runs.
    fn leave(&self, domain: u64, index: u64, thread: u64) {
        let Some((_, frames)) = self.frames(index) else { return };
        let mut is_in = false;
        for (position, frame) in frames.enumerate() {
            if frame.into != domain {
                continue;
            }
            if !frame.dead
                && frame.kind != Kind::Base
                && privileged::unwind(index, frame.offset()).is_err()
            {
                let _ = writeln!(
                    printer::log(),
                    "supervisor: cannot unwind thread {index} at {:#x}",
                    frame.header
                );
            }
            is_in |= position == 0;
        }
        if is_in {
            // It may have ended meanwhile, or not wait at all.
            let _ = imports::CONTROL.cancel_wait(thread);
            let _ = imports::CONTROL.resume(thread);
        }
    }

    fn leave_all(&self, domain: u64) {
        for index in 0..self.thread_count() {
            if let Some((thread, _)) = self.frames(index) {
                self.leave(domain, index, thread);
            }
        }
    }

    /// Threads that come back to a dead domain, but wait in living ones for what may never come, wait no
    /// more: to their callees this is an error like any other. They were given the time to finish.
    fn call_home(&self, domain: u64) {
        for index in 0..self.thread_count() {
            let Some((thread, mut frames)) = self.frames(index) else { continue };
            if frames.any(|frame| frame.into == domain) {
                // It may not wait at all.
                let _ = imports::CONTROL.cancel_event_wait(thread);
            }
        }
    }

    /// A domain dies.
    pub fn die(&self, domain: u64, reason: Reason) {
        let Some(instance) = self.instance(domain) else { return };
        let state = state(domain);
        let now = now();
        self.expect("unmap", instance, imports::MEMORY.kill(domain));
        self.expect("mark", instance, privileged::set_alive(domain, false));
        state.set_phase(Phase::Dying);
        self.leave_all(domain);
        self.expect(
            "take the portals of",
            instance,
            steps(|_| imports::PORTALS.domain_died(domain)),
        );
        self.expect(
            "reclaim from",
            instance,
            steps(|cursor| imports::CONTROL.reclaim(domain, cursor)),
        );

        let behaved = now.saturating_sub(state.started.load(Relaxed))
            >= ticks(backoff::GOOD_BEHAVIOUR_MILLISECONDS * 1000);
        if behaved {
            state.faults.store(0, Relaxed);
        }
        let delay = match reason {
            Reason::Asked { restart } => {
                (restart || instance.restart == RESTART_ALWAYS).then_some(0)
            }
            _ if instance.restart == RESTART_NEVER => None,
            Reason::Fault { .. } | Reason::RanAway { .. } | Reason::Returned => {
                Some(next_delay(state))
            }
        };
        state.due.store(delay.map_or(u64::MAX, |delay| now + ticks(delay * 1000)), Relaxed);
        let interval = ticks(LOOK_FIRST_MICROSECONDS);
        state.look_interval.store(interval, Relaxed);
        state.look.store(now + interval, Relaxed);
        self.tell(instance, reason, delay);
    }

    fn expect(&self, what: &str, instance: &Instance, result: Result<(), Error>) {
        if let Err(error) = result {
            let name = name_text(&instance.name);
            let _ =
                writeln!(printer::log(), "supervisor: cannot {what} `{name}`: {}", error.text());
        }
    }

    fn tell(&self, instance: &Instance, reason: Reason, delay: Option<u64>) {
        let mut log = printer::log();
        let (name, domain) = (name_text(&instance.name), instance.number);
        let _ = match reason {
            Reason::RanAway { thread, longest } => writeln!(
                log,
                "supervisor: `{name}` (domain {domain}) kept thread {thread} for longer than {} us",
                longest * 1000 / ticks(1000)
            ),
            Reason::Asked { .. } => {
                writeln!(log, "supervisor: `{name}` (domain {domain}) was killed")
            }
            Reason::Returned => writeln!(
                log,
                "supervisor: `{name}` (domain {domain}) returned from its main function"
            ),
            Reason::Fault { thread, frame, cause, value } => {
                let word =
                    |offset: i64| self.load(frame.header.wrapping_add_signed(offset)).unwrap_or(0);
                let pc = word(TRAP_SEPC);
                let mut text = [0; 128];
                let message = match cause {
                    report::BREAKPOINT => {
                        report::panic_message(|number| word(trap_register(number)), &mut text)
                    }
                    _ => None,
                };
                let written = match message {
                    Some(message) => {
                        writeln!(
                            log,
                            "supervisor: `{name}` (domain {domain}) panicked in thread {thread}: {message}"
                        )
                    }
                    None => writeln!(
                        log,
                        "supervisor: `{name}` (domain {domain}) {} in thread {thread}: value {value:#x}",
                        report::cause_text(cause)
                    ),
                };
                let stack = word(trap_register(2));
                let hint = match cause {
                    13 | 15 if message.is_none() && value.abs_diff(stack) < STACK_HINT => {
                        ": perhaps its stack is full"
                    }
                    _ => "",
                };
                written.and_then(|()| match report::nearest_symbol(self.symbols, pc) {
                    Some((symbol, offset)) => {
                        writeln!(
                            log,
                            "supervisor:   at {pc:#x}, {}+{offset:#x}{hint}",
                            self.symbol_name(symbol)
                        )
                    }
                    None => writeln!(log, "supervisor:   at {pc:#x}, in no known function{hint}"),
                })
            }
        };
        let _ = match delay {
            None => writeln!(log, "supervisor:   it stays dead"),
            Some(0) => writeln!(log, "supervisor:   it starts again"),
            Some(delay) => writeln!(log, "supervisor:   it starts again in {delay} ms"),
        };
    }

    /// Looks for calls that execute for too long.
    pub fn look_for_runaways(&self, watch: &mut Watch) {
        for index in 0..self.thread_count() {
            let Some((thread, frames)) = self.frames(index) else { continue };
            let mut accused = None;
            for frame in frames {
                let (Some(limit), Kind::Call { callee }) = (frame.limit, frame.kind) else {
                    continue;
                };
                let used = imports::CONTROL.thread_time(index).unwrap_or(0);
                // The innermost one is at fault: the others wait for it.
                if watch.see(thread, frame.header, limit, used) && accused.is_none() {
                    accused = Some((callee, limit.longest));
                }
            }
            let Some((callee, longest)) =
                accused.filter(|(callee, _)| state(*callee).phase() == Phase::Alive)
            else {
                continue;
            };
            if self.instance(callee).is_some_and(|instance| instance.essential != 0) {
                // The system cannot go on without it; the nucleus says so at its next instruction.
                let _ = imports::MEMORY.kill(callee);
                continue;
            }
            self.die(callee, Reason::RanAway { thread: index, longest });
        }
        watch.end_look();
    }

    /// What is due: gives back what dead domains had, starts them again. The time of the next look.
    pub fn tend(&self) -> u64 {
        let mut next = u64::MAX;
        for instance in self.instances {
            let domain = u64::from(instance.number);
            let state = state(domain);
            if state.phase() == Phase::Dying && state.look.load(Relaxed) <= now() {
                self.settle(domain);
            }
            if state.phase() == Phase::Dead && state.due.load(Relaxed) <= now() {
                self.restart(instance);
            }
            next = next.min(match state.phase() {
                Phase::Alive => u64::MAX,
                Phase::Dying => state.look.load(Relaxed),
                Phase::Dead => state.due.load(Relaxed),
            });
        }
        next
    }

    /// Once nothing names the domain, what it had goes back.
    fn settle(&self, domain: u64) {
        let state = state(domain);
        // Calls that came in since.
        self.leave_all(domain);
        if self.is_named(domain) {
            let last = state.look_interval.load(Relaxed);
            let interval = (last * 2).min(ticks(LOOK_MAXIMUM_MICROSECONDS));
            if interval == last {
                self.call_home(domain);
            }
            state.look_interval.store(interval, Relaxed);
            state.look.store(now() + interval, Relaxed);
            return;
        }
        let Some(instance) = self.instance(domain) else { return };
        let alone = self.memory_manager().is_some_and(|manager| !self.is_named(manager));
        self.expect("take the memory of", instance, imports::MEMORY.release(domain, alone));
        state.set_phase(Phase::Dead);
    }

    /// Starts a dead instance again.
    fn restart(&self, instance: &Instance) {
        let domain = u64::from(instance.number);
        let state = state(domain);
        let portals = imports::PORTALS.domain_starts(domain);
        // From here to the start nothing waits, so no call comes in between.
        self.leave_all(domain);
        if self.is_named(domain) {
            state.due.store(now() + ticks(LOOK_FIRST_MICROSECONDS), Relaxed);
            return;
        }
        let result = portals.and_then(|()| begin(instance));
        if result.is_ok() {
            state.restarts.fetch_add(1, Relaxed);
            state.set_phase(Phase::Alive);
            state.started.store(now(), Relaxed);
            state.due.store(u64::MAX, Relaxed);
            return;
        }
        self.expect("start", instance, result);
        // It is as dead as before, and this counts as a fault: what was in the way may go away.
        self.expect("unmap", instance, imports::MEMORY.kill(domain));
        self.expect("mark", instance, privileged::set_alive(domain, false));
        state.due.store(now() + ticks(next_delay(state) * 1000), Relaxed);
    }
}

/// Lets a dead domain live, with its memory as at the start and its first thread.
fn begin(instance: &Instance) -> Result<(), Error> {
    let domain = u64::from(instance.number);
    imports::MEMORY.renew(domain)?;
    privileged::set_alive(domain, true)?;
    if instance.main == 0 {
        return Ok(());
    }
    imports::CONTROL.start(domain, instance.main, instance.stack, instance.priority as u8).map(drop)
}

/// Counts a fault: milliseconds until the restart.
fn next_delay(state: &InstanceState) -> u64 {
    backoff::delay(state.faults.fetch_add(1, Relaxed))
}

/// Repeats an operation that is done in steps.
fn steps(step: impl Fn(u64) -> Result<u64, Error>) -> Result<(), Error> {
    let mut cursor = 0;
    loop {
        cursor = step(cursor)?;
        if cursor == 0 {
            return Ok(());
        }
    }
}
