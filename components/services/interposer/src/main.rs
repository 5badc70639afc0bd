//! An interposer that does what it is told with the calls that come through it. It knows no more of a method than the letters of its
//! portal say, and asks the portal manager for these with each call: an index keeps its meaning only as long as somebody is on his way by it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod successor;

use cairn::interpose::{Answer, Interposer, Passing};
use cairn::text::Line;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, environment, time};
use cairn_interfaces::{Action, PortalListing, Portals, Threads, Tool};
use cairn_interposer::kept::{Kept, TEXT};
use cairn_interposer::methods::{Methods, NAME};
use cairn_interposer::pace::Pace;
use cairn_interposer::portal::{BUFFERS, Buffer, Portal, SHOWN};
use cairn_interposer::words::Words;
use core::fmt::{Display, Formatter, Result as Written, Write};
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "interposer",
    imports: { portals: Portals, listing: PortalListing, threads: Threads },
    exports: { tool: Tool = SERVER, successor: cairn_interfaces::Successor = successor::STATE },
}

use imports::{LISTING, PORTALS, THREADS};

/// Calls that are kept, methods that are counted, names that are allowed.
const CALLS: usize = 128;
const METHODS: usize = 32;
const ALLOWED_MAXIMUM: usize = 16;
/// Longest line of the portal manager.
const LINE: usize = 128;

// Relaxed: counts; and what an action takes, since the action itself is stored behind it, with Release.
static ACTION: AtomicU64 = AtomicU64::new(Action::Keep as u64);
static NUMBER: AtomicU64 = AtomicU64::new(0);
static EVERY: AtomicU64 = AtomicU64::new(1);
static METHOD: Words<8> = Words::empty();
/// Calls of that method.
static MATCHED: AtomicU64 = AtomicU64::new(0);
static KEPT: Kept<CALLS> = Kept::none();
static COUNTED: Methods<METHODS> = Methods::none();
static PACE: Pace = Pace::begin();
static ALLOWED: [Words<8>; ALLOWED_MAXIMUM] = [const { Words::empty() }; ALLOWED_MAXIMUM];
static ALLOWED_COUNT: AtomicU64 = AtomicU64::new(0);

/// A call and its answer, as they are shown: with no answer, it was refused.
struct Shown<'call> {
    portal: Portal<'call>,
    call: &'call Passing,
    buffers: [Buffer; BUFFERS],
    answer: Option<Answer>,
}

impl Display for Shown<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Written {
        let Shown { portal, call, buffers, answer } = self;
        write!(out, "{} {} ", portal.client, portal.export)?;
        let words = core::array::from_fn(|register| call.argument(register));
        portal.call(&words, buffers, out)?;
        match answer {
            Some(answer) => {
                write!(out, " = ")?;
                portal.result(answer.status, &answer.words, out)
            }
            None => write!(out, " was refused"),
        }
    }
}

/// The portal by which a call goes on, as the portal manager describes it.
fn portal<'line>(call: &Passing, line: &'line mut [u8; LINE]) -> Option<Portal<'line>> {
    let described = LISTING.describe(environment::startup().instance, call.index(), line);
    let (length, _) = described.ok().filter(|(_, index)| *index == call.index())?;
    Portal::read(core::str::from_utf8(line.get(..length)?).ok()?)
}

/// Reads what is shown of buffers: of those that the callee has filled, of which the value may be the length, or of the others.
fn read(portal: &Portal, call: &Passing, answer: Option<&Answer>, buffers: &mut [Buffer; BUFFERS]) {
    for ((register, is_filled), buffer) in portal.buffers().zip(buffers) {
        if is_filled == answer.is_some() {
            let window = call.memory(register);
            let mut bytes = [0; SHOWN];
            let count = window.read(0, &mut bytes).unwrap_or(0);
            let length = window.len() as u64;
            *buffer = match answer {
                Some(answer) => Buffer { bytes, count, length }.filled(answer.words[0]),
                None => Buffer { bytes, count, length },
            };
        }
    }
}

/// Passes a call on, and keeps what there is to know of it.
fn keep(portal: Option<Portal>, call: &Passing) -> Answer {
    let mut buffers = [Buffer::default(); BUFFERS];
    if let Some(portal) = &portal {
        read(portal, call, None, &mut buffers);
    }
    let begin = time::now();
    let answer = call.forward();
    let took = time::now() - begin;
    let line = match portal {
        Some(portal) => {
            if answer.status == 0 {
                read(&portal, call, Some(&answer), &mut buffers);
            }
            Line::<TEXT>::of(format_args!(
                "{}",
                Shown { portal, call, buffers, answer: Some(answer) }
            ))
        }
        None => Line::of(format_args!("? ? portal_{}() = status {}", call.index(), answer.status)),
    };
    KEPT.keep([begin, took, time::own_thread()], line.text());
    answer
}

fn count(portal: Option<Portal>, call: &Passing) -> Answer {
    let begin = time::now();
    let answer = call.forward();
    let took = time::now() - begin;
    let name = match portal {
        Some(Portal { export, method, .. }) => Line::<NAME>::of(format_args!("{export} {method}")),
        None => Line::of(format_args!("? ?")),
    };
    COUNTED.count(name.text(), took, answer.status != 0);
    answer
}

