//! The names that were added at run time: a part of a bounded table for each server, one writer, readers that
//! never wait. The server of a name stands before its dot, so no search looks at what other servers added.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use cairn_abi::Error;
use cairn_abi::InstanceId;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::{NAMES_MAXIMUM, Range};
// Relaxed: the fences beside a slot's version order its words; of `next_number` only different values are wanted.
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

pub mod domains;
use domains::Domains;

/// Most bytes of a name `instance.export`.
pub const NAME_MAXIMUM: usize = 63;

const WORDS: usize = NAME_MAXIMUM.div_ceil(8);

/// Which instances may open a name: a bit for each number. None has number 0: its bit is [`ASKS`].
pub type Policy = [u64; POLICY_WORDS];
const POLICY_WORDS: usize = INSTANCES_MAXIMUM / 64;

/// A client that is not admitted asks the server.
const ASKS: u64 = 1;
/// What a policy says for it.
const ASK: &str = "ask";

/// As many entries of a list `1=NAME,2=NAME,3:0=NAME` as have room: one that is cut would be taken for whole, and so would the
/// variants of a parameter if some of them were left out.
pub fn whole_entries(list: &str, room: usize) -> &str {
    if list.len() <= room {
        return list;
    }
    // A comma that is the first byte without room ends the last entry that has it.
    let entries = list.as_bytes().get(..=room).unwrap_or_default();
    let end = entries.iter().rposition(|byte| *byte == b',').map_or(0, |comma| comma + 1);
    let (whole, cut) = list.split_at_checked(end).unwrap_or_default();
    let place = parameter(cut);
    let left =
        whole.split_inclusive(',').take_while(|entry| place.is_none() || parameter(entry) != place);
    let length: usize = left.map(str::len).sum();
    whole.get(..length).unwrap_or("").trim_end_matches(',')
}

/// The place of the parameter that a list's first entry is about, if it is about one.
fn parameter(list: &str) -> Option<&str> {
    let (place, _) = list.split_once(':')?;
    (!place.contains('=')).then_some(place)
}

/// Who says `*`.
pub const EVERYBODY: Policy = [u64::MAX; POLICY_WORDS];

/// Whether a policy admits a client.
pub fn admits(policy: &Policy, client: InstanceId) -> bool {
    policy.get(client.index() / 64).is_some_and(|word| word >> (client.index() % 64) & 1 == 1)
}

/// Whether a client may open a name; [`Error::WouldBlock`]: its server decides, and has not yet.
pub fn decide(policy: &Policy, client: InstanceId) -> Result<(), Error> {
    match (admits(policy, client), policy[0] & ASKS) {
        (true, _) => Ok(()),
        (false, 0) => Err(Error::NotAllowed),
        (false, _) => Err(Error::WouldBlock),
    }
}

/// Reads a policy: `*`, or names separated by spaces, which `find` turns into numbers; `ask` is not a name,
/// but lets the server decide about all others.
pub fn parse_policy(
    text: &str,
    find: impl Fn(&str) -> Option<InstanceId>,
) -> Result<Policy, Error> {
    if text.trim() == "*" {
        return Ok(EVERYBODY);
    }
    let mut policy = [0; POLICY_WORDS];
    for name in text.split_ascii_whitespace() {
        if name == ASK {
            policy[0] |= ASKS;
            continue;
        }
        let number = find(name).ok_or(Error::NotFound)?.index();
        *policy.get_mut(number / 64).ok_or(Error::BadArgument)? |= 1 << (number % 64);
    }
    Ok(policy)
}

/// Whether `name` may stand for something of the instance called `instance`.
pub fn belongs_to(name: &str, instance: &str) -> bool {
    name.strip_prefix(instance)
        .and_then(|rest| rest.strip_prefix('.'))
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic()))
}

/// A name that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    /// Its number, never used again; zero: none.
    pub number: u64,
    /// The server.
    pub server: InstanceId,
    /// The clients that may open it.
    pub policy: Policy,
    name: [u64; WORDS],
}

/// The server whose names are meant.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Its number.
    pub number: InstanceId,
    /// The places of its names, as the layout divides them.
    pub names: Range,
}

impl Addition {
    const NONE: Addition =
        Addition { number: 0, server: InstanceId(0), policy: [0; POLICY_WORDS], name: [0; WORDS] };

    /// The name, as bytes in `buffer`.
    pub fn name<'buffer>(&self, buffer: &'buffer mut [u8; WORDS * 8]) -> &'buffer str {
        for (bytes, word) in buffer.chunks_exact_mut(8).zip(self.name) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let length = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
        core::str::from_utf8(&buffer[..length]).unwrap_or("?")
    }
}

fn pack(name: &[u8]) -> Result<[u64; WORDS], Error> {
    if name.is_empty() || name.len() > NAME_MAXIMUM || name.contains(&0) {
        return Err(Error::BadArgument);
    }
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(name.chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    Ok(words)
}

/// An entry. The version is odd while it is written; a reader that finds the same even version twice
/// has read it whole.
struct Slot {
    version: AtomicU64,
    words: [AtomicU64; 2 + POLICY_WORDS + WORDS],
}

impl Slot {
    fn read(&self) -> Addition {
        loop {
            let before = self.version.load(Ordering::Acquire);
            let word = |index: usize| self.words[index].load(Ordering::Relaxed);
            let addition = Addition {
                number: word(0),
                server: InstanceId(word(1) as u16),
                policy: core::array::from_fn(|index| word(2 + index)),
                name: core::array::from_fn(|index| word(2 + POLICY_WORDS + index)),
            };
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                return addition;
            }
            // A writer of a lower priority was preempted inside: nothing is known of this entry.
            if before % 2 == 1 {
                return Addition::NONE;
            }
        }
    }

    fn write(&self, addition: &Addition) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        let words = [addition.number, addition.server.into()]
            .into_iter()
            .chain(addition.policy)
            .chain(addition.name);
        for (word, value) in self.words.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
        self.version.store(version + 2, Ordering::Release);
    }
}

