//! How instances come and go while the system runs: what of it each manager does.
//!
//! The loader reads a package, which is hostile input, and asks for one thing after the other:
//!
//! ```text
//! Packages::find, read          the package                          shelf, or another store
//! DomainMemory::make            number, region, tables, stacks       memory manager
//! DomainMemory::give            the content, page by page
//! DomainMemory::finish
//! DomainPortals::add_domain     portal table, upcalls, name          portal manager, name server
//! DomainPortals::connect        each import, by policy
//! InstanceControl::begin        threads, the first life              supervisor, scheduler
//! ```
//!
//! A copy of an instance that runs comes in the same way ([`Loader::fork`]): `DomainMemory::fork` in place of the first four, and
//! `DomainPortals::fork` in place of `connect`.
//!
//! From the first step on what was made has a number, and [`InstanceControl::retire`] takes all of it back, however far it came.

use cairn::fork::{Quotas, Side, split};
use cairn::in_place::State;
use cairn::interpose::{Interposer, entrance};
use cairn::{Caller, Error, InstanceId};

/// A store of packages.
#[cairn::interface]
pub trait Packages {
    /// Where in the store the package of this name begins, and its bytes. `NotFound`: there is none.
    fn find(&self, name: &str) -> Result<(u64, u64), Error>;
    /// Reads from `offset` of the store on; the value is how many bytes, fewer only at its end.
    fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, Error>;
    /// Describes the next package from `number` on as text (name, bytes, component, hash, separated by spaces), `NotFound` behind the
    /// last; the value is the length of the text, and the number of the one after it.
    fn list(&self, number: u64, text: &mut [u8]) -> Result<(usize, u64), Error>;
}

/// What a program asks for that wants to have instances: its children, which live within its own quotas.
#[cairn::interface]
pub trait Loader {
    /// Loads the package of this name as an instance called `name`, a child of the caller: its memory, threads, semaphores and locks
    /// are the caller's as long as it lives. The value is its number. After an error, which [`Loader::explain`] puts into words,
    /// everything is as before.
    #[waits]
    fn load(&self, caller: Caller, package: &str, name: &str) -> Result<InstanceId, Error>;
    /// The same, but for its beginning: so that others stand between it and whom it calls before it can call. [`Loader::begin`] lets it begin.
    #[waits]
    fn prepare(&self, caller: Caller, package: &str, name: &str) -> Result<InstanceId, Error>;
    /// What the caller prepared begins. `NotFound`: it did not prepare this, or it has begun.
    #[waits]
    fn begin(&self, caller: Caller, instance: InstanceId) -> Result<(), Error>;
    /// Ends an instance that the caller or a descendant of it loaded, with all that it has loaded, and takes back what it had. `Busy`:
    /// another is connected to it.
    #[waits]
    fn unload(&self, caller: Caller, name: &str) -> Result<(), Error>;
    /// Makes a copy of the caller, its child, called `name`, in a private address space: what is the caller's own memory is copied, and
    /// each of its portals leads from the copy to `intercept`, an entry point of the caller's, first, as do those that the copy gets.
    /// Its first thread is at `begins`, with the stack pointer `stack`. `quotas` is a
    /// [`Quotas`](Quotas): a part of the caller's own. The value is its number. [`LoaderProxy::domain_fork`] does it.
    #[waits]
    fn fork(
        &self,
        caller: Caller,
        name: &str,
        intercept: u64,
        begins: u64,
        stack: u64,
        quotas: u64,
    ) -> Result<InstanceId, Error>;
    /// Which step of the caller's last `load`, `fork` or `unload` failed, and why, as text; the value is its length. `NotFound`: none did.
    #[waits]
    fn explain(&self, caller: Caller, text: &mut [u8]) -> Result<usize, Error>;
}