/// Whether this call is one of those that are answered an error.
fn fails(portal: Option<Portal>) -> bool {
    let mut name = [0; 64];
    let length = METHOD.load(&mut name);
    let name = core::str::from_utf8(&name[..length]).unwrap_or_default();
    portal.is_some_and(|portal| portal.is_called(name))
        && (MATCHED.fetch_add(1, Relaxed) + 1).is_multiple_of(EVERY.load(Relaxed).max(1))
}

/// Passes a call on if its export is one that was allowed. What nobody describes is none.
fn guard(portal: Option<Portal>, call: &Passing) -> Answer {
    let mut name = [0; 64];
    let allowed = ALLOWED.iter().take(ALLOWED_COUNT.load(Acquire) as usize);
    let is_allowed = portal.is_some_and(|portal| {
        allowed.into_iter().any(|allowed| {
            let length = allowed.load(&mut name);
            core::str::from_utf8(&name[..length]).is_ok_and(|name| portal.is_of(name))
        })
    });
    if is_allowed {
        return call.forward();
    }
    let mut buffers = [Buffer::default(); BUFFERS];
    if let Some(portal) = portal {
        read(&portal, call, None, &mut buffers);
        let shown = Shown { portal, call, buffers, answer: None };
        let line = Line::<TEXT>::of(format_args!("{shown}"));
        KEPT.keep([time::now(), 0, time::own_thread()], line.text());
    }
    Answer::error(Error::NotAllowed)
}

/// A call waits. If it is called home meanwhile, it is not passed on any more.
fn wait_until(time: u64, call: &Passing) -> Answer {
    match THREADS.sleep_until(time) {
        Ok(()) => call.forward(),
        Err(error) => Answer::error(error),
    }
}

impl Interposer for Server {
    fn intercept(call: &Passing) -> Answer {
        let action = ACTION.load(Acquire);
        let number = NUMBER.load(Relaxed);
        let is = |one: Action| action == one as u64;
        if is(Action::Delay) {
            return wait_until(time::now().saturating_add(time::ticks(number)), call);
        }
        if is(Action::Limit) {
            let now = time::now();
            let due = PACE.next(now, time::time_base() / number.max(1));
            return if due > now { wait_until(due, call) } else { call.forward() };
        }
        let mut line = [0; LINE];
        let portal = portal(call, &mut line);
        if is(Action::Guard) {
            guard(portal, call)
        } else if is(Action::Count) {
            count(portal, call)
        } else if !is(Action::Inject) {
            keep(portal, call)
        } else if fails(portal) {
            Answer { status: number as i64, words: [0; 4] }
        } else {
            call.forward()
        }
    }
}

/// Registers where calls come in.
fn stand() -> Result<(), Error> {
    match PORTALS.stand_between::<Server>() {
        // It has done so before.
        Err(Error::Busy) => Ok(()),
        stood => stood,
    }
}

/// A name that others are compared with.
fn name<'name>(window: &ReadWindow, buffer: &'name mut [u8; 64]) -> Result<&'name str, Error> {
    window.text(buffer).map_err(|_| Error::BadArgument)
}

impl Tool for Server {
    fn act(
        &self,
        action: Action,
        number: u64,
        every: u64,
        method: ReadWindow<'_>,
    ) -> Result<(), Error> {
        let mut buffer = [0; 64];
        let method = name(&method, &mut buffer)?;
        let is_wrong = match action {
            Action::Limit => number == 0,
            Action::Inject => number == 0 || every == 0,
            _ => false,
        };
        if is_wrong {
            return Err(Error::BadArgument);
        }
        stand()?;
        METHOD.store(method);
        EVERY.store(every, Relaxed);
        NUMBER.store(number, Relaxed);
        MATCHED.store(0, Relaxed);
        PACE.forget();
        ACTION.store(action as u64, Release);
        Ok(())
    }

    fn allow(&self, name: ReadWindow<'_>) -> Result<(), Error> {
        let mut buffer = [0; 64];
        let name = self::name(&name, &mut buffer)?;
        // One tells it: the shell.
        let count = ALLOWED_COUNT.load(Relaxed);
        let place = ALLOWED.get(count as usize).ok_or(Error::Exhausted)?;
        place.store(name);
        ALLOWED_COUNT.store(count + 1, Release);
        Ok(())
    }

    fn kept(&self, from: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let mut call = [0; TEXT];
        let found = KEPT.find(from, &mut call).ok_or(Error::NotFound)?;
        let [time, took, thread] = found.numbers;
        let [time, took] = [time, took].map(|ticks| time::duration(ticks).as_nanos());
        let call = core::str::from_utf8(&call[..found.length]).unwrap_or("?");
        let line = Line::<{ TEXT + 64 }>::of(format_args!("{time} {took} {thread} {call}"));
        line.answer(&text, found.number)
    }

    fn counted(&self, from: u64, text: WriteWindow<'_>) -> Result<(usize, u64), Error> {
        let mut name = [0; NAME];
        let (place, length, numbers) = COUNTED.find(from, &mut name).ok_or(Error::NotFound)?;
        let name = core::str::from_utf8(&name[..length]).unwrap_or("? ?");
        let mut line = Line::<{ NAME + 96 }>::new();
        let [time, longest] =
            [numbers.time, numbers.longest].map(|ticks| time::duration(ticks).as_nanos());
        let name = if name.is_empty() { "others -" } else { name };
        // It fits.
        let _ = write!(line, "{name} {} {} {time} {longest}", numbers.calls, numbers.errors);
        line.answer(&text, place)
    }
}
