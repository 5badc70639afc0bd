//! The first thread, the worker, which does everything but to watch and to print.

use crate::blame;
use crate::component as imports;
use crate::idle;
use crate::lasting::lasting;
use crate::logs;
use crate::look::WORKER;
use crate::printer::{self, Printer};
use crate::ready;
use crate::reason::Reason;
use crate::runaway;
use crate::starvation;
use crate::system::{INSTANCES, STANDING, System, state};
use crate::tell;
use cairn::in_place::content;
use cairn::time::{now, own_thread, ticks};
use cairn::{Error, InstanceId, environment};
use cairn_abi::record::RESTART_ALWAYS;
use cairn_supervisor::instances::{
    BEGIN, CRASH, EXCHANGE, KILL, MEASURE, Phase, RESTART, RETIRE, SETTLE, numbers,
};
use cairn_supervisor::standing::Until;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The worker has taken over from the layout: before that there is no instance.
pub static BEGUN: &AtomicBool = &lasting().begun;

/// Between two looks whether the printer has left a former content.
const LOOK_MICROSECONDS: u64 = 100;

/// What the worker does next.
enum Work {
    /// A step for an instance that is not alive.
    Step { instance: InstanceId },
    /// It says what happened.
    Tell,
    /// It keeps what was said.
    Keep,
    /// It reads what is to be told of an instance before its memory is another life's.
    ReadMemory { instance: InstanceId },
    /// It lets a thread go on that stood still.
    GoOn,
    /// It looks at the threads that their own components call home.
    CallHome,
    /// It looks whether instances that start wait for each other.
    LookAtStarting,
    /// It looks whether an instance is needed.
    LookAtIdle,
    /// It looks whether a thread keeps others from running.
    LookForStarvation,
    /// It shows the log of the next instance.
    TellLog,
    /// Nothing until this time.
    Wait { until: u64 },
}

/// Instances for which something is to be done.
struct Undone {
    /// The most urgent one for which something can be done now, and its priority.
    best: Option<InstanceId>,
    best_priority: u8,
    /// When something can be done for another one, and the highest priority of those.
    until: u64,
    priority: u8,
    /// The highest priority of those whose threads are to come home.
    calling_home: u8,
}

/// The worker: takes up calls that came for it, does the next step of the most urgent work, or waits.
pub fn main() {
    let Some(system) = System::find() else { return };
    WORKER.store(own_thread(), Relaxed);
    content::begin();
    if !BEGUN.load(Relaxed) {
        idle::begin();
        ready::begin();
        printer::begin();
        system.take_over();
        BEGUN.store(true, Relaxed);
    }
    let own = system.instance(environment::startup().instance);
    let highest = own.map_or(0, |record| record.priority as u8);
    let watch = runaway::begin(&system, highest);
    // Above the console's driver nobody would print what is found.
    let speaking = system.console_priority().unwrap_or(highest).min(highest);
    starvation::begin(speaking);
    let mut printer = Printer::begin(speaking);
    let mut is_called = true;
    loop {
        let is_former = content::is_former();
        if is_former && tell::is_all_told() && printer.end() {
            runaway::end(watch);
            content::leave();
        }
        if is_called {
            system.take_up();
        }
        system.tell_outcome();
        if !is_former {
            printer.start();
        }
        let (look_at, look_priority) = printer.look(&system);
        let (next, priority) = system.next_work(printer.keeping());
        is_called = match next {
            // A time limit that passed is no call.
            Work::Wait { until } => {
                let (until, priority) = (until.min(look_at), priority.max(look_priority));
                let leaves = if is_former { now() + ticks(LOOK_MICROSECONDS) } else { u64::MAX };
                let until = until.min(leaves);
                imports::CONTROL.wait_fault(until, priority) != Err(Error::TimedOut)
            }
            _ if imports::CONTROL.work_at(priority).is_err() => true,
            Work::Step { instance } => {
                system.step(instance);
                false
            }
            Work::GoOn => {
                system.go_on();
                false
            }
            Work::CallHome => {
                system.call_next_home();
                false
            }
            Work::LookAtStarting => {
                system.look_at_starting();
                false
            }
            Work::LookAtIdle => {
                system.look_at_idle();
                false
            }
            Work::LookForStarvation => {
                if let Some(priority) = system.look_for_starvation() {
                    // Above the thread that it tells of, or nobody would read it.
                    printer.speak_at(priority.saturating_add(1).min(highest));
                }
                false
            }
            Work::TellLog => {
                system.tell_next_log();
                printer.speak_at(priority);
                false
            }
            Work::ReadMemory { instance } => {
                system.read_memory(instance);
                printer.speak_at(priority);
                false
            }
            Work::Tell => {
                system.tell_next();
                printer.speak_at(priority);
                false
            }
            Work::Keep => {
                printer::keep();
                false
            }
        };
    }
}

impl System {
    /// Takes up what the worker was called for.
    fn take_up(&self) {
        while let Ok(fault) = imports::CONTROL.next_fault() {
            self.fault(fault);
        }
        self.judge();
        while let Ok(instance) = imports::CONTROL.next_returned() {
            self.returned(instance);
        }
        for instance in numbers(&INSTANCES.requested) {
            INSTANCES.requested.remove(instance.into());
            self.serve(instance, state(instance).requests.load(Relaxed));
        }
    }

    /// The next work, and its priority; `keeping` is that of keeping what was said.
    fn next_work(&self, keeping: Option<u8>) -> (Work, u8) {
        let present = now();
        let undone = self.undone(present);
        match self.most_urgent_work(&undone, present, keeping) {
            (work @ Work::Wait { .. }, priority) => (work, priority),
            // At less it would not come back in time from under who keeps the processor: who is called home, perhaps.
            (work, priority) => (work, priority.max(undone.calling_home)),
        }
    }

