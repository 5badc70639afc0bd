//! Entry points: what they ask for the worker does.

use crate::blame;
use crate::lasting;
use crate::moving;
use crate::printer::Printer;
use crate::replacing;
use crate::succession::INTERRUPTS_OFF;
use crate::system::{INSTANCES, System, state};
use crate::tell;
use crate::worker::{BEGUN, main};
use cairn::text::Line;
use cairn::time::{now, run_rate, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, InstanceId, environment, privileged};
use cairn_abi::descriptor::{NAME_SIZE, name_text};
use cairn_abi::record::{Instance, RESTART_ALWAYS, RESTART_NEVER};
use cairn_abi::thread::index_of_name;
use cairn_interfaces::{self as interfaces, Exchange, Location};
use cairn_supervisor::instances::{
    BEGIN, CRASH, EXCHANGE, KILL, MEASURE, Phase, RESTART, RETIRE, SETTLE,
};
use core::sync::atomic::Ordering::Relaxed;

/// Between two looks whether a request is done.
const PAUSE_MICROSECONDS: u64 = 100;
/// Who ends the system waits so long at most until reports are told: a console may hang.
const TOLD_MICROSECONDS: u64 = 500_000;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "supervisor",
    imports: {
        control: interfaces::Supervision,
        scheduling: interfaces::SchedulerStatistics,
        threads: interfaces::Threads,
        memory: interfaces::MemoryControl,
        statistics: interfaces::MemoryStatistics,
        portals: interfaces::PortalControl,
        domain_memory: Option<interfaces::DomainMemory>,
        domain_portals: Option<interfaces::DomainPortals>,
        console: interfaces::Console,
        devices: Option<cairn_driver_interfaces::DeviceControl>,
        interrupts: Option<interfaces::InterruptControl>,
    },
    exports: {
        supervisor: interfaces::Supervisor = SERVER,
        instances: interfaces::InstanceControl = SERVER,
        in_place: interfaces::InPlace = SERVER,
    },
    main: main,
}

pub use imports::{
    CONSOLE, CONTROL, DEVICES, DOMAIN_MEMORY, DOMAIN_PORTALS, INTERRUPTS, MEMORY, PORTALS,
    SCHEDULING, STATISTICS, THREADS,
};

fn named(name: ReadWindow<'_>) -> Result<&'static Instance, Error> {
    let mut buffer = [0; NAME_SIZE];
    begun()?.named(name.text(&mut buffer)?)
}

/// The system, as soon as the worker knows its instances. A caller that is more urgent leaves it the time to learn of them.
fn begun() -> Result<System, Error> {
    let system = System::find().ok_or(Error::NotSupported)?;
    while !BEGUN.load(Relaxed) {
        imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS))?;
    }
    Ok(system)
}

/// Asks the worker, which is at least as urgent as the caller then, until it is done. Only the worker calls the
/// memory manager: a caller of a low priority that is preempted there would hold up the supervisor.
fn ask(instance: InstanceId, what: u8) -> Result<(), Error> {
    state(instance).requests.fetch_or(what, Relaxed);
    loop {
        INSTANCES.requested.insert(instance.into());
        imports::CONTROL.alarm()?;
        if state(instance).requests.load(Relaxed) & what == 0 {
            return Ok(());
        }
        // The worker waits for another thread, to which it lends its priority.
        imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS))?;
    }
}

/// The same for what has an answer.
fn ask_for(instance: InstanceId, what: u8) -> Result<(), Error> {
    // Two that ask at the same time for the same get the same answer, or the later one.
    ask(instance, what)?;
    match state(instance).answer.load(Relaxed) {
        0 => Ok(()),
        status => Err(Error::from_status(status)),
    }
}

/// Ends an instance for good, with those in its domain; comes back when nothing is left of them.
fn retire(record: &Instance) -> Result<(), Error> {
    let leader = record.leader;
    ask_for(leader, RETIRE)?;
    let mut pause = PAUSE_MICROSECONDS / 10;
    while state(leader).retires.load(Relaxed) {
        imports::THREADS.sleep_until(now() + ticks(pause))?;
        pause = (pause * 2).min(PAUSE_MICROSECONDS * 10);
    }
    Ok(())
}

/// The same for an instance by its name, which must not be essential.
fn request(name: ReadWindow<'_>, what: u8) -> Result<(), Error> {
    let instance = named(name)?;
    if instance.essential != 0 {
        return Err(Error::NotAllowed);
    }
    ask(instance.leader, what)
}