/// Live replacement: an instance gets the content of a package instead of its own, while its clients only wait. For components that the description trusts with all
/// instances.
#[cairn::interface]
pub trait Replacement {
    /// The instance called `name` goes on with the content of this package: code, data, heap and threads are the package's; its name, number,
    /// connections, quotas and devices, and what clients have of it, stay. Callers wait at their portals, the most urgent first, until it
    /// serves. What it exports as [`Successor`] brings its state over. If the new content refuses, dies, or does not serve within so many `milliseconds` in all,
    /// the old goes on with its state. The value is for how long callers waited, in ticks. After an error, which
    /// [`Loader::explain`] puts into words, the old goes on.
    #[waits]
    fn replace(
        &self,
        caller: Caller,
        name: &str,
        package: &str,
        milliseconds: u64,
    ) -> Result<u64, Error>;
    /// The instance called `name`, which the description lets move, goes on in another place, as a successor of itself: callers only wait. What it keeps and
    /// what becomes of it if it does not serve there is as with `replace`, and so is the value. After an error it goes on where it was.
    #[waits]
    fn move_to(
        &self,
        caller: Caller,
        name: &str,
        to: Location,
        milliseconds: u64,
    ) -> Result<u64, Error>;
    /// The same into the page table of the instance called `other`, of which its description says so: each has its own life, and the two share memory
    /// as long as it is there. [`Location::Domain`] is the way back.
    #[waits]
    fn move_with(
        &self,
        caller: Caller,
        name: &str,
        other: &str,
        milliseconds: u64,
    ) -> Result<u64, Error>;
}

/// Where an instance runs that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub enum Location {
    /// In a protection domain of its own.
    Domain,
    /// In the kernel domain.
    Kernel,
    /// In the page table of the other instance that its description names.
    With,
}

/// What a component that has state exports, called `successor` and open to the loader, so that it can be replaced by another version of
/// itself. State is bytes, of which both have to know the meaning.
#[cairn::interface]
pub trait Successor {
    /// Clients' threads that wait inside, for input or for a time, come back by [`Error::Moved`] from now on, if they are `called`, and
    /// their methods are marked `#[waits]`, so that they call again; or may wait again.
    fn call_home(&self, called: bool) -> Result<(), Error>;
    /// Writes its state, from its byte `from` on, into `state`; the value is how many bytes, fewer than there is room for only at its end. No client of its is
    /// inside, none comes in, and after this it ends.
    fn export_state(&self, from: u64, state: &mut [u8]) -> Result<usize, Error>;
    /// Takes over the state that its predecessor had written: the bytes from `from` on, of `size` in all, before any client comes in. `NotReady` for
    /// the first part: not yet, it is to be asked again. Another error: it does not understand it, and the predecessor goes on.
    fn import_state(&self, size: u64, from: u64, state: &[u8]) -> Result<(), Error>;
}

/// Most bytes of the pairs that `repoint` takes.
pub const PAIRS_SIZE: usize = 68 * 16;

/// The pairs in bytes that `repoint` takes.
pub fn pairs(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> + Clone {
    let words = bytes.as_chunks::<8>().0.as_chunks::<2>().0;
    words.iter().map(|[from, to]| (u64::from_le_bytes(*from), u64::from_le_bytes(*to)))
}

/// How the content of an instance is exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub enum Exchange {
    /// Its life ends, and another begins.
    Restart,
    /// It gives way, while threads enter it all the time: the scheduler.
    Succession,
    /// It lives on, with its state in place ([`InPlace`]).
    InPlace,
}

/// What a component exports, called `in_place` and open to the loader, that can be replaced without an end of its life: it has no thread of its own, and all of
/// its state is in a [`State`], which stays where it is.
#[cairn::interface]
pub trait InPlace {
    /// Where its state lies. It is asked before it has that of its predecessor, too, and does nothing else.
    fn state(&self) -> Result<StatePlace, Error>;
    /// Writes of which version the content is; the value is the length of the text.
    fn version(&self, text: &mut [u8]) -> Result<usize, Error>;
}

