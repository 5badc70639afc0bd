//! The portal manager: the only component that changes portal tables after the start.

use crate::{Lock, Semaphore};
use cairn::abi::signature::Signature;
use cairn::component::Interface;
use cairn::cost::Cost;
use cairn::object::Places;
use cairn::{Caller, Error, InstanceId, Object, Place};

/// Behind an instance's name: where it is asked.
const DOOR: &str = ".door";

/// What every component may ask for.
#[cairn::interface]
pub trait Portals {
    /// Opens an export, named `instance.export`, of the interface that the caller knows: its version,
    /// and the letters of its methods as `cairn_abi::signature` has them, since the server may be
    /// hostile (0 and nothing: any interface, for programs that learn it at run time). No component opens an
    /// export of its own. The value is the index of the first of a consecutive block of portals, one per method.
    fn open(
        &self,
        caller: Caller,
        name: &str,
        version: u64,
        signature: &[u8],
    ) -> Result<u64, Error>;
    /// Gives a block of portals up, whichever component made it and whatever became of it: from then on, and not before,
    /// its indexes can get another meaning. A semaphore or lock ends for all when the domain that made it
    /// closes it; `Busy` while threads wait for it.
    fn close(&self, caller: Caller, first: u64) -> Result<(), Error>;
    /// For a server: takes back what a client (0: all) opened of one of its exports or
    /// registrations, by its name without the instance; the value is how many blocks. Their portals lead
    /// nowhere from then on; the indexes stay the client's until it closes them.
    fn revoke(&self, caller: Caller, export: &str, client: InstanceId) -> Result<u64, Error>;
    /// Reserves a block of the caller's table for an object of the server that the caller's portal `server`
    /// leads to. `interface` is the name of the object's interface as the caller knows it, a space, and its
    /// letters as in `open`. That server alone can fill the block, once, with an object of this interface;
    /// until then its portals lead nowhere. The value names the reservation; its lower 16 bits are the first
    /// index. `close` gives it back.
    fn reserve(
        &self,
        caller: Caller,
        server: u64,
        version: u64,
        interface: &[u8],
    ) -> Result<u64, Error>;
    /// For a server: makes an object of its object interface called `interface`, with `control` embedded,
    /// where `client` reserved a `place` for one.
    fn make_object(
        &self,
        caller: Caller,
        client: InstanceId,
        place: u64,
        interface: &str,
        control: u64,
    ) -> Result<(), Error>;
    /// For a server: takes all portals of its object `control` back; the value is how many blocks.
    fn end_object(&self, caller: Caller, interface: &str, control: u64) -> Result<u64, Error>;
    /// Makes a semaphore with a first value; the value is the index of its first portal.
    fn make_semaphore(&self, caller: Caller, initial: u64) -> Result<u64, Error>;
    /// Makes a lock; the value is the index of its first portal.
    fn make_lock(&self, caller: Caller) -> Result<u64, Error>;
    /// The semaphore with this first value, or the lock ([`cairn::sync::methods::A_LOCK`]), that the caller knows by a `label`
    /// of its own, which is not zero: the first call makes it, each later one answers the same first portal. So threads
    /// that come at the same time make one.
    fn make_once(&self, caller: Caller, label: u32, initial: u64) -> Result<u64, Error>;
    /// Lets others open a semaphore or lock that the caller made, under the name `instance.name`;
    /// `policy` as in `register`.
    fn publish(&self, caller: Caller, first: u64, name: &str, policy: &str) -> Result<(), Error>;
    /// For a server, at run time: registers entry points under the name `instance.name`, and who may
    /// open it (`*` or instance names, separated by spaces). With `ask` among them, clients that are
    /// not named there ask the server, by its [`Door`]; until it has admitted them, `open` answers
    /// `WouldBlock`. `methods` is the version of the
    /// interface, 8 bytes, then 24 bytes a method: 12 of letters, 4 unused, 8 of entry point.
    fn register(
        &self,
        caller: Caller,
        name: &str,
        policy: &str,
        methods: &[u8],
    ) -> Result<(), Error>;
    /// Takes a registration or publication back; portals that are open keep working until they are
    /// revoked.
    fn unregister(&self, caller: Caller, name: &str) -> Result<(), Error>;
    /// For a server: whether a client may open a name that it registered or published, from
    /// now on, until the name is taken back. What the client has open stays open.
    fn admit(
        &self,
        caller: Caller,
        name: &str,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error>;
    /// How many portals the block has that begins at `first` in the caller's table; `NotFound`: no such block
    /// was made at run time.
    fn size(&self, caller: Caller, first: u64) -> Result<u64, Error>;
    /// How often an instance has been started, for a server that keeps something for its clients: what it kept
    /// for another life can go. `Dead`: it does not live now.
    fn life(&self, instance: InstanceId) -> Result<u64, Error>;
}

/// What components are connected to, while they run (DREAMS, `set` of its component language).
#[cairn::interface]
pub trait Connections {
    /// Connects the imports of `client` that the description connects to `from` (`instance.export`) to `to`, which the client may
    /// open, and whose interface is the same. Calls that are under way come back; none answers that there is no portal. It
    /// lasts until the client ends, or `to` is `from`: then they are connected as described. A server that starts again is
    /// connected as before.
    /// `NotFound`: no such export, or no such connection; `NotAllowed`: the client may not open it; `VersionMismatch`: another
    /// interface; `BadArgument`: no such instance; `NotSupported`: a connection inside a domain, or of or to who runs to completion; `Exhausted`; `Dead`.
    fn exchange(&self, client: InstanceId, from: &str, to: &str) -> Result<(), Error>;
}

/// Of a server that decides itself which clients open what it registered with the policy `ask`: its export, or
/// registration, `door`. The client calls it on its own thread, as any other service, so a server that
/// does not answer keeps only the client waiting that asked.
#[cairn::interface]
pub trait Door {
    /// The caller wants to open `name` (`instance.name`). The server admits it by [`Portals::admit`]
    /// before it returns, or answers why not (`NotAllowed`).
    fn ask(&self, caller: Caller, name: &str) -> Result<(), Error>;
}

impl PortalsProxy {
    /// Opens the export or registration `name`, of the interface `dyn I` as this program knows it. If its
    /// server wants to be asked, asks it.
    pub fn open_object<I: ?Sized + Interface>(&self, name: &str) -> Result<Object<I>, Error> {
        match self.open_admitted(name) {
            Err(Error::WouldBlock) => {
                self.ask(name)?;
                self.open_admitted(name)
            }
            opened => opened,
        }
    }