/// The caller ends the system: what happened before is told first.
fn wait_until_told() {
    let end = now() + ticks(TOLD_MICROSECONDS);
    while !(tell::is_all_told() && Printer::is_done()) && now() < end {
        if imports::THREADS.sleep_until(now() + ticks(PAUSE_MICROSECONDS)).is_err() {
            return;
        }
    }
}

/// As [`interfaces::Activity`] has them.
const THREAD_STATES: [&str; 8] =
    ["ready", "semaphore", "lock", "join", "stack", "sleep", "stopped", "throttled"];

/// Ticks in microseconds.
fn microseconds(ticks: u64) -> u64 {
    ticks * 1000 / (environment::startup().time_base / 1000).max(1)
}

impl interfaces::InPlace for Server {
    fn state(&self) -> Result<interfaces::StatePlace, Error> {
        Ok(lasting::place())
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, env!("CARGO_PKG_VERSION").as_bytes())
    }
}

impl interfaces::InstanceControl for Server {
    fn begin(&self, instance: InstanceId) -> Result<(), Error> {
        begun()?.made(instance)?;
        ask_for(instance, BEGIN)
    }

    fn retire(&self, instance: InstanceId) -> Result<(), Error> {
        retire(begun()?.made(instance)?)
    }

    fn retire_child(&self, parent: InstanceId, name: ReadWindow<'_>) -> Result<(), Error> {
        let child = named(name)?;
        match begun()?.descends(child, parent) {
            true => retire(child),
            false => Err(Error::NotAllowed),
        }
    }

    fn exchange(
        &self,
        caller: Caller,
        instance: InstanceId,
        successor: InstanceId,
        is_new: bool,
        until: u64,
    ) -> Result<u64, Error> {
        let system = begun()?;
        let record = system.made(instance)?;
        // Its row may be another's before this is back.
        let leader = record.leader;
        INTERRUPTS_OFF.store(0, Relaxed);
        replacing::ask(caller.0, record, successor, is_new)?;
        ask_for(leader, EXCHANGE)?;
        loop {
            match system.outcome(leader) {
                Err(Error::WouldBlock) if now() > until => return Err(Error::TimedOut),
                // The worker ends this wait: clients wait.
                Err(Error::WouldBlock) => replacing::wait(now() + ticks(PAUSE_MICROSECONDS)),
                outcome => return outcome.map(|()| INTERRUPTS_OFF.load(Relaxed) / run_rate()),
            }
        }
    }

    fn settle(&self, caller: Caller, instance: InstanceId) -> Result<(), Error> {
        let leader = begun()?.made(instance)?.leader;
        replacing::check(caller.0, leader)?;
        ask(leader, SETTLE)
    }

    fn replaceable(&self, name: ReadWindow<'_>) -> Result<(InstanceId, Exchange), Error> {
        let record = named(name)?;
        match state(record.leader).phase() {
            Phase::Alive | Phase::Tried | Phase::Asleep => {
                let how = match record.essential {
                    0 if !begun()?.can_all_be_quiet(record) => return Err(Error::NotSupported),
                    0 => Exchange::Restart,
                    _ if begun()?.gives_way(record) => Exchange::Succession,
                    _ => Exchange::InPlace,
                };
                Ok((record.number, how))
            }
            _ => Err(Error::Dead),
        }
    }

    fn fellow(
        &self,
        instance: InstanceId,
        place: u64,
        name: WriteWindow<'_>,
    ) -> Result<(InstanceId, usize), Error> {
        let system = begun()?;
        let leader = system.made(system.made(instance)?.leader)?;
        let fellow = system.fellows(leader).nth(place as usize).ok_or(Error::NotFound)?;
        Ok((fellow.number, name.write(0, name_text(&fellow.name).as_bytes())?))
    }

    fn movable(
        &self,
        name: ReadWindow<'_>,
        to: Location,
        with: ReadWindow<'_>,
    ) -> Result<(InstanceId, InstanceId), Error> {
        let record = named(name)?;
        let with = if with.is_empty() { None } else { Some(named(with)?.number) };
        moving::check(record, to, with).map(|()| (record.number, record.other_place))
    }

    fn is_inside(&self, instance: InstanceId) -> Result<bool, Error> {
        let system = begun()?;
        Ok(system.is_inside(system.made(instance)?))
    }