/// Where a content has its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct StatePlace {
    /// Its address, which begins a page.
    pub at: u64,
    /// Its pages.
    pub pages: u64,
    /// Contents of the same layout can go on with each other's.
    pub layout: u64,
}

impl StatePlace {
    /// Of this state, whose meaning is of this version.
    pub fn of<T>(state: &'static State<T>, version: u64) -> StatePlace {
        let (at, pages) = state.place();
        StatePlace { at, pages, layout: State::<T>::layout(version) }
    }
}

impl LoaderProxy {
    /// Makes a copy of this component, called `name`, within a part of its quotas. It returns twice: here with the copy's number, and in
    /// the copy, whose only thread has a copy of this thread's stack. Every portal that the copy has, or gets, leads to `I` of this
    /// component first, at the same index.
    ///
    /// Other threads of this component are not in the copy, and what they hold they hold there for good. Stacks of calls are not copied
    /// (`BadArgument` in one), nor devices, sections and what this component was granted.
    pub fn domain_fork<I: Interposer>(&self, name: &str, quotas: Quotas) -> Result<Side, Error> {
        split(|point| self.fork(name, entrance::<I>(), point.begins, point.stack, quotas.word()))
    }
}

/// Why a package is no successor of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::MethodError)]
pub enum SuccessorError {
    /// The instance is in the kernel domain.
    InKernel,
    /// It is in its other place.
    Away,
    /// It is a copy of another, in the region of that.
    Forked,
    /// It is a pager and has no `Successor`: nobody else knows what its clients have.
    PagerWithoutState,
    /// It, or the package, has a range with a pager.
    Paged,
    /// The package uses the floating-point unit, and the instance does not.
    FloatingPoint,
    /// Its content is exchanged while threads are in it, and it shares its domain.
    NotAlone,
    /// The package has a heap, which is to be in place.
    Heap,
    /// The instance, which is to be replaced in place, has threads.
    Threads,
    /// The package's calls are not by the portals that the instance has in its domain.
    Portals,
    /// A call of it takes more stack than those that call it in its domain have for it.
    Stack,
    /// The instance runs when nobody else does, and the package serves, calls, or has no thread for it.
    Idle,
    /// The package does not serve each export of the instance with the same version, but for those that came with a successor.
    NotServed,
    /// There is no room in the region of the instance.
    Region,
    /// There is no room in the record for what only one of both serves.
    Exports,
    /// The call failed.
    Portal(Error),
}

