//! The lists: who has what, and from whom.

use cairn::{Error, InstanceId};
use cairn_example_capabilities_contract::Rights;

/// Capabilities of all components together.
const MOST: usize = 64;
/// Numbers of capabilities begin here: no component takes them for those of the server.
const FIRST: u64 = 1000;

/// A capability in somebody's list.
#[derive(Clone, Copy)]
struct Entry {
    holder: InstanceId,
    /// Who serves it, and the number by which that knows it.
    server: InstanceId,
    object: u64,
    rights: Rights,
    /// The place of the one that it came of.
    from: Option<usize>,
}

/// All lists.
pub struct Lists([Option<Entry>; MOST]);

impl Lists {
    /// Nobody has anything.
    pub const EMPTY: Lists = Lists([None; MOST]);

    fn add(&mut self, entry: Entry) -> Result<u64, Error> {
        let place = self.0.iter().position(Option::is_none).ok_or(Error::Exhausted)?;
        self.0[place] = Some(entry);
        Ok(FIRST + place as u64)
    }

    fn find(&self, holder: InstanceId, number: u64) -> Result<(usize, Entry), Error> {
        let place = number.checked_sub(FIRST).ok_or(Error::NotAllowed)? as usize;
        let entry = self.0.get(place).copied().flatten();
        let own = entry.filter(|entry| entry.holder == holder).ok_or(Error::NotAllowed)?;
        Ok((place, own))
    }

    /// A server answered a client with something of its own: the client's number for it.
    pub fn make(
        &mut self,
        server: InstanceId,
        object: u64,
        holder: InstanceId,
    ) -> Result<u64, Error> {
        self.add(Entry { holder, server, object, rights: Rights::ALL, from: None })
    }

    /// What a holder has once more, with fewer rights.
    pub fn derive(
        &mut self,
        holder: InstanceId,
        number: u64,
        rights: Rights,
    ) -> Result<u64, Error> {
        let (place, own) = self.find(holder, number)?;
        let methods = rights.methods & own.rights.methods;
        let hands = rights.hands.min(own.rights.hands);
        let rights = Rights { methods, hands, ..rights };
        self.add(Entry { rights, from: Some(place), ..own })
    }

    /// What a holder passes to another: that one's number for it.
    pub fn pass(&mut self, holder: InstanceId, number: u64, to: InstanceId) -> Result<u64, Error> {
        let (place, own) = self.find(holder, number)?;
        let hands = own.rights.hands.checked_sub(1).ok_or(Error::NotAllowed)?;
        // Handed over twice it is one.
        let is_it = |entry: &Entry| entry.holder == to && entry.from == Some(place);
        if let Some(place) = self.0.iter().position(|entry| entry.as_ref().is_some_and(is_it)) {
            return Ok(FIRST + place as u64);
        }
        let rights = Rights { hands, calls: Rights::ALL.calls, ..own.rights };
        self.add(Entry { holder: to, rights, from: Some(place), ..own })
    }

    /// A call of the server's, for which a right is needed: the server's number. It counts for all that the capability came of, too.
    pub fn call(
        &mut self,
        holder: InstanceId,
        number: u64,
        (server, right): (InstanceId, u32),
    ) -> Result<u64, Error> {
        let (place, own) = self.find(holder, number)?;
        if own.server != server || own.rights.methods & right == 0 {
            return Err(Error::NotAllowed);
        }
        let above = |entry: &Entry| self.0[entry.from?];
        if core::iter::successors(Some(own), above).any(|entry| entry.rights.calls == 0) {
            return Err(Error::Exhausted);
        }
        let mut at = Some(place);
        while let Some(Entry { rights, from, .. }) = at.and_then(|place| self.0[place].as_mut()) {
            if rights.calls != Rights::ALL.calls {
                rights.calls -= 1;
            }
            at = *from;
        }
        Ok(own.object)
    }

    /// Takes back what came of a capability; how many.
    pub fn revoke(&mut self, holder: InstanceId, number: u64) -> Result<u64, Error> {
        let (first, _) = self.find(holder, number)?;
        let mut count = 0;
        // What came of what is gone goes as well.
        loop {
            let ends = |entry: &Entry| {
                entry.from.is_some_and(|from| from == first || self.0[from].is_none())
            };
            let Some(place) = self.0.iter().position(|entry| entry.as_ref().is_some_and(ends))
            else {
                return Ok(count);
            };
            self.0[place] = None;
            count += 1;
        }
    }
}
