//! Who asks for an exchange, and the thread of the loader's own that does it: callers of any priority wait for it, and whoever asked for it may end meanwhile.
//!
//! If it is the loader's own content that is exchanged, those who are in that leave, and call again; and the thread begins anew in the other.

use super::component::DOMAIN_PORTALS;
use super::exchange::WHY;
use super::failure::{Text, failed};
use cairn::exclusive::Exclusive;
use cairn::in_place::content;
use cairn::sync::Semaphore;
use cairn::text::Line;
use cairn::time::{now, ticks};
use cairn::{Error, InstanceId};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::domain::FELLOWS_MAXIMUM;
use cairn_interfaces::{Exchange, Location};
// Relaxed: a mark that says nothing of other memory.
use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU16,
    Ordering::{Acquire, Relaxed, Release},
};

/// For so long who left the loader can come again, and hear what became of what it asked for.
const ANSWER_MICROSECONDS: u64 = 1_000_000;

/// What is asked for.
pub struct Job {
    pub(super) instance: InstanceId,
    pub(super) successor: InstanceId,
    pub(super) name: Line<NAME_SIZE>,
    pub(super) milliseconds: u64,
    pub(super) how: How,
    /// Who asks for another content of the loader itself, and for which.
    asker: Option<Asker>,
}

/// What of it is exchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Its content, for a package's.
    Content(Exchange),
    /// Its place, for its other one.
    Place(Location),
}

/// Who asked for a package in place of the loader's own content, left that, and asks for the same again.
struct Asker {
    instance: InstanceId,
    package: Line<NAME_SIZE>,
}

/// What became of that.
struct Answer {
    to: Asker,
    /// When nobody asks for it any more: its asker has ended.
    until: u64,
    done: Result<u64, Error>,
    why: Text,
}

impl Job {
    /// The exchange of the content of an instance, or of its place, for that under another number.
    pub fn new(
        (instance, successor): (InstanceId, InstanceId),
        name: &str,
        milliseconds: u64,
        how: How,
    ) -> Job {
        let name = Line::of(format_args!("{name}"));
        Job { instance, successor, name, milliseconds, how, asker: None }
    }

    /// The same of the loader's own content, asked for by an instance.
    pub fn asked_by(self, instance: InstanceId, package: &str) -> Job {
        let package = Line::of(format_args!("{package}"));
        Job { asker: Some(Asker { instance, package }), ..self }
    }
}

/// What of it lasts when the loader's own content is exchanged ([`super::lasting`]).
pub struct Lasting {
    /// How far the one that is asked for is. Whoever asks is alone, since it has the lock of all loads; so each of the two below is used by it or by
    /// the thread, as this says.
    stage: AtomicU8,
    job: Exclusive<Option<Job>>,
    /// What became of it, and why.
    outcome: Exclusive<(Result<u64, Error>, Text)>,
    /// The same for who left the loader meanwhile.
    answer: Exclusive<Option<Answer>>,
    /// Its own content was exchanged by this, and is to be left: since when callers wait.
    left: Exclusive<Option<(Job, u64)>>,
    /// The one that is under way is of content in which the loader's other threads would be, since their calls are not held.
    in_place: AtomicBool,
    /// The instance that is replaced just now, and behind it those that end together; or 0.
    replaced: [AtomicU16; REPLACED_MAXIMUM],
    asked: Semaphore,
    done: Semaphore,
}

impl Lasting {
    /// Nothing is asked for.
    pub const NONE: Lasting = Lasting {
        stage: AtomicU8::new(IDLE),
        job: Exclusive::new(None),
        outcome: Exclusive::new((Ok(0), Text::new())),
        answer: Exclusive::new(None),
        left: Exclusive::new(None),
        in_place: AtomicBool::new(false),
        replaced: [const { AtomicU16::new(0) }; REPLACED_MAXIMUM],
        asked: Semaphore::new(0),
        done: Semaphore::new(0),
    };
}

/// The instance, and those with which it ends, itself among them.
const REPLACED_MAXIMUM: usize = 1 + FELLOWS_MAXIMUM;

/// Nothing is asked for: whoever asks may write it.
const IDLE: u8 = 0;
/// The thread is to take it.
const ASKED_FOR: u8 = 1;
/// The thread is at work.
const RUNNING: u8 = 2;
/// What became of it is there, for whoever asked, or, if that has ended, for nobody: then the next may ask.
const DONE_WITH: u8 = 3;
/// The thread exchanges the content in which callers are: nobody comes in, and those inside are to leave, and to call again.
const CALLED_HOME: u8 = 4;
/// Callers come in again, into the content that stays, and the thread takes back the other one.
const FINISHING: u8 = 5;

const fn lasting() -> &'static Lasting {
    &super::lasting::LASTING.get().exchange
}

fn stage() -> u8 {
    lasting().stage.load(Acquire)
}

fn enter(stage: u8) {
    lasting().stage.store(stage, Release);
}