/// What the loader asks of the memory manager: an instance's memory, at the cost of its parent.
#[cairn::interface]
pub trait DomainMemory {
    /// Makes the memory of a new instance called `name`, a child of `parent`, as the head of its package says: a number and its
    /// region, page tables, stacks, heap, log, and zeros where the package has no content; and writes what the layout's record says of
    /// it. Nobody reaches it before `finish`. The value is its number. `Exhausted`: the parent's quota, or what is left of numbers, pages
    /// or page tables, does not hold it; `Malformed`: the head is none; `Busy`: the name is taken; `NotAllowed`: the parent may have no
    /// children; `NotFound`: the pager of its range is not there.
    fn make(&self, parent: InstanceId, name: &str, head: &[u8]) -> Result<InstanceId, Error>;
    /// Makes the memory of a successor of an instance (live replacement), in the same way: what it will have instead of its content. The
    /// values are a number, for the calls below, and where the image begins behind the beginning of the region of the instance, for which it is
    /// linked. `in_place`: it is to be beside the content of the instance for a while. Beside its own errors those of `make`: the instance has a
    /// successor already, if a name is taken.
    fn make_successor(
        &self,
        caller: Caller,
        parent: InstanceId,
        of: InstanceId,
        head: &[u8],
        in_place: bool,
    ) -> Result<(InstanceId, u64), SuccessorError>;
    /// A whole successor that is to be [in place](InPlace) is mapped beside the content of the instance, which lives. Nobody is led there yet. `Busy`: there is something
    /// already; `NotSupported`: the instance has pages that it allocated. [`DomainMemory::retire`] takes it out again.
    fn join(&self, successor: InstanceId) -> Result<(), Error>;
    /// The `pages` pages of state from address `from` on of an instance are those of its joined successor at `to` as well, and what the record says of the content
    /// is the successor's: that is the instance's from now on, and the former content the successor's, to be retired when no thread is in it any more. `BadArgument`: they are
    /// not pages of data of the two; `Dead`: the instance is dead.
    fn keep_state(
        &self,
        successor: InstanceId,
        from: u64,
        to: u64,
        pages: u64,
    ) -> Result<(), Error>;
    /// What an instance has in its other place is as it was at the start, so that its next life begins there at once; nobody is there. In the page table of another it has nothing
    /// but what it has where it is: that is as at the start when its life has ended. `NotSupported`: the description does not let it move, or its content came with a package.
    fn prepare_place(&self, instance: InstanceId) -> Result<(), Error>;
    /// `pages` pages at `address`, the caller's own or of the image's shelf, become the content of a new instance, `offset` bytes
    /// behind the beginning of its region, in a segment of this `content` (a `CONTENT_*` of the record, which says the rights; of the
    /// startup page that of constants). Own pages leave the caller, who reaches them no more; those of the shelf are shared, and nobody
    /// writes them. `BadArgument`: not whole pages inside of one segment with this content; `Busy`: there is content already, or a page is in a window; `NotAllowed`: they are neither.
    fn give(
        &self,
        caller: Caller,
        instance: InstanceId,
        offset: u64,
        address: u64,
        pages: u64,
        content: u16,
    ) -> Result<(), Error>;
    /// All content of a new instance is there, its startup page too.
    fn finish(&self, instance: InstanceId) -> Result<(), Error>;
    /// Makes a copy of `parent`, its child, that is whole at once: other pages at the same addresses. Its first thread begins at `begins`
    /// with this stack pointer, and `quotas` are what [`Loader::fork`] says. The value is its number. Errors as of `make`, and
    /// `NotSupported`: of what shares a domain; `BadArgument`: addresses that are not the parent's own; `TooLarge`: it has more than
    /// what is loaded has.
    fn fork(
        &self,
        parent: InstanceId,
        name: &str,
        begins: u64,
        stack: u64,
        quotas: u64,
    ) -> Result<InstanceId, Error>;
    /// Takes back what an instance had that is dead and released, or was never begun: pages, tables, its number, what the record says.
    /// From then on it is another's.
    fn retire(&self, instance: InstanceId) -> Result<(), Error>;
}

