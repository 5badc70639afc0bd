//! Who stands between whom: rules, and the portals that lead to an interposer because of them.
//!
//! A rule says that the calls of a client to a server, of all clients to it, or of a client to all servers, or those of them by one
//! interface, go to an interposer first. For each block of portals to which it applies there is a *wrap*, of two kinds of portals:
//!
//! ```text
//! client's table      wrapping portal            interposer's table      portal on behalf of the client
//!   index ──────▶ letters as ever, `c` is ─────▶   inner index ─────▶ the original callee, `a` is the client
//!                 the inner index
//! ```
//!
//! Several wraps of the same portals lie in each other: the newest one's wrapping portals are in the client's table, and its
//! portals on behalf lead to the interposer of the wrap before.

use crate::blocks::{Code, Kind, NO_INSTANCE};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::domain::{CLIENT_INDEX_SHIFT, PORTALS_MAXIMUM};
use cairn_abi::{Error, InstanceId};

/// Most rules at a time.
pub const RULES_MAXIMUM: usize = 64;
/// Most wraps at a time.
pub const WRAPS_MAXIMUM: usize = 256;

/// Faults of a range are wrapped like a portal, which stands in no table: this, and the range's number, in the place of an index.
pub const FAULTS_FIRST: usize = 0x8000;
const _: () = assert!(PORTALS_MAXIMUM <= FAULTS_FIRST, "no index of a table");

/// Who stands between whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whose calls, or [`NO_INSTANCE`]: all clients'.
    pub client: InstanceId,
    /// To whom, or [`NO_INSTANCE`]: to all.
    pub server: InstanceId,
    /// Who stands between them.
    pub interposer: InstanceId,
    /// By which interface, or zeros: by any.
    pub interface: [u8; NAME_SIZE],
    /// Where it is entered; zero: not any more, see [`Rule::ends`].
    pub entry: u64,
    /// When it dies, the client calls the server itself again.
    pub falls_back: bool,
    /// The client is a copy of the interposer, and has nothing but through it: this lasts as long as the client.
    pub is_of_copy: bool,
}

impl Rule {
    const UNUSED: Rule = Rule {
        client: NO_INSTANCE,
        server: NO_INSTANCE,
        interposer: NO_INSTANCE,
        interface: [0; NAME_SIZE],
        entry: 0,
        falls_back: false,
        is_of_copy: false,
    };

    /// An interposer between a client and a server, as it is asked for.
    pub const fn between(client: InstanceId, server: InstanceId, interposer: InstanceId) -> Rule {
        Rule { client, server, interposer, ..Rule::UNUSED }
    }

    /// Whether calls of this client to this server are meant.
    pub fn applies_to(&self, client: InstanceId, server: InstanceId) -> bool {
        let is = |wanted: InstanceId, one| wanted == NO_INSTANCE || wanted == one;
        let is_end = client == self.interposer || server == self.interposer;
        is(self.client, client) && is(self.server, server) && !is_end && !self.ends()
    }

    /// Whether it is being taken back: what is wrapped by it still is not for long, and nothing more is.
    pub const fn ends(&self) -> bool {
        self.entry == 0
    }

    /// Whether it puts the same between the same.
    pub fn is_like(&self, other: &Rule) -> bool {
        (self.client, self.server, self.interposer, self.interface)
            == (other.client, other.server, other.interposer, other.interface)
    }

    /// Whether it names an instance.
    pub fn names(&self, instance: InstanceId) -> bool {
        [self.client, self.server, self.interposer].contains(&instance)
    }
}

/// A block of portals that leads to an interposer.
#[derive(Clone, Copy, Debug)]
pub struct Wrap {
    /// Why.
    pub rule: Rule,
    /// Whose portals.
    pub client: InstanceId,
    /// Whom they lead to without anybody between.
    pub server: InstanceId,
    /// What they lead to.
    pub kind: Kind,
    /// The first of them in the client's table.
    pub first: u16,
    /// How many.
    pub count: u8,
    /// The first index in the interposer's table.
    pub inner: u16,
    /// Address of the words of a limited grant; zero: none.
    pub limits: u64,
    /// The wrapping portals, one every `stride` bytes.
    pub wrapping: Code,
    /// See `wrapping`.
    pub stride: u16,
    /// The portals on behalf of the client.
    pub behalf: Code,
    /// The client's stacks in the interposer.
    pub came: u16,
    /// It is over, but threads of the client may be in the interposer still, with inner indexes in their registers.
    pub leaves: bool,
}

