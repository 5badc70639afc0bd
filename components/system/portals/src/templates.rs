//! Code of portals that was generated before: another one of the same specification is a copy with other
//! literals, which is several times faster than generating it.

use crate::HALF_MAXIMUM;
use crate::blocks::Kind;
use crate::crossing::{Entry, with_letters};
use cairn_abi::Error;
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};
use cairn_abi::domain::PORTALS_BITS;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_portal::generate::{self, LITERALS, Links};
use cairn_portal::{
    Crossing, GenerateError, Letter, Parameters, SemaphoreOperation, Specification, State,
};
use zerocopy::{FromBytes, IntoBytes};

/// Templates that are kept.
const TEMPLATES: usize = 32;
// Those of a block's call portals are in use until the block is made, and one of a return portal.
const _: () = assert!(TEMPLATES > METHODS_MAXIMUM);

/// Places that are remembered; a power of two.
const REMEMBERED: usize = 64;

/// Blocks whose templates are remembered; a power of two.
const RECIPES: usize = 16;

/// Bits of a client in a template's key: what the letters, the index and the rest leave of it.
const CLIENT_BITS: u32 = 8;
/// Bits of what [`ends`] says, of whether times are stored, and of one thing more.
const END_BITS: u32 = 7;
const _: () = assert!(
    INSTANCES_MAXIMUM <= 1 << CLIENT_BITS && 6 + PORTALS_BITS + CLIENT_BITS + END_BITS <= 32
);

/// Code of a call portal, or of a return portal.
pub struct Template {
    /// All that the code depends on.
    key: u128,
    /// Of a call portal: whether calls take an activation, and the shape of its return portal.
    pub takes_activation: bool,
    /// See [`Specification::shape`].
    pub shape: u64,
    /// An index or a client is in the code.
    is_bound: bool,
    /// Bytes used.
    pub size: usize,
    /// Of a return portal.
    pub links: Links,
    code: [u64; HALF_MAXIMUM / 8],
}

impl Template {
    /// Its code, behind the literals.
    pub fn code(&self) -> &[u64] {
        self.code.get(LITERALS..self.size / 8).unwrap_or(&[])
    }
}

/// Which half of a pair.
#[derive(Clone, Copy)]
pub enum Half {
    /// The call portal.
    Call,
    /// The return portal of this shape.
    Back(u64),
}

/// Templates that must stay until a block is made.
#[derive(Clone, Copy, Default)]
pub struct InUse(u32);

/// Which templates the methods of a block had, the last time: finding each by its letters takes longer.
#[derive(Clone, Copy)]
pub struct Recipe {
    /// What has these methods: an export's letters never change.
    of: u64,
    /// Templates that were made before; they are still all there if there are no more.
    made: u64,
    places: Places,
}

/// The templates of a block's methods, as words, which are quicker to copy.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub struct Places(pub [u8; METHODS_MAXIMUM]);

impl Places {
    /// None yet.
    pub const NONE: Places = Places([0; METHODS_MAXIMUM]);
}

impl Recipe {
    /// Of nothing that is remembered.
    const NONE: Recipe = Recipe { of: u64::MAX, made: 0, places: Places::NONE };

    /// Of what is opened. All objects of an export, semaphores and locks are made alike for all clients of one kind: those in the
    /// kernel domain have a state of their own, and so have those who use the floating-point unit, or are in the server's page table. What
    /// is registered or measured is not remembered.
    pub fn of(kind: Kind, specification: &Specification, crossing: &Crossing) -> Recipe {
        let ends = (specification.stack as u64) << 2 | specification.state as u64;
        let of = match kind {
            Kind::Registration(_) | Kind::Export(u32::MAX) => return Recipe::NONE,
            Kind::Export(export) | Kind::Object(export, _) => u64::from(export),
            Kind::Semaphore(_) => 1 << 32,
            Kind::Lock(_) => 2 << 32 | 1,
        };
        let of = of << 1 | u64::from(crossing.counter != 0);
        let of = of | u64::from(crossing.is_limited()) << 36;
        // What is opened says who the callee is, but not in which of two places.
        let ends = ends | u64::from(crossing.shares_space()) << 4;
        let caller = ends << 40 | u64::from(crossing.caller.float.0) << 48;
        Recipe { of: caller | of, ..Recipe::NONE }
    }

    /// Where it is remembered.
    fn place(&self) -> usize {
        self.of as usize % RECIPES
    }
}

/// The templates.
pub struct Templates {
    slots: [Template; TEMPLATES],
    /// The one that is overwritten next, unless it is in use.
    next: usize,
    /// Where a template was found last, by a hash of its key.
    remembered: [u8; REMEMBERED],
    recipes: [Recipe; RECIPES],
    /// Templates that were ever made.
    made: u64,
}

/// Whether a byte, not zero, is among the letters.
fn has(letters: u128, byte: u8) -> bool {
    const ONES: u128 = u128::MAX / 0xff;
    let zero_where_it_is = letters ^ (ONES * u128::from(byte));
    zero_where_it_is.wrapping_sub(ONES) & !zero_where_it_is & ONES << 7 != 0
}

