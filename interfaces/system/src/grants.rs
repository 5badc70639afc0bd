//! Passing on what a component holds, with the rights that it chooses.

use cairn::abi::grant::Peer;
use cairn::abi::signature::Signature;
use cairn::component::Interface;
use cairn::{Caller, Error, Grant, InstanceId, Object, Passed, Place};

/// The portal manager, for who passes objects on, and what it has opened, or accepts what others do.
#[cairn::interface]
pub trait Grants {
    /// Offers the block of portals that begins at `first` of the caller's table, an object's or an opened export's, to another
    /// instance, `to` (`cairn_abi::grant::Peer`), with these rights, or what of them the caller has itself. The value names the
    /// grant: that instance alone can accept it, once. It lasts until it is revoked, the block ends of which it was made, or one
    /// of the two dies. `NotFound`: no such block; `NotAllowed`: it may not be passed on, or not to itself or its server;
    /// `Exhausted`: more passes or calls than the caller has; `NotSupported`: for so many calls or until a time, a semaphore, a lock, or what runs to completion;
    /// `BadArgument`: no method is left.
    fn grant(&self, caller: Caller, first: u64, to: u64, rights: Rights) -> Result<u64, Error>;
    /// Accepts what `from` (`cairn_abi::grant::Peer`) offered the caller by this word, if it is of the interface that the caller
    /// knows, as in `Portals::open`. The value is the first portal of a block of its own, which it can `close`. Methods without a
    /// right lead to no portal. `NotFound`: that instance offered the caller no such thing, or not any more.
    fn accept(
        &self,
        caller: Caller,
        from: u64,
        word: u64,
        version: u64,
        signature: &[u8],
    ) -> Result<u64, Error>;
    /// Takes a grant of the caller's back, with all that came of it: their portals lead nowhere from then on. Calls that are
    /// inside come back.
    fn revoke(&self, caller: Caller, word: u64) -> Result<(), Error>;
    /// Portals of the caller's own to what an import of it leads to, whose first portal is `first`: a block that it may pass on, and
    /// closes. The value is its first portal. `NotFound`: no import begins there that leads anywhere; `NotSupported`: a connection inside of a domain.
    fn hold(&self, caller: Caller, first: u64) -> Result<u64, Error>;
    /// For a server: what it granted `client` by this word, an object, comes where that reserved a `place` for an object of the server's, if it
    /// is of the same interface: by reserving the client has accepted it. `NotFound`: no such reservation, or it was filled; or no such
    /// grant; `NotAllowed`: for another server; `NotSupported`: it is no object; `VersionMismatch`: another interface. After an error it is
    /// offered still.
    fn fill(&self, caller: Caller, client: InstanceId, place: u64, word: u64) -> Result<(), Error>;
}

/// What a receiver may do: [`Rights::ALL`], and less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
pub struct Rights {
    /// A bit for each method that it may call, the first method's the lowest.
    pub methods: u32,
    /// How often it may be passed on, by the receiver and by their receivers together; 0: never. So many grants of the caller's
    /// part are kept for it.
    pub passes: u16,
    /// How many calls it may make; 0: any number.
    pub uses: u32,
    /// The tick from which on it may make none; 0: never.
    pub until: u64,
}

impl Rights {
    /// Every method, as often as it likes, for as long as the grant lasts; not to be passed on.
    pub const ALL: Rights = Rights { methods: u32::MAX, passes: 0, uses: 0, until: 0 };
    /// One call.
    pub const ONCE: Rights = Rights::ALL.calls(1);

    /// Only so many calls. One counts as soon as it has its stack in the server, whatever comes of it. With none no method is left.
    pub const fn calls(self, uses: u32) -> Rights {
        // In `uses` 0 is any number.
        let methods = if uses == 0 { 0 } else { self.methods };
        Rights { methods, uses, ..self }
    }

    /// Only until this tick of the machine's time.
    pub const fn until(self, until: u64) -> Rights {
        // In `until` 0 is never; tick 1 is as long ago.
        let until = if until == 0 { 1 } else { until };
        Rights { until, ..self }
    }

    /// It may be passed on so often.
    pub const fn passed_on(self, passes: u16) -> Rights {
        Rights { passes, ..self }
    }

    /// Only these methods of the interface `I`, by their names. In a `const` block a name that there is not stops the build.
    pub const fn only<I: ?Sized + Interface>(self, names: &[&str]) -> Rights {
        let (mut methods, mut index) = (0, 0);
        while index < names.len() {
            methods |= 1 << method::<I>(names[index].as_bytes());
            index += 1;
        }
        // What is not there already does not come back.
        Rights { methods: self.methods & methods, ..self }
    }
}

/// The place of a method in its interface.
const fn method<I: ?Sized + Interface>(name: &[u8]) -> u32 {
    let descriptor = &I::DESCRIPTOR;
    let mut index = 0;
    while index < descriptor.method_count as usize {
        if is_called(&descriptor.methods[index].name, name) {
            return index as u32;
        }
        index += 1;
    }
    panic!("the interface has no method of this name");
}