    fn retire_made(&self) -> Result<(), Error> {
        begun()?.made_only().try_for_each(|record| match retire(record) {
            // The worker has come to the end of it.
            Err(Error::NotFound) => Ok(()),
            ended => ended,
        })
    }
}

impl interfaces::Supervisor for Server {
    fn kill(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        request(name, KILL)
    }

    fn restart(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        request(name, RESTART)
    }

    fn retire(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        retire(named(name)?)
    }

    fn user_of(&self, name: ReadWindow<'_>, text: WriteWindow<'_>) -> Result<usize, Error> {
        let system = begun()?;
        let user = system.user_of(system.made(named(name)?.leader)?)?;
        text.write(0, name_text(&user.name).as_bytes())
    }

    fn describe(&self, number: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let system = begun()?;
        let record = system.instances(number).next().ok_or(Error::NotFound)?;
        let instance = record.number;
        let (own, state) = (state(instance), state(record.leader));
        let phase = match state.phase() {
            Phase::Alive | Phase::Tried => "alive",
            Phase::Asleep => "asleep",
            Phase::Dead | Phase::Renewing | Phase::Sweeping | Phase::Retiring => "dead",
            Phase::Quarantined => "quarantined",
            _ => "dying",
        };
        let policy = match record.restart {
            _ if record.essential != 0 => "essential",
            RESTART_NEVER => "never",
            RESTART_ALWAYS => "always",
            _ => "on-fault",
        };
        ask(instance, MEASURE)?;
        let is_home = |index: &u64| {
            imports::SCHEDULING.thread(*index).is_ok_and(|thread| system.home(thread) == instance)
        };
        let threads = (0..system.thread_count()).filter(is_home).count();
        let (place, with, leader) = match (record.in_kernel != 0, record.leader == instance) {
            (false, true) if let Some(host) = moving::host(record) => {
                ("", "with ", system.name(host))
            }
            (false, true) => ("domain", "", ""),
            (true, true) => ("kernel", "", ""),
            (false, false) => ("", "with ", system.name(record.leader)),
            (true, false) => ("kernel", " with ", system.name(record.leader)),
        };
        let line = Line::<160>::of(format_args!(
            "{} {} {phase} {policy} {} {}K/{}K {threads} {place}{with}{leader}",
            name_text(&record.name),
            record.domain,
            state.restarts.load(Relaxed),
            u64::from(own.pages.load(Relaxed)) * 4,
            u64::from(own.page_quota.load(Relaxed)) * 4,
        ));
        line.answer(&text, instance.into())
    }

    fn describe_thread(&self, index: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let system = System::find().ok_or(Error::NotSupported)?;
        let mut found = (index..system.thread_count()).filter_map(|index| {
            imports::SCHEDULING.thread(index).ok().map(|thread| (index, thread))
        });
        let (index, thread) = found.next().ok_or(Error::NotFound)?;
        let home = system.name(system.home(thread));
        let used = imports::SCHEDULING.thread_time(index).unwrap_or(0);
        let line = Line::<128>::of(format_args!(
            "{index} {home} {} {} {}",
            thread.priority,
            THREAD_STATES[thread.activity as usize],
            microseconds(used),
        ));
        line.answer(&text, index)
    }

    fn time_ended(&self, instance: InstanceId) -> Result<u64, Error> {
        imports::SCHEDULING.time_ended(instance).map(microseconds)
    }

    fn crash(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        let instance = named(name)?.leader;
        if !state(instance).is_alive() {
            return Err(Error::Dead);
        }
        ask(instance, CRASH)
    }

    fn call_home(&self, caller: Caller, thread: u64) -> Result<(), Error> {
        let system = System::find().ok_or(Error::NotSupported)?;
        let index = index_of_name(thread);
        let state = imports::SCHEDULING.thread(index)?;
        if state.name != thread {
            return Err(Error::NotFound);
        }
        if system.home(state) != caller.0 {
            return Err(Error::NotAllowed);
        }
        blame::ask_home(thread, state.priority);
        imports::CONTROL.alarm()
    }

    fn halt(&self, status: u64) -> Result<(), Error> {
        // The host has no more: 256 would look like success.
        if status > 255 {
            return Err(Error::BadArgument);
        }
        wait_until_told();
        Err(privileged::halt(status))
    }

    fn reboot(&self) -> Result<(), Error> {
        wait_until_told();
        Err(privileged::reboot())
    }
}