/// The names added at run time.
pub struct Additions {
    slots: [Slot; NAMES_MAXIMUM],
    writing: AtomicBool,
    next_number: AtomicU64,
    /// The instances that there are.
    pub domains: Domains,
}

impl Additions {
    /// An empty table whose numbers begin at `first_number`, which is not zero.
    pub const fn new(first_number: u64) -> Additions {
        Additions {
            slots: [const {
                Slot {
                    version: AtomicU64::new(0),
                    words: [const { AtomicU64::new(0) }; 2 + POLICY_WORDS + WORDS],
                }
            }; NAMES_MAXIMUM],
            writing: AtomicBool::new(false),
            next_number: AtomicU64::new(first_number),
            domains: Domains::new(),
        }
    }

    /// The names from a place on, in order of their places.
    pub fn iter(&self, from: usize) -> impl Iterator<Item = (usize, Addition)> {
        let slots = self.slots.iter().enumerate().skip(from);
        slots.map(|(place, slot)| (place, slot.read())).filter(|(_, found)| found.number != 0)
    }

    /// The slots of a server.
    fn of(&self, server: Server) -> &[Slot] {
        let Range { start, end } = server.names;
        self.slots.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// The place and the content of a server's addition called `name`.
    fn place(&self, server: Server, name: &[u64; WORDS]) -> Option<(&Slot, Addition)> {
        let slots = self.of(server).iter().map(|slot| (slot, slot.read()));
        slots.into_iter().find(|(_, found)| found.number != 0 && found.name == *name)
    }

    /// The addition of a server called `name`.
    pub fn find(&self, server: Server, name: &[u8]) -> Option<Addition> {
        self.place(server, &pack(name).ok()?).map(|(_, addition)| addition)
    }

    /// The one writer, the portal manager, makes its calls one after the other; a second one is told
    /// so.
    fn write<R>(&self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        if self.writing.swap(true, Ordering::Acquire) {
            return Err(Error::Busy);
        }
        let result = body();
        self.writing.store(false, Ordering::Release);
        result
    }

    /// Adds a name; the value is its number.
    pub fn add(&self, server: Server, name: &str, policy: Policy) -> Result<u64, Error> {
        let packed = pack(name.as_bytes())?;
        self.write(|| {
            if self.place(server, &packed).is_some() {
                return Err(Error::Busy);
            }
            let is_free = |slot: &&Slot| slot.read().number == 0;
            let slot = self.of(server).iter().find(is_free).ok_or(Error::Exhausted)?;
            let number = self.next_number.fetch_add(1, Ordering::Relaxed);
            slot.write(&Addition { number, server: server.number, policy, name: packed });
            Ok(number)
        })
    }

    /// Takes a name of a server back; the value is its number.
    pub fn remove(&self, server: Server, name: &str) -> Result<u64, Error> {
        let packed = pack(name.as_bytes()).map_err(|_| Error::NotFound)?;
        self.write(|| {
            let (slot, found) = self.place(server, &packed).ok_or(Error::NotFound)?;
            slot.write(&Addition::NONE);
            Ok(found.number)
        })
    }

    /// Changes whether a client may open a name of a server.
    pub fn admit(
        &self,
        server: Server,
        name: &str,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error> {
        let packed = pack(name.as_bytes())?;
        self.write(|| {
            let (slot, mut addition) = self.place(server, &packed).ok_or(Error::NotFound)?;
            let word = addition.policy.get_mut(client.index() / 64);
            let (word, bit) = (word.ok_or(Error::BadArgument)?, 1 << (client.index() % 64));
            *word = if admitted { *word | bit } else { *word & !bit };
            slot.write(&addition);
            Ok(())
        })
    }

    /// Whether the description lets a client open an export: what it says of clients by their names it says of none that
    /// came under such a number since.
    #[inline]
    pub fn decide_described(&self, policy: &Policy, client: InstanceId) -> Result<(), Error> {
        match self.domains.is_described(client) || *policy == EVERYBODY {
            true => decide(policy, client),
            false => Err(Error::NotAllowed),
        }
    }

    /// An instance is no more: its names are nobody's, and what others admitted it to is not open to who comes next under its
    /// number, unless it is open to everybody.
    pub fn retire_domain(&self, server: Server) -> Result<(), Error> {
        if !self.domains.is_present(server.number) {
            return Err(Error::NotFound);
        }
        self.remove_all(server)?;
        let (word, bit) = (server.number.index() / 64, 1 << (server.number.index() % 64));
        self.write(|| {
            for slot in &self.slots {
                let mut addition = slot.read();
                let is_named = addition.number != 0 && addition.policy != EVERYBODY;
                if is_named && admits(&addition.policy, server.number) {
                    addition.policy[word] &= !bit;
                    slot.write(&addition);
                }
            }
            self.domains.retire(server.number)
        })
    }

    /// Takes all names of a server back; the value is how many.
    pub fn remove_all(&self, server: Server) -> Result<u64, Error> {
        self.write(|| {
            let added = self.of(server).iter().filter(|slot| slot.read().number != 0);
            Ok(added.map(|slot| slot.write(&Addition::NONE)).count() as u64)
        })
    }
}

#[cfg(test)]
mod tests;
