//! What a client does with the components that all share, each time the same: an operation begins and ends with nothing.
//! One judge counts what each costs, another sees that none fails.

use cairn::InstanceId;
use cairn::thread::Stack;
use cairn::time::now;
use cairn::{Error, environment};
use cairn_interfaces::{
    ClockProxy, ConsoleProxy, LockProxy, MemoryProxy, PortalsProxy, SemaphoreProxy,
    SupervisorProxy, ThreadsProxy, spawn,
};

/// Whose client it is.
#[derive(Clone, Copy)]
pub struct Servers {
    /// Has a part of sections for it.
    pub memory: MemoryProxy,
    /// Has a part of portals, of registrations, of semaphores and locks for it.
    pub portals: PortalsProxy,
    /// Has room for one thread more.
    pub threads: ThreadsProxy,
    /// Has a part of timers for it.
    pub clock: ClockProxy,
    /// Has a part of terminals for it.
    pub console: ConsoleProxy,
    /// Tells what there is.
    pub supervisor: SupervisorProxy,
}

/// What it does, and how.
pub type Operation = (&'static str, fn(&Servers) -> Result<(), Error>);

static STACK: Stack<4096> = Stack::new();

/// A name of one's own.
fn own_name<R>(body: impl FnOnce(&str) -> R) -> R {
    let (name, end) = (environment::name().as_bytes(), b".own");
    let mut bytes = [0; 36];
    bytes[..name.len()].copy_from_slice(name);
    bytes[name.len()..name.len() + end.len()].copy_from_slice(end);
    body(core::str::from_utf8(&bytes[..name.len() + end.len()]).unwrap_or("?"))
}

extern "C" fn nothing() {}

/// All that a client can ask of them, but for what waits.
pub const OPERATIONS: [Operation; 17] = [
    ("allocate a page, free it", |of| {
        of.memory.allocate(1).and_then(|page| of.memory.free(page, 1))
    }),
    ("make a section, offer it, drop it", |of| {
        let section = of.memory.make_section(1)?;
        of.memory.share(section, InstanceId(1), true)?;
        of.memory.drop_section(section)
    }),
    ("make a semaphore, count with it, close it", |of| {
        let first = of.portals.semaphore(0)?.first_portal();
        let semaphore = SemaphoreProxy::at(first);
        semaphore.v()?;
        semaphore.p()?;
        if semaphore.try_p() != Err(Error::WouldBlock) {
            return Err(Error::Unknown);
        }
        of.portals.close(first.into())
    }),
    ("make a lock, lock it, close it", |of| {
        let first = of.portals.lock()?.first_portal();
        let lock = LockProxy::at(first);
        lock.lock().map_err(|_| Error::Busy)?;
        lock.unlock()?;
        of.portals.close(first.into())
    }),
    ("publish a name, take it back", |of| {
        let semaphore = of.portals.semaphore(0)?.first_portal();
        own_name(|name| {
            of.portals.publish(semaphore.into(), name, "*")?;
            of.portals.unregister(name)
        })?;
        of.portals.close(semaphore.into())
    }),
    ("register a name, admit a client, revoke, take it back", |of| {
        let mut methods = [0; 32];
        methods[8] = b'c';
        methods[24..].copy_from_slice(&(nothing as *const () as u64).to_le_bytes());
        own_name(|name| {
            of.portals.register(name, "ask", &methods)?;
            of.portals.admit(name, InstanceId(1), true)?;
            of.portals.revoke("own", InstanceId(1))?;
            of.portals.unregister(name)
        })
    }),
    ("open an export, close it", |of| {
        let first = of.portals.open("clock.clock", 0, b"")?;
        of.portals.size(first)?;
        of.portals.close(first)
    }),
    ("look for a name that is not there", |of| match of.portals.open("nobody.nothing", 0, b"") {
        Err(Error::NotFound) => Ok(()),
        other => other.and(Err(Error::Unknown)),
    }),
    ("ask for a domain's life", |of| of.portals.life(InstanceId(1)).map(drop)),
    ("open a timer, change it, end it", |of| {
        let timer = of.clock.timer(of.portals, 1_000_000)?;
        timer.proxy().set_period(2_000_000)?;
        timer.proxy().close()?;
        of.portals.close(timer.first_portal().into())
    }),
    ("open a terminal, write, end it", |of| {
        let terminal = of.console.open(of.portals)?;
        let proxy = terminal.proxy();
        let used = proxy.set_echo(false).and(proxy.flush()).and(proxy.close());
        let closed = of.portals.close(terminal.first_portal().into());
        used.and(closed)
    }),
    ("look for input", |of| of.console.try_read(&mut []).map(drop)),
    ("tell the time", |of| of.clock.uptime().and(of.clock.time_base()).map(drop)),
    ("sleep", |of| of.clock.sleep(1_000)),
    ("start a thread, change its priority, join it", |of| {
        let thread = spawn(of.threads, &STACK, |_| (), 0, 48)?;
        match thread.set_priority(47) {
            Ok(()) | Err(Error::NotFound) => thread.join(),
            error => error,
        }
    }),
    ("yield, and what the scheduler says of one's own thread", |of| {
        of.threads.yield_now()?;
        of.threads.sleep_until(now())?;
        of.threads.time_used().and(of.threads.own_name()).map(drop)
    }),
    ("describe an instance and a thread", |of| {
        of.supervisor.describe(1, &mut [0; 64])?;
        of.supervisor.describe_thread(0, &mut [0; 64]).map(drop)
    }),
];