impl Wrap {
    const UNUSED: Wrap = Wrap {
        rule: Rule::UNUSED,
        client: NO_INSTANCE,
        server: NO_INSTANCE,
        kind: Kind::Export(0),
        first: 0,
        count: 0,
        inner: 0,
        limits: 0,
        wrapping: Code { start: 0, granules: 0, queue: 0 },
        stride: 0,
        behalf: Code { start: 0, granules: 0, queue: 0 },
        came: 0,
        leaves: false,
    };

    /// Whether it is of what a client has at an index.
    pub fn is_at(&self, client: InstanceId, index: usize) -> bool {
        let first = usize::from(self.first);
        let indexes = first..first + usize::from(self.count);
        !self.leaves && self.client == client && indexes.contains(&index)
    }

    /// The range whose faults it is of.
    pub fn range(&self) -> Option<usize> {
        usize::from(self.first).checked_sub(FAULTS_FIRST)
    }

    /// Whether it is of the block of a client that begins at an index.
    pub fn begins(&self, client: InstanceId, first: usize) -> bool {
        !self.leaves && self.client == client && usize::from(self.first) == first
    }

    /// The word with which the client's calls by a method come in: where they go on in the interposer's table, and above it the index
    /// by which the client called.
    pub fn word(&self, method: usize) -> u64 {
        match self.range() {
            // No portal of a table has the index 0.
            Some(_) => self.inner.into(),
            None => inner_word(self.inner.into(), self.first.into(), method),
        }
    }

    /// Whether an instance is one of its three.
    pub fn is_of(&self, instance: InstanceId) -> bool {
        [self.client, self.server, self.rule.interposer].contains(&instance)
    }
}

/// See [`Wrap::word`].
pub fn inner_word(inner: usize, first: usize, method: usize) -> u64 {
    (inner + method) as u64 | ((first + method) as u64) << CLIENT_INDEX_SHIFT
}

/// A few things in the order in which they came.
pub struct List<T, const MAXIMUM: usize> {
    all: [T; MAXIMUM],
    count: usize,
}

impl<T: Copy, const MAXIMUM: usize> List<T, MAXIMUM> {
    /// None; `unused` is all zeros, so that it takes no room in the image.
    pub const fn new(unused: T) -> List<T, MAXIMUM> {
        List { all: [unused; MAXIMUM], count: 0 }
    }

    /// All of them.
    pub fn all(&self) -> &[T] {
        &self.all[..self.count]
    }

    /// The same, to change them.
    pub fn all_mut(&mut self) -> &mut [T] {
        &mut self.all[..self.count]
    }

    /// Whether there is room for no more.
    pub fn is_full(&self) -> bool {
        self.count == MAXIMUM
    }

    /// Adds one behind all others.
    pub fn push(&mut self, one: T) -> Result<(), Error> {
        *self.all.get_mut(self.count).ok_or(Error::Exhausted)? = one;
        self.count += 1;
        Ok(())
    }

    /// Takes one out, by its place.
    pub fn remove(&mut self, place: usize) {
        if let Some(rest) = self.all[..self.count].get_mut(place..) {
            rest.rotate_left(1);
            self.count -= 1;
        }
    }
}

/// All rules and wraps.
pub struct Wraps {
    /// The rules; a later one's interposer is nearer to the client.
    pub rules: List<Rule, RULES_MAXIMUM>,
    /// The wraps; of the same portals the last one is in the client's table.
    pub wraps: List<Wrap, WRAPS_MAXIMUM>,
}

impl Wraps {
    /// None.
    pub const NONE: Wraps =
        Wraps { rules: List::new(Rule::UNUSED), wraps: List::new(Wrap::UNUSED) };

    /// Place of the newest wrap below `end` that is chosen.
    pub fn newest(&self, end: usize, chosen: impl Fn(&Wrap) -> bool) -> Option<usize> {
        self.wraps.all().iter().take(end).rposition(chosen)
    }
}
