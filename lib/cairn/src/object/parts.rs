//! Objects in places of which every client has its own, so that no client takes another's, and the time of a client's
//! operation does not depend on the objects of others, dead ones included.

use super::ObjectTable;
use crate::{Caller, Error};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
// Relaxed: of `opened` only different values are wanted, and `used` grows alone.
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// In a control word: the client. Below it is the place in its part.
const CLIENT_SHIFT: u32 = 8;
const CLIENT: u64 = ((INSTANCES_MAXIMUM as u64) - 1) << CLIENT_SHIFT;

/// A table with `PART` objects of the state `T` for each client, for a `static`.
pub struct ObjectParts<T, const PART: usize> {
    parts: [Part<T, PART>; INSTANCES_MAXIMUM],
    /// The parts that are or were in use, a bit for each.
    used: [AtomicU64; INSTANCES_MAXIMUM.div_ceil(64)],
    /// The generation of a predecessor, which parts that nobody has used yet follow at their first use.
    followed: AtomicU32,
}

struct Part<T, const PART: usize> {
    objects: ObjectTable<Owned<T>, PART>,
    opened: AtomicU32,
}

struct Owned<T> {
    /// The client's life that opened it, its lower half: no server lives for so many lives of a client.
    life: u32,
    /// Objects that the client opened before it.
    age: u32,
    state: T,
}

impl<T, const PART: usize> ObjectParts<T, PART> {
    /// An empty table.
    pub const fn new() -> Self {
        assert!(PART > 0 && PART <= 1 << CLIENT_SHIFT, "a place has its bits in a control word");
        ObjectParts {
            parts: [const { Part { objects: ObjectTable::new(), opened: AtomicU32::new(0) } };
                INSTANCES_MAXIMUM],
            used: [const { AtomicU64::new(0) }; INSTANCES_MAXIMUM.div_ceil(64)],
            followed: AtomicU32::new(0),
        }
    }

    /// The parts that are or were in use, with their clients' numbers.
    fn used(&self) -> impl Iterator<Item = (u64, &Part<T, PART>)> {
        let words = (0..).step_by(64).zip(&self.used);
        let clients = words.flat_map(|(first, word)| {
            let mut left = word.load(Relaxed);
            core::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(first + u64::from(bit))
            })
        });
        clients.filter_map(|client| Some((client, self.parts.get(client as usize)?)))
    }

    /// From now on a client's part is in use.
    fn begin_use(&self, client: usize) {
        if let Some(word) = self.used.get(client / 64) {
            word.fetch_or(1 << (client % 64), Relaxed);
        }
    }

    /// Puts an object of `client` into its part and returns its control word, of which `state` makes its state: from
    /// its first instant on another thread of the client can end it. `life` is which of its lives the
    /// client lives ([`Portals::life`](../../../cairn_interfaces/trait.Portals.html)): those of former ones end. If
    /// the part is full, the oldest ends. `ends` is told of each that ends. [`Error::Exhausted`]: threads of the
    /// client are still inside of those that ended.
    pub fn insert(
        &self,
        client: Caller,
        life: u64,
        state: impl FnOnce(u64) -> T,
        ends: impl Fn(&T),
    ) -> Result<u64, Error> {
        let part = self.parts.get(client.0.index()).ok_or(Error::BadArgument)?;
        let life = life as u32;
        let end = |control| {
            let told = part.objects.with(control, |object| ends(&object.state));
            // Another call of the client may have ended it meanwhile.
            let _ = told.and_then(|()| part.objects.remove(control));
        };
        // Before another thread of the client sees that it is in use.
        if part.opened.load(Relaxed) == 0 {
            part.objects.follow(self.followed.load(Relaxed));
            self.begin_use(client.0.index());
        }
        let (mut count, mut oldest) = (0, None::<(u32, u64)>);
        let age = part.opened.fetch_add(1, Relaxed);
        part.objects.for_each(|control, object| {
            if object.life != life {
                return end(control);
            }
            count += 1;
            let since = age.wrapping_sub(object.age);
            if oldest.is_none_or(|(longest, _)| since > longest) {
                oldest = Some((since, control));
            }
        });
        if let Some((_, control)) = oldest.filter(|_| count >= PART) {
            end(control);
        }
        let in_part = u64::from(client.0) << CLIENT_SHIFT;
        let state = |control| Owned { life, age, state: state(control | in_part) };
        part.objects.insert_with(state).map(|control| control | in_part)
    }

    /// Runs `body` with every object, its control word, and what its part knows of it, for [`ObjectParts::restore`] of a successor (live replacement).
    pub fn try_for_each(
        &self,
        mut body: impl FnMut(u64, u64, &T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut result = Ok(());
        for (client, part) in self.used() {
            part.objects.for_each(|control, object| {
                let known = u64::from(object.age) << 32 | u64::from(object.life);
                let control = control | client << CLIENT_SHIFT;
                result = result.and_then(|()| body(control, known, &object.state));
            });
        }
        result
    }

    /// Puts an object into its client's part as a predecessor had it, before any client calls.
    pub fn restore(&self, control: u64, known: u64, state: T) -> Result<(), Error> {
        let part = &self.parts[((control & CLIENT) >> CLIENT_SHIFT) as usize];
        let (age, life) = ((known >> 32) as u32, known as u32);
        part.opened.fetch_max(age.wrapping_add(1), Relaxed);
        self.begin_use(((control & CLIENT) >> CLIENT_SHIFT) as usize);
        part.objects.restore(control & !CLIENT, Owned { life, age, state })
    }

    /// The highest generation of a place, for [`ObjectParts::follow`].
    pub fn generation(&self) -> u32 {
        let used = self.used().map(|(_, part)| part.objects.generation());
        used.fold(self.followed.load(Relaxed), u32::max)
    }

    /// Gives no control word any more that a predecessor of this generation gave: an object that ended there is not another one here. Behind the last
    /// [`ObjectParts::restore`].
    pub fn follow(&self, generation: u32) {
        self.followed.store(generation, Relaxed);
        self.used().for_each(|(_, part)| part.objects.follow(generation));
    }

    /// The client's objects, and the control word in its part.
    fn part(&self, control: u64) -> (&ObjectTable<Owned<T>, PART>, u64) {
        let client = (control & CLIENT) >> CLIENT_SHIFT;
        (&self.parts[client as usize].objects, control & !CLIENT)
    }

    /// Runs `body` with the object that `control` names; [`Error::NotFound`] if it has ended.
    pub fn with<R>(&self, control: u64, body: impl FnOnce(&T) -> R) -> Result<R, Error> {
        let (objects, control) = self.part(control);
        objects.with(control, |object| body(&object.state))
    }

    /// Closes the object that `control` names: no thread enters it any more, and it is dropped when
    /// the last call inside it has left.
    pub fn remove(&self, control: u64) -> Result<(), Error> {
        let (objects, control) = self.part(control);
        objects.remove(control)
    }
}

impl<T, const PART: usize> Default for ObjectParts<T, PART> {
    fn default() -> Self {
        ObjectParts::new()
    }
}
