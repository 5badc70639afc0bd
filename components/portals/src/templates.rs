//! Portals that were generated before: another one of the same specification is a copy with other
//! literals, which is several times faster than generating it.

use crate::PORTAL_MAXIMUM;
use crate::crossing::{Entry, with_letters};
use cairn_abi::Error;
use cairn_abi::descriptor::LETTERS_SIZE;
use cairn_portal::generate::{self, Links};
use cairn_portal::{
    Crossing, GenerateError, Parameters, SemaphoreOperation, Specification, Stack, State,
};
use zerocopy::{FromBytes, IntoBytes};

/// Templates that are kept. More than a block has methods, so that making the templates of a block
/// loses none of them.
const TEMPLATES: usize = 32;
const _: () = assert!(TEMPLATES > cairn_abi::descriptor::METHODS_MAXIMUM);

/// Places that are remembered; a power of two.
const REMEMBERED: usize = 64;

/// A portal with its return portal.
pub struct Template {
    /// Letters, stack, state, operation: what fixes the code.
    key: u128,
    /// `=`: the index, and `a`: the domain, which are in the code.
    index: Option<u64>,
    domain: Option<u64>,
    counts: bool,
    /// Whether calls are stamped with the time.
    stamps: bool,
    /// Whether calls take an activation.
    pub takes_activation: bool,
    /// Bytes used.
    pub size: usize,
    /// Where its literals are.
    pub links: Links,
    code: [u64; PORTAL_MAXIMUM / 8],
}

impl Template {
    /// Its code.
    pub fn code(&self) -> &[u64] {
        &self.code[..self.size / 8]
    }

    fn fits(&self, key: u128, crossing: &Crossing) -> bool {
        self.key == key
            && self.index.is_none_or(|index| index == crossing.index)
            && self.domain.is_none_or(|domain| domain == crossing.caller.domain)
            && self.counts == (crossing.counter != 0)
            && self.stamps == crossing.stamps()
    }
}

/// The templates.
pub struct Templates {
    slots: [Template; TEMPLATES],
    used: usize,
    /// The one that is overwritten next.
    next: usize,
    /// Where a template was found last, by a hash of what was looked for.
    remembered: [u8; REMEMBERED],
}

fn key(
    specification: &Specification,
    letters: &[u8; LETTERS_SIZE],
    operation: Option<SemaphoreOperation>,
) -> u128 {
    let stack = match specification.stack {
        Stack::Shared => 1,
        Stack::New => 2,
        Stack::RunToCompletion => 3,
    };
    let state = match specification.state {
        State::Minimal => 1,
        State::Partial => 2,
        State::Discarded => 3,
    };
    let operation = match operation {
        None => 0,
        Some(SemaphoreOperation::P) => 1,
        Some(SemaphoreOperation::V) => 2,
    };
    let mut bytes = [0; 16];
    bytes[..LETTERS_SIZE].copy_from_slice(letters);
    bytes[LETTERS_SIZE] = stack;
    bytes[LETTERS_SIZE + 1] = state;
    bytes[LETTERS_SIZE + 2] = operation;
    u128::from_le_bytes(bytes)
}

/// Which of the remembered places is that of a template, for a client.
fn hash(key: u128, client: u64) -> usize {
    let mixed =
        (key as u64 ^ (key >> 64) as u64 ^ client << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % REMEMBERED
}

impl Templates {
    /// None.
    pub const EMPTY: Templates = Templates {
        slots: [const {
            Template {
                key: 0,
                index: None,
                domain: None,
                counts: false,
                stamps: false,
                takes_activation: false,
                size: 0,
                links: Links::NONE,
                code: [0; PORTAL_MAXIMUM / 8],
            }
        }; TEMPLATES],
        used: 0,
        next: 0,
        remembered: [0; REMEMBERED],
    };

    /// A template.
    pub fn get(&self, place: usize) -> &Template {
        &self.slots[place]
    }

    /// Finds or generates the template of a method; of the crossing only the index, the caller and
    /// whether calls are counted or stamped matter here. Letters may come from an untrusted server.
    pub fn find(
        &mut self,
        (specification, types): (&Specification, &Parameters),
        method: &Entry,
        crossing: &Crossing,
    ) -> Result<usize, Error> {
        let key = key(specification, &method.letters, method.operation);
        let remembered = &mut self.remembered[hash(key, crossing.caller.domain)];
        let used = &self.slots[..self.used];
        if used.get(usize::from(*remembered)).is_some_and(|one| one.fits(key, crossing)) {
            return Ok((*remembered).into());
        }
        if let Some(place) = used.iter().position(|template| template.fits(key, crossing)) {
            *remembered = place as u8;
            return Ok(place);
        }
        let specification = with_letters(*specification, &method.letters, types)?;
        let place = self.next;
        let template = &mut self.slots[place];
        // If it fails in the middle, nothing may be found here.
        template.key = 0;
        let words =
            <[u32]>::mut_from_bytes(template.code.as_mut_bytes()).map_err(|_| Error::Unknown)?;
        let made = match method.operation {
            Some(operation) => generate::semaphore(operation, &specification, crossing, words, 0),
            None => generate::pair_with_types(&specification, types, crossing, words, 0),
        };
        let made = made.map_err(|error| match error {
            GenerateError::NoSpace => Error::Exhausted,
            GenerateError::DoesNotFit => Error::NotSupported,
        })?;
        template.links = made.links.ok_or(Error::NotSupported)?;
        template.size = made.size;
        template.takes_activation = specification.takes_activation();
        template.index = method.letters.contains(&b'=').then_some(crossing.index);
        template.domain = method.letters.contains(&b'a').then_some(crossing.caller.domain);
        template.counts = crossing.counter != 0;
        template.stamps = crossing.stamps();
        template.key = key;
        self.used = self.used.max(place + 1);
        self.next = (place + 1) % TEMPLATES;
        Ok(place)
    }
}