/// What the loader and the supervisor ask of the portal manager.
#[cairn::interface]
pub trait DomainPortals {
    /// There is a new instance, as the record has it: its portal table begins, without a portal to anybody, and its name can be looked
    /// up. No thread is in it yet.
    fn add_domain(&self, instance: InstanceId) -> Result<(), Error>;
    /// Connects an import of an instance that has not begun: portals at the indexes from `first` on lead to `server`
    /// (`instance.export`), which the instance may open by the policy of that name. `interface` is what the instance knows of it, as in
    /// [`Portals::reserve`](crate::Portals::reserve). `NotFound`: there is no such name; `NotAllowed`: it is not open to the instance; `VersionMismatch`;
    /// `Exhausted`: the instance's part of portals or the server's stacks do not hold it; `Busy`: the instance has begun, or the export came with a successor of the server, which is held. With
    /// [`PORTAL_OF_FAULTS`](cairn::abi::domain::PORTAL_OF_FAULTS) as `first` what it misses in its range calls `server`, its pager:
    /// `BadArgument`: it has no range, or one with another pager; `NotSupported`: a fault cannot call that.
    fn connect(
        &self,
        instance: InstanceId,
        first: u64,
        server: &str,
        version: u64,
        interface: &[u8],
    ) -> Result<(), Error>;
    /// One step of giving a copy that has not begun what its parent has, at the same indexes, each with the parent, at `intercept`,
    /// between: 0 first, then what it answers, until 0. Whoever stands between the parent and its servers stands there for the copy,
    /// too. What the parent was granted, or has reserved, the copy has not.
    fn fork(&self, instance: InstanceId, intercept: u64, from: u64) -> Result<u64, Error>;
    /// The next instance from number `from` on that an import connects to another one; `NotFound`: there is none. What others opened by
    /// name, and can lose at any time, does not count.
    fn user_of(&self, instance: InstanceId, from: InstanceId) -> Result<InstanceId, Error>;
    /// One step of forgetting an instance that is dead for good or was never begun: 0 first, then what it answers, until 0. Nobody has a
    /// portal to it then, its names are nobody's, and its code, stacks and part of portals are another's.
    fn retire_domain(&self, instance: InstanceId, from: u64) -> Result<u64, Error>;
    /// From now on every call to an instance by portals waits, the most urgent caller first, until [`DomainPortals::release`], but for the
    /// caller's own and those from the instance itself; whatever clients get of it meanwhile is held as well. The caller's death
    /// releases; if content has been exchanged in place by then, when nobody is in the former one any more.
    /// `VersionMismatch`: an import of a loaded instance leads to what its successor does not serve.
    /// `Busy`: another is held, or threads that waited for one are about to go on; `Dead`: it does not live. `NotSupported`, and nothing
    /// is changed: it runs to completion, is in the kernel domain, serves the portal
    /// manager, provides the caller with pages, stands between others and faults, the caller or a copy of it, or some call to it takes no stack of its own. Those in its
    /// domain are held with it, but for their calls to each other; of them none may be a pager or an interposer. Of one that is exchanged `in_place` those do not wait without which the system ends, and it may
    /// be the portal manager, or serve it.
    fn hold(&self, caller: Caller, instance: InstanceId, in_place: bool) -> Result<(), Error>;
    /// The same of an instance whose next life is in its other place, or back, from where it is now: also if that is the kernel domain, where calls that are inside
    /// are not known to [`DomainPortals::is_quiet`]. Until the release nobody comes between it and others. `NotSupported`: it has no other place, or its pages are a pager's; `NotAllowed`:
    /// somebody stands between it and others; `Busy`: somebody did, and calls are on their way.
    fn hold_to_move(&self, caller: Caller, instance: InstanceId) -> Result<(), Error>;
    /// The caller's portals from index `first` on, which it opened to an export of an instance, enter the content of a joined successor of that, or, if `to`
    /// is the instance itself, where the record says.
    fn lead(&self, caller: Caller, first: u64, to: InstanceId) -> Result<(), Error>;
    /// Whether no thread is inside of a call to the instance, but for the caller's own.
    fn is_quiet(&self, caller: Caller, instance: InstanceId) -> Result<bool, Error>;
    /// One step of the end of a life that has a successor: 0 first, then what it answers, until 0. What it had opened or made as a client
    /// is closed, what it registered and published ends; its imports, and what clients have of its exports and objects, stay for
    /// the successor. `Busy`: it lives.
    fn leave_domain(&self, instance: InstanceId, from: u64) -> Result<u64, Error>;
    /// All portals that lead to an instance enter it from now on where the record says. `NotAllowed`: it is not held; `Busy`: a thread
    /// is inside, and it is not exchanged in place.
    fn relink(&self, instance: InstanceId) -> Result<(), Error>;
    /// Who is held and lives again with other content is entered where it has registered, if it stands between others. At once, if not.
    /// `NotReady`: it has not registered. Calls through it do not go on before, even if it is released.
    fn enter_between(&self, instance: InstanceId) -> Result<(), Error>;
    /// All portals that lead to the first address of one of these pairs lead to the second: entries of methods, a return stub or a stack of one instance, whoever the portals are of.
    /// Pairs are words, little-endian. What is made meanwhile leads where the record says. In steps: the first is 0, the next what this answers, until 0.
    fn repoint(&self, pairs: &[u8], step: u64) -> Result<u64, Error>;
    /// The caller holds the instance no longer: who waited goes on, through the portals as they are now; those to what its content does not serve lead nowhere. `NotFound`: it does not hold
    /// it, or not any more.
    fn release(&self, caller: Caller, instance: InstanceId) -> Result<(), Error>;
}

