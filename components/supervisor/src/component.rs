//! Entry points, and the first thread, which does everything.

use crate::death::Reason;
use crate::printer;
use crate::state::{CRASH, KILL, MEASURE, Phase, RESTART, System, state};
use cairn::exclusive::Exclusive;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, environment, privileged};
use cairn_abi::descriptor::{NAME_SIZE, name_text};
use cairn_abi::record::{Instance, RESTART_ALWAYS, RESTART_NEVER};
use cairn_interfaces as interfaces;
use cairn_supervisor::watch::Watch;
use core::fmt::Write;
use core::sync::atomic::Ordering::Relaxed;

/// Calls that may execute for too long are looked for as often as half the shortest limit, and at most
/// once in this time.
const LOOK_MICROSECONDS: u64 = 1000;

/// The calls that are watched, too many for the stack.
static WATCH: Exclusive<Watch> = Exclusive::new(Watch::new());

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "supervisor",
    imports: {
        control: interfaces::SchedulerControl,
        threads: interfaces::Threads,
        memory: interfaces::MemoryControl,
        statistics: interfaces::MemoryStatistics,
        portals: interfaces::PortalControl,
        console: interfaces::Console,
    },
    exports: { supervisor: interfaces::Supervisor = SERVER },
    main: main,
}

pub use imports::{CONSOLE, CONTROL, MEMORY, PORTALS, THREADS};

/// Serves faults and requests, then waits for more, at most until something is due.
fn main() {
    let Some(system) = System::find() else { return };
    let own = u64::from(environment::startup().domain);
    let look_interval =
        system.shortest_limit().map(|limit| (limit / 2).max(ticks(LOOK_MICROSECONDS)));
    let mut next_look = look_interval.map_or(u64::MAX, |interval| now() + interval);
    let priority = system.instance(own).map_or(0, |instance| instance.priority as u8);
    let mut printer = None;
    loop {
        while let Ok(thread) = imports::CONTROL.next_fault() {
            system.fault(thread);
        }
        while let Ok(domain) = imports::CONTROL.next_returned() {
            system.returned(domain);
        }
        system.serve_requests();
        if let Some(interval) = look_interval.filter(|_| next_look <= now()) {
            WATCH.with(|watch| system.look_for_runaways(watch));
            next_look = now() + interval;
        }
        let next = system.tend().min(next_look);
        printer::start(&mut printer, priority.saturating_sub(1));
        // A time limit that passed is no error.
        let _ = imports::CONTROL.wait_fault(next);
    }
}

impl System {
    fn serve_requests(&self) {
        for instance in self.instances {
            let domain = u64::from(instance.number);
            let state = state(domain);
            let requests = state.requests.swap(0, Relaxed);
            if requests == 0 {
                continue;
            }
            if requests & MEASURE != 0
                && let Ok(memory) = imports::STATISTICS.usage_of(domain)
            {
                state.memory.store(memory, Relaxed);
            }
            if requests & CRASH != 0 {
                // Nobody is told: its next instruction is a fault like any other.
                let _ = imports::MEMORY.kill(domain);
            }
            if requests & (KILL | RESTART) == 0 {
                continue;
            }
            let restart = requests & RESTART != 0;
            if restart {
                // Who asks for it has mended what was wrong, or wants to see it fault.
                state.faults.store(0, Relaxed);
            }
            if state.phase() == Phase::Alive {
                self.die(domain, Reason::Asked { restart });
            } else {
                state.due.store(if restart { now() } else { u64::MAX }, Relaxed);
            }
        }
    }
}