    /// Looks through the instances for which something is to be done.
    fn undone(&self, present: u64) -> Undone {
        let mut undone =
            Undone { best: None, best_priority: 0, until: u64::MAX, priority: 0, calling_home: 0 };
        for instance in INSTANCES.undone() {
            let own = self.priority_of(instance);
            if state(instance).phase() == Phase::Waiting {
                undone.calling_home = undone.calling_home.max(own);
            }
            match self.waits_until(instance).filter(|time| *time > present) {
                None if undone.best.is_none() || own > undone.best_priority => {
                    (undone.best, undone.best_priority) = (Some(instance), own);
                }
                None => {}
                Some(u64::MAX) => {}
                Some(time) => {
                    undone.until = undone.until.min(time);
                    undone.priority = undone.priority.max(own);
                }
            }
        }
        undone
    }

    /// The most urgent work that can be done now, and its priority.
    fn most_urgent_work(&self, undone: &Undone, present: u64, keeping: Option<u8>) -> (Work, u8) {
        let telling = tell::priority().max(keeping);
        let Undone { best, best_priority, mut until, mut priority, .. } = *undone;
        let (home_at, home_priority) = blame::next_home();
        let going = STANDING.priority();
        if home_at <= present
            && (best.is_none() || home_priority > best_priority)
            && going.is_none_or(|going| home_priority > going)
        {
            return (Work::CallHome, home_priority);
        }
        if let Some(going) = going.filter(|going| best.is_none() || *going >= best_priority) {
            return (Work::GoOn, going);
        }
        let (look_at, look_priority) = starvation::next_look();
        if look_at <= present && (best.is_none() || look_priority >= best_priority) {
            return (Work::LookForStarvation, look_priority);
        }
        if home_at < u64::MAX {
            until = until.min(home_at);
            priority = priority.max(home_priority);
        }
        let looks = [
            (idle::next_look(), Work::LookAtIdle, idle::PRIORITY),
            (ready::next_look(), Work::LookAtStarting, ready::PRIORITY),
        ];
        for (at, work, own) in looks.into_iter().filter(|(at, ..)| *at < u64::MAX) {
            if at <= present && best.is_none() && telling.is_none() {
                return (work, own);
            }
            until = until.min(at);
            priority = priority.max(own);
        }
        match (best, telling) {
            // Its memory becomes another life's.
            (Some(instance), _)
                if (matches!(state(instance).phase(), Phase::Renewing | Phase::Retiring)
                    || self.is_on_trial(instance) && state(instance).phase() == Phase::Dead)
                    && tell::needs(instance) =>
            {
                (Work::ReadMemory { instance }, best_priority)
            }
            (Some(instance), telling) if telling.is_none_or(|telling| telling <= best_priority) => {
                (Work::Step { instance }, best_priority)
            }
            (_, Some(telling)) if Some(telling) == keeping => (Work::Keep, telling),
            (_, Some(telling)) => (Work::Tell, telling),
            // As much as there is room for, and when nothing else is to be printed.
            _ if logs::is_due() && Printer::is_done() => (Work::TellLog, logs::PRIORITY),
            _ if look_at <= until => (Work::Wait { until: look_at }, look_priority),
            _ => (Work::Wait { until }, priority),
        }
    }

    /// Does what was asked of an instance.
    fn serve(&self, instance: InstanceId, requests: u8) {
        let state = state(instance);
        if requests & MEASURE != 0
            && let Ok((pages, quota)) = imports::STATISTICS.usage_of(instance)
        {
            state.pages.store(pages as u32, Relaxed);
            state.page_quota.store(quota as u32, Relaxed);
        }
        if requests & CRASH != 0 {
            // Without a report: its next instruction is a fault like any other.
            let _ = self.instance(instance).map(|leader| self.unmap(leader));
        }
        if requests & (KILL | RESTART) != 0 {
            let restart = requests & RESTART != 0;
            if restart {
                // The caller has mended what was wrong, or wants to see it fault.
                state.faults.store(0, Relaxed);
                state.wanted.store(self.recovery_priority(instance), Relaxed);
            }
            if state.is_alive() {
                self.die(instance, Reason::Asked { restart });
            } else {
                state.sleeps.store(false, Relaxed);
                self.serve_ended(instance, restart);
            }
        }
        let answer = |of: Result<(), Error>| {
            state.answer.store(of.map_or_else(Error::status, |()| 0), Relaxed);
        };
        if requests & BEGIN != 0 {
            answer(self.begin_first(instance));
        }
        if requests & RETIRE != 0 {
            answer(self.retire(instance));
        }
        if requests & EXCHANGE != 0 {
            answer(self.end_for_successor(instance));
        }
        if requests & SETTLE != 0 {
            self.end_trial();
        }
        // What was asked meanwhile is served when the worker is called for it.
        state.requests.fetch_and(!requests, Relaxed);
    }

    /// What becomes of an instance that was not alive when it was asked for.
    fn serve_ended(&self, instance: InstanceId, restart: bool) {
        let (state, record) = (state(instance), self.instance(instance));
        STANDING.let_go(Until::Lives, instance);
        let is_always = record.is_some_and(|record| record.restart == RESTART_ALWAYS);
        if restart {
            if let (Some(leader), u64::MAX) = (record, state.due.swap(now(), Relaxed)) {
                self.tell_again(leader);
            }
            if state.phase() == Phase::Quarantined {
                INSTANCES.enter(instance, Phase::Quieting);
            }
        } else if !is_always {
            state.due.store(u64::MAX, Relaxed);
            if matches!(state.phase(), Phase::Renewing | Phase::Sweeping) {
                INSTANCES.enter(instance, Phase::Dead);
            }
        }
    }
}