    /// Asks the server of `name` to admit this component.
    fn ask(&self, name: &str) -> Result<(), Error> {
        let (instance, _) = name.split_once('.').ok_or(Error::NotFound)?;
        let mut buffer = [0; 64];
        let length = instance.len() + DOOR.len();
        let text = buffer.get_mut(..length).ok_or(Error::TooLarge)?;
        text[..instance.len()].copy_from_slice(instance.as_bytes());
        text[instance.len()..].copy_from_slice(DOOR.as_bytes());
        let text = core::str::from_utf8(text).map_err(|_| Error::Malformed)?;
        let door = self.open_admitted::<dyn Door>(text)?;
        let answer = door.proxy().ask(name);
        let closed = self.close(door.first_portal().into());
        answer.and(closed)
    }

    fn open_admitted<I: ?Sized + Interface>(&self, name: &str) -> Result<Object<I>, Error> {
        let signature = const { &Signature::of(&I::DESCRIPTOR) };
        at(self.open(name, I::DESCRIPTOR.version, signature.letters())?)
    }

    /// The same; the value calls its methods.
    pub fn open_proxy<I: ?Sized + Interface>(&self, name: &str) -> Result<I::Proxy, Error> {
        Ok(self.open_object::<I>(name)?.proxy())
    }

    /// For a server, in a method that returns an object: makes it where the client wants it. `control` is what
    /// the server's object table knows it as.
    pub fn grant<I: ?Sized + Interface>(
        &self,
        place: Place,
        control: u64,
    ) -> Result<Object<I>, Error> {
        self.make_object(place.client().0, place.word(), I::NAME, control)?;
        Ok(Object::from_first_portal(Place::index(place.word())))
    }

    /// For a server that keeps something for a client: whether that `life` of the client is over. Only a death or a
    /// later life says so; whatever else keeps this call from being answered does not.
    pub fn has_ended(&self, client: Caller, life: u64) -> bool {
        match self.life(client.0) {
            Ok(now) => now != life,
            Err(error) => error == Error::Dead,
        }
    }

    /// Makes a semaphore with a first value.
    pub fn semaphore(&self, initial: u64) -> Result<Object<dyn Semaphore>, Error> {
        at(self.make_semaphore(initial)?)
    }

    /// Makes a lock.
    pub fn lock(&self) -> Result<Object<dyn Lock>, Error> {
        at(self.make_lock()?)
    }
}

/// What the portal manager made, at an index that it answered.
fn at<I: ?Sized>(first: u64) -> Result<Object<I>, Error> {
    u32::try_from(first).map(Object::from_first_portal).map_err(|_| Error::Malformed)
}

impl Places for PortalsProxy {
    fn reserve_for<I: ?Sized + Interface>(&self, server: u32) -> Result<u64, Error> {
        let signature = const { &Signature::of(&I::DESCRIPTOR) };
        self.reserve(server.into(), I::DESCRIPTOR.version, signature.bytes())
    }