/// Whether a name that ends with zeros is this one.
const fn is_called(full: &[u8], name: &[u8]) -> bool {
    let mut index = 0;
    while index < full.len() {
        let wanted = if index < name.len() { name[index] } else { 0 };
        if full[index] != wanted {
            return false;
        }
        index += 1;
    }
    name.len() <= full.len()
}

impl GrantsProxy {
    /// Offers an object, or what was opened, to the server that the portal at `server` leads to, for a method of that server with
    /// a parameter `Object<dyn I>`: most often the first portal of the proxy that is called.
    pub fn pass<I: ?Sized>(
        &self,
        object: &Object<I>,
        server: u32,
        rights: Rights,
    ) -> Result<Grant<I>, Error> {
        self.offer(object, Peer::Behind(server), rights)
    }

    /// The same to an instance that has called this one, for a method that returns it.
    pub fn pass_to<I: ?Sized>(
        &self,
        object: &Object<I>,
        caller: Caller,
        rights: Rights,
    ) -> Result<Grant<I>, Error> {
        self.offer(object, Peer::Instance(caller.0), rights)
    }

    fn offer<I: ?Sized>(
        &self,
        object: &Object<I>,
        to: Peer,
        rights: Rights,
    ) -> Result<Grant<I>, Error> {
        self.grant(object.first_portal().into(), to.word(), rights).map(Grant::from_word)
    }

    /// Accepts what a client passed.
    pub fn take<I: ?Sized + Interface>(&self, passed: Passed<I>) -> Result<Object<I>, Error> {
        self.take_of(Peer::Instance(passed.from().0), passed.grant())
    }

    /// Accepts what the server that the portal at `server` leads to returned.
    pub fn take_from<I: ?Sized + Interface>(
        &self,
        server: u32,
        grant: Grant<I>,
    ) -> Result<Object<I>, Error> {
        self.take_of(Peer::Behind(server), grant)
    }

    fn take_of<I: ?Sized + Interface>(
        &self,
        from: Peer,
        grant: Grant<I>,
    ) -> Result<Object<I>, Error> {
        let signature = const { &Signature::of(&I::DESCRIPTOR) };
        let version = I::DESCRIPTOR.version;
        let first = self.accept(from.word(), grant.word(), version, signature.letters())?;
        u32::try_from(first).map(Object::from_first_portal).map_err(|_| Error::Malformed)
    }

    /// Passes an object on for one call, which is told the grant. If that call fails, nothing of it stays: whether its server had accepted
    /// it or not.
    pub fn pass_in<I: ?Sized, T>(
        &self,
        object: &Object<I>,
        server: u32,
        rights: Rights,
        call: impl FnOnce(Grant<I>) -> Result<T, Error>,
    ) -> Result<(T, Grant<I>), Error> {
        let grant = self.pass(object, server, rights)?;
        match call(grant) {
            Ok(value) => Ok((value, grant)),
            Err(error) => {
                // It may be gone, if the server died.
                let _ = self.take_back(grant);
                Err(error)
            }
        }
    }

    /// What an import leads to whose first portal is `import`, to be passed on: the proxy's `first_portal`.
    pub fn held<I: ?Sized>(&self, import: u32) -> Result<Object<I>, Error> {
        let first = self.hold(import.into())?;
        u32::try_from(first).map(Object::from_first_portal).map_err(|_| Error::Malformed)
    }

    /// For a server, in a method that returns an object: puts what it holds itself where the client wants it.
    pub fn put<I: ?Sized>(
        &self,
        place: Place,
        object: &Object<I>,
        rights: Rights,
    ) -> Result<(Object<I>, Grant<I>), Error> {
        let grant = self.pass_to(object, place.client(), rights)?;
        let filled = self.fill(place.client().0, place.word(), grant.word());
        filled.inspect_err(|_| _ = self.take_back(grant))?;
        let index = Place::index(place.word());
        Ok((Object::from_first_portal(index), grant))
    }

    /// Takes back what this component passed on, with all that came of it.
    pub fn take_back<I: ?Sized>(&self, grant: Grant<I>) -> Result<(), Error> {
        self.revoke(grant.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_name_methods() {
        const SOME: Rights = Rights::ALL.only::<dyn Grants>(&["grant", "revoke"]);
        assert_eq!(SOME, Rights { methods: 0b101, ..Rights::ALL });
        assert_eq!(Rights::ONCE.until(5).passed_on(2).uses, 1);
    }

    #[test]
    fn none_is_not_any_number() {
        assert_eq!(Rights::ALL.calls(0).methods, 0);
        assert_eq!(Rights::ALL.calls(0).only::<dyn Grants>(&["grant"]).calls(3).methods, 0);
        assert_eq!(Rights::ALL.until(0).until, 1);
    }

    #[test]
    #[should_panic = "no method"]
    fn a_name_is_whole() {
        let _ = Rights::ALL.only::<dyn Grants>(&["gran"]);
    }
}