/// Has it done, and waits for it. Whoever waits no longer has it done all the same; whichever content is not in use then goes. `Moved`: of the loader's own
/// content, and the caller is to leave that.
pub fn run(job: Job) -> Result<u64, Error> {
    if matches!(stage(), ASKED_FOR | RUNNING) {
        job.give_back();
        return Err(failed(Error::Busy, format_args!("another replacement is under way")));
    }
    let Lasting { job: place, outcome, asked, done, .. } = lasting();
    place.with(|place| *place = Some(job));
    enter(ASKED_FOR);
    asked.release()?;
    // One that is done may have been another's, who had ended: the thread says so late.
    done.acquire_until(|| !matches!(stage(), ASKED_FOR | RUNNING))?;
    if stage() != DONE_WITH {
        return Err(Error::Moved);
    }
    let (done, why) = outcome.with(|(done, why)| (*done, core::mem::take(why)));
    enter(IDLE);
    told(done, &why)
}

fn told(done: Result<u64, Error>, why: &Text) -> Result<u64, Error> {
    done.map_err(|error| failed(error, format_args!("{}", why.text())))
}

/// What became of the exchange of the loader's own content, if this asked for it and has not been told.
pub fn answer(asker: InstanceId, package: &str) -> Option<Result<u64, Error>> {
    let is_its = |answer: &mut Answer| {
        answer.to.instance == asker && answer.to.package.text() == package && now() <= answer.until
    };
    let answer = lasting().answer.with(|answer| answer.take_if(is_its))?;
    Some(told(answer.done, &answer.why))
}

/// Whether somebody may ask for anything: the content that is replaced or comes must not wait for the end of that.
pub fn check_asker(asker: InstanceId) -> Result<(), Error> {
    let mut all = lasting().replaced.iter();
    match all.any(|replaced| replaced.load(Relaxed) == asker.0) {
        true => Err(Error::Busy),
        false => Ok(()),
    }
}

/// An instance is replaced, or ends with who is, which is at the place 0; nobody is, if it is 0.
pub(super) fn note_replaced(place: usize, instance: InstanceId) {
    if let Some(replaced) = lasting().replaced.get(place) {
        replaced.store(instance.0, Relaxed);
    }
}

/// Whether the loader's other threads may call the managers. `Moved`: they are to leave, and to call again.
pub fn check_calls() -> Result<(), Error> {
    match stage() {
        CALLED_HOME => Err(Error::Moved),
        _ if lasting().in_place.load(Relaxed) => Err(Error::Busy),
        _ => Ok(()),
    }
}

/// Waits until the content that is not in use any more is gone: another exchange can be asked for then. The caller has the lock of all loads.
pub fn settled() -> Result<(), Error> {
    if stage() != FINISHING {
        return Ok(());
    }
    lasting().done.acquire_until(|| stage() != FINISHING)
}

/// The thread. It begins anew in each content that the loader gets.
pub fn main() {
    let Lasting { job, left, in_place, asked, .. } = lasting();
    content::begin();
    loop {
        if let Some((job, began)) = left.with(Option::take) {
            let released = job.release();
            job.end(released.map(|()| now() - began));
        }
        if asked.acquire().is_err() {
            return;
        }
        let Some(job) = job.with(Option::take) else { continue };
        enter(RUNNING);
        in_place.store(job.is_in_place() && !job.is_own(), Relaxed);
        note_replaced(0, job.instance);
        let done = match job.how {
            How::Content(Exchange::Restart) => job.exchange(),
            How::Content(Exchange::Succession) => job.succeed(),
            How::Content(Exchange::InPlace) => job.exchange_in_place(),
            How::Place(to) => job.prepare_place(to).and_then(|()| job.exchange()),
        };
        match done {
            Ok(began) if job.is_own() => {
                left.with(|left| *left = Some((job, began)));
                content::leave();
            }
            done => job.end(done),
        }
    }
}

impl Job {
    /// Whether it is of the content in which this thread is.
    pub(super) fn is_own(&self) -> bool {
        self.asker.is_some()
    }

    /// Nobody comes in any more: callers that are inside leave, if this is about the content in which they are.
    pub(super) fn call_home(&self) {
        if self.is_own() {
            enter(CALLED_HOME);
            let _ = lasting().done.release();
        }
    }

    /// Callers go on.
    pub(super) fn release(&self) -> Result<(), Error> {
        if stage() == CALLED_HOME {
            enter(FINISHING);
        }
        DOMAIN_PORTALS.release(self.instance)
    }

    /// It is done, but for what is not in use any more; and whoever asked for it is told.
    fn end(self, done: Result<u64, Error>) {
        self.give_back();
        let Lasting { outcome, answer, in_place, done: end, .. } = lasting();
        in_place.store(false, Relaxed);
        (0..REPLACED_MAXIMUM).for_each(|place| note_replaced(place, InstanceId(0)));
        let why = WHY.with(core::mem::take);
        match self.asker {
            Some(to) if stage() == FINISHING => {
                let until = now() + ticks(ANSWER_MICROSECONDS);
                answer.with(|answer| *answer = Some(Answer { to, until, done, why }));
                enter(IDLE);
            }
            _ => {
                outcome.with(|outcome| *outcome = (done, why));
                enter(DONE_WITH);
            }
        }
        let _ = end.release();
    }
}