    fn give_back(&self, first_portal: u32) -> Result<(), Error> {
        self.close(first_portal.into())
    }
}

/// What the supervisor and the benchmarks ask for.
#[cairn::interface]
pub trait PortalControl {
    /// One step of what the end of an instance takes: what it had opened is closed, what others have of it ends. 1:
    /// there is more; 0: nothing is left.
    fn instance_died(&self, instance: InstanceId) -> Result<u64, Error>;
    /// An instance is about to start again: `Busy` if its portal table is not as the layout made it, or others have objects of its
    /// last life, which did not [leave](crate::DomainPortals::leave_domain) them to it.
    fn instance_starts(&self, instance: InstanceId) -> Result<(), Error>;
    /// What it takes to generate and install one portal of a specification (such as `smcii`) in the
    /// caller's table, reading the counters included. The portal calls the caller's own return stub, and is gone
    /// afterwards.
    fn measure(&self, caller: Caller, specification: &str) -> Result<Cost, Error>;
}

/// What a trusted server asks for whose parameters want code of their own in the portals, and whom the
/// description connects to this.
#[cairn::interface]
pub trait ParameterTypes {
    /// Registers the letter `A` to `Z` for parameters of one or two words, with machine code for the
    /// way in and for the value on its way back: straight arithmetic on `t2` to `t6`, at most 16
    /// instructions each, as `cairn_portal::parameter` has it. From then on all letters of `register`
    /// may contain it. It is there for good; the same once more changes nothing. If the caller keeps data for the letter, the code may read
    /// them: it finds their address in `t6`, loads whole words inside, and has 12 instructions.
    fn register_parameter(
        &self,
        caller: Caller,
        letter: u64,
        words: u64,
        call: &[u8],
        back: &[u8],
    ) -> Result<(), ParameterError>;
    /// Keeps private data for a letter that is not registered yet, at most 64 words, all zero: nobody but the caller changes them, and nothing but the
    /// code of its letter reads them. They are there for good; the same once more changes nothing.
    fn keep_data(&self, caller: Caller, letter: u64, words: u64) -> Result<(), ParameterError>;
    /// Sets a word of them: the next call finds it. `NotAllowed`: they are another's.
    fn set_data(&self, caller: Caller, letter: u64, place: u64, word: u64) -> Result<(), Error>;
}

/// Why a parameter type is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::MethodError)]
pub enum ParameterError {
    /// The letter is not one of `A` to `Z`.
    BadLetter,
    /// The letter has another meaning already.
    Taken,
    /// A parameter has one or two words.
    BadWords,
    /// More than 16 instructions, or bytes that are no whole instructions.
    BadLength,
    /// A branch or a jump: a fragment runs straight through.
    Jump,
    /// A system instruction or a fence: a fragment only computes.
    System,
    /// A load, a store or an atomic operation: a fragment only computes.
    Memory,
    /// Not a 32-bit arithmetic instruction of RV64I without multiplication.
    BadInstruction,
    /// It writes another register than `t2` to `t6`.
    WrongRegister,
    /// It reads a register that holds nothing of the parameter.
    Unset,
    /// It leads behind the private data, or may, or not to a whole word; or passes on where they are.
    Bounds,
    /// No such number of words, or all room for private data is taken.
    NoRoom,
    /// The call failed.
    Portal(Error),
}

/// What may be known of portals; asking changes nothing.
#[cairn::interface]
pub trait PortalListing {
    /// Describes the next portal of an instance from `index` on as text, `NotFound` behind the last; the
    /// value is the length of the text, and the index of that portal.
    fn describe(
        &self,
        instance: InstanceId,
        index: u64,
        text: &mut [u8],
    ) -> Result<(usize, u64), Error>;
    /// Bytes of portal code in use, and free. What is kept for the next opening counts as free.
    fn usage(&self) -> Result<(u64, u64), Error>;
    /// Bytes of the portal code that an instance has at run time, and its part.
    fn usage_of(&self, instance: InstanceId) -> Result<(u64, u64), Error>;
    /// Bytes of the portal code that the description gives an instance.
    fn described_code(&self, instance: InstanceId) -> Result<u64, Error>;
    /// Of what there was no more when an instance was last told [`Error::Exhausted`] in this life, and which key of the
    /// description gives more, as text; the value is its length. `NotFound`: it never was.
    fn refused(&self, instance: InstanceId, text: &mut [u8]) -> Result<usize, Error>;
    /// Describes the next grant that an instance made, from the number `from` on, as text: to whom, whether that has accepted it, what it is, its
    /// methods, calls left, how long yet, how often it may be passed on. `NotFound` behind the last; the value is the length of
    /// the text, and the number of that grant.
    fn given(
        &self,
        instance: InstanceId,
        from: u64,
        text: &mut [u8],
    ) -> Result<(usize, u64), Error>;
}