fn named(name: ReadWindow<'_>) -> Result<&'static Instance, Error> {
    let mut buffer = [0; NAME_SIZE];
    System::find().ok_or(Error::NotSupported)?.named(name.text(&mut buffer)?)
}

/// Asks the first thread, which runs at once because no priority is higher, so it is done when this
/// returns. Only that thread calls the memory manager: a caller of a low priority that is preempted there
/// would hold up the supervisor.
fn ask(domain: u64, what: u8) -> Result<(), Error> {
    state(domain).requests.fetch_or(what, Relaxed);
    imports::CONTROL.alarm()
}

/// The same for an instance by its name, which must not be essential.
fn request(name: ReadWindow<'_>, what: u8) -> Result<(), Error> {
    let instance = named(name)?;
    if instance.essential != 0 {
        return Err(Error::NotAllowed);
    }
    ask(instance.number.into(), what)
}

/// Text that goes into a window, cut where that ends.
struct Text<'call> {
    window: WriteWindow<'call>,
    length: usize,
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.length += self.window.write(self.length, text.as_bytes());
        Ok(())
    }
}

impl Text<'_> {
    /// The reply of a description: the length, and the number of what was described above.
    fn reply(&self, number: u64) -> u64 {
        self.length as u64 | number << 32
    }
}

const THREAD_STATES: [&str; 7] = ["free", "ready", "semaphore", "lock", "join", "stack", "sleep"];

impl interfaces::Supervisor for Server {
    fn kill(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        request(name, KILL)
    }

    fn restart(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        request(name, RESTART)
    }

    fn describe(&self, number: u64, text: WriteWindow<'_>) -> Result<u64, Error> {
        let system = System::find().ok_or(Error::NotSupported)?;
        let instance = system.instance(number.max(1)).ok_or(Error::NotFound)?;
        let domain = u64::from(instance.number);
        let state = state(domain);
        let phase = match state.phase() {
            Phase::Alive => "alive",
            Phase::Dying => "dying",
            Phase::Dead => "dead",
        };
        let policy = match instance.restart {
            _ if instance.essential != 0 => "essential",
            RESTART_NEVER => "never",
            RESTART_ALWAYS => "always",
            _ => "on-fault",
        };
        ask(domain, MEASURE)?;
        let memory = state.memory.load(Relaxed);
        let is_home = |index: &u64| {
            imports::CONTROL.thread_state(*index).is_ok_and(|state| system.home(state) == domain)
        };
        let threads = (0..system.thread_count()).filter(is_home).count();
        let mut text = Text { window: text, length: 0 };
        let _ = write!(
            text,
            "{} {domain} {phase} {policy} {} {}K/{}K {threads}",
            name_text(&instance.name),
            state.restarts.load(Relaxed),
            (memory & 0xffff_ffff) * 4,
            (memory >> 32) * 4,
        );
        Ok(text.reply(domain))
    }

    fn describe_thread(&self, index: u64, text: WriteWindow<'_>) -> Result<u64, Error> {
        let system = System::find().ok_or(Error::NotSupported)?;
        let mut found = (index..system.thread_count()).filter_map(|index| {
            imports::CONTROL.thread_state(index).ok().map(|state| (index, state))
        });
        let (index, state) = found.next().ok_or(Error::NotFound)?;
        let home =
            system.instance(system.home(state)).map_or("?", |instance| name_text(&instance.name));
        let used = imports::CONTROL.thread_time(index).unwrap_or(0);
        let mut text = Text { window: text, length: 0 };
        let _ = write!(
            text,
            "{index} {home} {} {} {}",
            state >> 8 & 0xff,
            THREAD_STATES.get(state as usize & 0xff).unwrap_or(&"?"),
            used * 1000 / (environment::startup().time_base / 1000).max(1),
        );
        Ok(text.reply(index))
    }

    fn crash(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        let domain = u64::from(named(name)?.number);
        if state(domain).phase() != Phase::Alive {
            return Err(Error::Dead);
        }
        ask(domain, CRASH)
    }

    fn halt(&self, status: u64) -> Result<(), Error> {
        // The host has no more: 256 would look like success.
        if status > 255 {
            return Err(Error::BadArgument);
        }
        Err(privileged::halt(status))
    }

    fn reboot(&self) -> Result<(), Error> {
        Err(privileged::reboot())
    }
}