/// What the loader asks of the supervisor.
#[cairn::interface]
pub trait InstanceControl {
    /// An instance lives from now on: its first thread starts. `Exhausted`: its parent's quota does not hold its threads, semaphores and
    /// locks; `Dead`: its parent does not live.
    fn begin(&self, instance: InstanceId) -> Result<(), Error>;
    /// Ends an instance for good, with those in its domain and their children, wherever it is between its making and its end, and returns when nothing is left of
    /// them. `Busy`: another is connected to one of them; `NotAllowed`: the system ends with it.
    fn retire(&self, instance: InstanceId) -> Result<(), Error>;
    /// The same of one by its name that `parent` had loaded, or a descendant of it. `NotFound`; `NotAllowed`: it had not.
    fn retire_child(&self, parent: InstanceId, name: &str) -> Result<(), Error>;
    /// The number of an instance that lives, and how its content can be exchanged: [in place](Exchange::InPlace) only if the system ends with it. `Dead`: it does not live;
    /// `NotSupported`: one of its devices reaches memory by itself, and nobody can reset that.
    fn replaceable(&self, name: &str) -> Result<(InstanceId, Exchange), Error>;
    /// One of those in the domain of an instance, which end with it, by its place from 0: its number, and the length of its name. `NotFound`: there are no more.
    fn fellow(
        &self,
        instance: InstanceId,
        place: u64,
        name: &mut [u8],
    ) -> Result<(InstanceId, usize), Error>;
    /// An instance, whose callers wait and of whom none is inside, ends with those in its domain, which live again as they are, and lives again with the content of its successor; or with its own again,
    /// by the same call; `is_new`: no life was on that content. Comes back when it serves. From now on it is on *trial*: if it dies, it lives again only by this call or
    /// `settle`. `TimedOut`: it does not serve at that time in ticks; `Dead`: it has died since. After any other error it has the content that it had. `Busy`: another is on trial.
    /// A scheduler does not end: another takes over from it. The value is for how many ticks nobody could come in meanwhile, 0 of all others.
    fn exchange(
        &self,
        caller: Caller,
        instance: InstanceId,
        successor: InstanceId,
        is_new: bool,
        until: u64,
    ) -> Result<u64, Error>;
    /// The trial of an instance is over: it stays as it is.
    fn settle(&self, caller: Caller, instance: InstanceId) -> Result<(), Error>;
    /// [`InstanceControl::retire`] of all that were made and never begun: their loader has died.
    fn retire_made(&self) -> Result<(), Error>;
    /// The number of an instance that can move there, and that of its other place, for whose content `exchange` exchanges its own. `with`: the name of whose page table it is, or
    /// nothing. `Busy`: it is there; `Dead`: it does not live; `NotSupported`: the description does not let it move there; `VersionMismatch`: its content came with a package.
    fn movable(
        &self,
        name: &str,
        to: Location,
        with: &str,
    ) -> Result<(InstanceId, InstanceId), Error>;
    /// Whether a thread of another instance is inside of one whose callers wait, wherever it is, or may be: who asks again and again learns when the last one
    /// has left.
    fn is_inside(&self, instance: InstanceId) -> Result<bool, Error>;
}