/// All that the code of one half depends on, but for what is the same on the whole machine.
fn key(specification: &Specification, method: &Entry, half: Half, crossing: &Crossing) -> u128 {
    let stamps = u32::from(crossing.stamps());
    let of_ends = ends(crossing) << 1 | stamps;
    if let Half::Back(shape) = half {
        return u128::from(shape) << END_BITS | u128::from(of_ends << 1 | 1);
    }
    let mut bytes = [0; 16];
    bytes[..LETTERS_SIZE].copy_from_slice(&method.letters);
    let letters = u128::from_le_bytes(bytes);
    // P and V are portals of who runs to completion, so the four kinds of stack leave room beside them; none is zero, as no template is.
    let kind = match method.operation {
        None => specification.stack as u32 + 1,
        Some(SemaphoreOperation::P) => 5,
        Some(SemaphoreOperation::V) => 6,
    };
    let kind = kind << 1 | u32::from(crossing.is_limited());
    // Who calls on behalf of another has partial state, and nobody's is discarded here.
    let state = if crossing.behalf.is_some() { State::Discarded } else { specification.state };
    let mut code = kind << 2 | state as u32;
    // These two are in instructions.
    code = code << PORTALS_BITS | if has(letters, b'=') { crossing.index as u32 } else { 0 };
    code = code << CLIENT_BITS | if has(letters, b'a') { crossing.client().0.into() } else { 0 };
    code = code << END_BITS | of_ends << 1 | u32::from(crossing.counter != 0);
    letters | u128::from(code) << (LETTERS_SIZE * 8)
}

/// Which ends may use the floating-point unit, and whether both are in one page table.
fn ends(crossing: &Crossing) -> u32 {
    let float = u32::from(crossing.caller.float.0) << 2 | u32::from(crossing.callee.float.0);
    u32::from(crossing.shares_space()) << 4 | float
}

/// Which of the remembered places is that of a template.
fn hash(key: u128) -> usize {
    let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % REMEMBERED
}

impl Templates {
    /// None.
    pub const EMPTY: Templates = Templates {
        slots: [const {
            Template {
                key: 0,
                takes_activation: false,
                shape: 0,
                is_bound: false,
                size: 0,
                links: Links::NONE,
                code: [0; HALF_MAXIMUM / 8],
            }
        }; TEMPLATES],
        next: 0,
        remembered: [0; REMEMBERED],
        recipes: [Recipe::NONE; RECIPES],
        made: 0,
    };

    /// A template.
    pub fn get(&self, place: usize) -> &Template {
        &self.slots[place]
    }

    /// The templates of a block's methods, if that is known.
    pub fn recall(&self, recipe: &Recipe) -> Option<Places> {
        let known = &self.recipes[recipe.place()];
        let same = known.of == recipe.of && known.made == self.made && known.of != Recipe::NONE.of;
        same.then_some(known.places)
    }

    /// Remembers the templates of so many methods, unless they are those of one index or one client, or of a measurement.
    pub fn remember(&mut self, recipe: Recipe, count: usize, places: Places) {
        let is_fixed = |place: &u8| !self.slots[usize::from(*place)].is_bound;
        if recipe.of != Recipe::NONE.of && places.0.iter().take(count).all(is_fixed) {
            self.recipes[recipe.place()] = Recipe { made: self.made, places, ..recipe };
        }
    }

    /// Keeps a template until a block is made; the same place.
    pub fn hold(&self, place: usize, in_use: &mut InUse) -> usize {
        in_use.0 |= 1 << place;
        place
    }

    /// The numbers of exports can be others'.
    pub fn forget_exports(&mut self) {
        self.recipes = [Recipe::NONE; RECIPES];
    }

    /// Finds or generates the template of a method's call or return portal; of the crossing only the index, the
    /// caller and whether calls are counted or stamped matter here. Letters may come from an untrusted server.
    pub fn find(
        &mut self,
        (specification, types): (&Specification, &Parameters),
        (method, half): (&Entry, Half),
        crossing: &Crossing,
        in_use: &mut InUse,
    ) -> Result<usize, Error> {
        let key = key(specification, method, half, crossing);
        let remembered = &mut self.remembered[hash(key)];
        let mut place = usize::from(*remembered);
        if self.slots[place].key != key {
            place = match self.slots.iter().position(|template| template.key == key) {
                Some(place) => place,
                None => {
                    let specification = with_letters(*specification, &method.letters, types)?;
                    let free = |place: &usize| in_use.0 >> (place % TEMPLATES) & 1 == 0;
                    let place = (self.next..self.next + TEMPLATES).find(free);
                    let place = place.ok_or(Error::Exhausted)? % TEMPLATES;
                    self.next = (place + 1) % TEMPLATES;
                    self.made += 1;
                    self.slots[place].generate(
                        (&specification, types),
                        (method, half),
                        crossing,
                    )?;
                    self.slots[place].key = key;
                    place
                }
            };
            *remembered = place as u8;
        }
        Ok(self.hold(place, in_use))
    }
}

impl Template {
    fn generate(
        &mut self,
        (specification, types): (&Specification, &Parameters),
        (method, half): (&Entry, Half),
        crossing: &Crossing,
    ) -> Result<(), Error> {
        // If it fails in the middle, nothing may be found here.
        self.key = 0;
        let words =
            <[u32]>::mut_from_bytes(self.code.as_mut_bytes()).map_err(|_| Error::Unknown)?;
        let made = match half {
            Half::Call => {
                let all = (specification, types);
                generate::call(all, method.operation, crossing, words)
                    .map(|size| (size, Links::NONE))
            }
            Half::Back(_) => generate::back((specification, types), crossing, words),
        };
        (self.size, self.links) = made.map_err(|error| match error {
            GenerateError::NoSpace => Error::Exhausted,
            GenerateError::DoesNotFit => Error::NotSupported,
        })?;
        self.takes_activation = specification.takes_activation();
        self.shape = specification.shape();
        let is_bound = |letter: &Letter| matches!(letter, Letter::Index | Letter::Caller);
        self.is_bound = specification.letters().iter().any(is_bound);
        Ok(())
    }
}
